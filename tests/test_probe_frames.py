"""Landed probe runs as rows of the raw tables, and in the warehouse."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from probe_runs import BATCH, MS, land, transcript

from pipeline import raw_tables
from pipeline.contracts.probe_requests import PROBE_REQUESTS
from pipeline.landing.probe_records import LandedProbeRun
from pipeline.landing.probe_runs import ProbeLanding
from pipeline.probe_frames import ProbeRunFrames, read_probe_run
from pipeline.probes.transcript import Ask, Transcript
from pipeline.raw_tables import frame_of
from pipeline.settings import Settings
from pipeline.warehouse import SCHEMA_VERSION, WarehouseError, open_warehouse


def frames_of(root: Path, landed: LandedProbeRun) -> ProbeRunFrames:
    return read_probe_run(landed.manifest, ProbeLanding(root).records(landed))


def test_a_request_becomes_a_row_with_its_exact_times_and_cost(tmp_path: Path) -> None:
    row = frames_of(tmp_path, land(tmp_path)).requests.row(0, named=True)
    assert row["run_id"] == "20260601T000000Z-00000001"
    assert row["sent_ns"] == 1 * MS
    assert row["first_token_ns"] == 20 * MS
    assert row["chunk_ns"] == [20 * MS, 30 * MS, 40 * MS]
    assert row["chunk_bytes"] == [3, 4, 6]
    assert row["cost_usd"] == Decimal("0.00002")
    assert row["outcome"] == "ok"


def test_a_batch_has_the_steady_window_of_its_requests(tmp_path: Path) -> None:
    # Two streams, each with one request from 0 to 60 ms: both have a token at 20 ms, and the first
    # to end has its last token at 40 ms. In between come two of the three tokens of each.
    requests = [replace(transcript(name), ask=_of_two_streams(name)) for name in ("r1", "r2")]
    row = frames_of(tmp_path, land(tmp_path, transcripts=requests)).batches.row(0, named=True)
    assert row["window_tokens"] == pytest.approx(4.0)
    assert row["window_s"] == pytest.approx(0.020)


def test_a_request_that_was_never_sent_is_a_row_without_times(tmp_path: Path) -> None:
    left_out = Transcript("run", transcript().ask, None, "cancelled_budget", "no room")
    row = frames_of(tmp_path, land(tmp_path, transcripts=[left_out])).requests.row(0, named=True)
    assert (row["outcome"], row["reason"], row["sent_ns"]) == ("cancelled_budget", "no room", None)


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"first_token_ns": 0}, "times_out_of_order"),
        ({"end_ns": 30 * MS}, "times_out_of_order"),
        ({"connect_ms": -1.0}, "duration_negative"),
        ({"outcome": "fine"}, "outcome_unknown"),
        ({"first_token_ns": None}, "ok_without_token"),
        ({"cost_usd": Decimal("-0.1")}, "cost_negative"),
        ({"completion_tokens": 2_000_000_000}, "tokens_out_of_range"),
    ],
)
def test_a_row_that_cannot_be_true_is_refused_by_name(
    tmp_path: Path, changes: dict[str, object], rule: str
) -> None:
    rows = frames_of(tmp_path, land(tmp_path)).requests.to_dicts()
    rows[1] |= changes
    verdict = PROBE_REQUESTS.enforce(frame_of(rows, raw_tables.PROBE_REQUESTS))
    assert [(found.position, found.rule) for found in verdict.refused] == [(1, rule)]
    assert verdict.accepted["request_id"].to_list() == ["r1"]


def test_a_refused_request_goes_to_quarantine_and_takes_no_other_along(tmp_path: Path) -> None:
    frames = frames_of(tmp_path, land(tmp_path, transcripts=[transcript(), _answered_backwards()]))
    assert frames.requests["request_id"].to_list() == ["r1"]
    refused = frames.quarantine.row(0, named=True)
    assert refused["table_name"] == "probe_requests"
    assert refused["row_key"] == "r2"
    assert refused["rule"] == "times_out_of_order"
    assert json.loads(refused["record_json"])["request_id"] == "r2"


def test_loading_a_run_twice_changes_nothing(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)
    frames = frames_of(tmp_path, land(tmp_path))
    with open_warehouse(settings) as warehouse:
        assert warehouse.load_probe_run(frames)
        once = warehouse.checksum()
        assert not warehouse.load_probe_run(frames)
        assert warehouse.checksum() == once
        counts = {
            table: warehouse.database.value(f"select count(*) from raw.{table}")
            for table in frames.tables()
        }
    assert counts == {
        "probe_runs": 1,
        "probe_batches": 1,
        "probe_requests": 2,
        "probe_self_checks": 1,
        "quarantine": 0,
    }


def test_a_probe_of_another_market_is_refused(tmp_path: Path) -> None:
    landed = land(tmp_path)
    demo = replace(landed, manifest=landed.manifest.model_copy(update={"market": "demo"}))
    other = replace(
        demo, manifest=demo.manifest.model_copy(update={"market": "live", "run_id": "other"})
    )
    with open_warehouse(Settings(data_dir=tmp_path)) as warehouse:
        warehouse.load_probe_run(frames_of(tmp_path, demo))
        with pytest.raises(WarehouseError, match="live market, but this warehouse holds the demo"):
            warehouse.load_probe_run(frames_of(tmp_path, other))


def test_a_warehouse_of_the_time_before_the_probes_gets_their_tables(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path)
    with open_warehouse(settings) as warehouse:
        for table in ("probe_runs", "probe_batches", "probe_requests", "probe_self_checks"):
            warehouse.database.execute(f"drop table raw.{table}")
        warehouse.database.execute("update meta.schema_version set version = 1")
    with open_warehouse(settings) as warehouse:
        assert warehouse.load_probe_run(frames_of(tmp_path, land(tmp_path)))
        assert warehouse.database.rows("select version from meta.schema_version") == [
            (SCHEMA_VERSION,)
        ]


def _of_two_streams(request_id: str) -> Ask:
    return replace(transcript(request_id).ask, concurrency=2, batch=BATCH.batch)


def _answered_backwards() -> Transcript:
    """Return an answer whose head came before the request was sent."""
    made = transcript("r2")
    assert made.exchange is not None
    return replace(made, exchange=replace(made.exchange, first_byte_ns=0))
