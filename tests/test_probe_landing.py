"""Landing of probe runs: kept as they came, sealed whole, found again after a kill."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from probe_runs import BATCH, SELF_CHECK, begin, land, transcript

from pipeline.landing import CorruptLandingError
from pipeline.landing.probe_runs import ProbeLanding
from pipeline.landing.probe_writer import SEALED_RECORDS

REPOSITORY = Path(__file__).resolve().parents[1]


def test_a_run_is_read_back_as_it_was_recorded(tmp_path: Path) -> None:
    landed = land(tmp_path, problems=["target x is gone"])
    (found,) = ProbeLanding(tmp_path).runs()
    assert found == landed
    records = list(ProbeLanding(tmp_path).records(found))
    assert records == [SELF_CHECK, transcript("r1"), transcript("r2"), BATCH]


def test_the_manifest_counts_what_came_and_what_it_cost(tmp_path: Path) -> None:
    manifest = land(tmp_path, problems=["target x is gone"]).manifest
    assert (manifest.requests, manifest.ok, manifest.batches) == (2, 2, 1)
    assert manifest.cost_usd == Decimal("0.00004")
    assert manifest.problems == ("target x is gone",)
    assert not manifest.is_interrupted


def test_a_sealed_run_is_read_only_and_lies_under_its_day(tmp_path: Path) -> None:
    landed = land(tmp_path, "20260603T000000Z-0000000a", day=3)
    assert landed.path == tmp_path / "probes" / "2026-06-03" / "20260603T000000Z-0000000a"
    assert (landed.path / SEALED_RECORDS).stat().st_mode & 0o222 == 0


def test_runs_are_found_by_day_oldest_first(tmp_path: Path) -> None:
    for day in (3, 1, 2):
        land(tmp_path, f"2026060{day}T000000Z-00000001", day)
    landing = ProbeLanding(tmp_path)
    assert [run.manifest.partition_date.day for run in landing.runs()] == [1, 2, 3]
    chosen = landing.runs(date(2026, 6, 2), date(2026, 6, 2))
    assert [run.manifest.partition_date.day for run in chosen] == [2]


def test_an_unsealed_run_is_not_seen(tmp_path: Path) -> None:
    with begin(tmp_path) as writer:
        writer.add_transcripts([transcript()])
        assert ProbeLanding(tmp_path).runs() == []


def test_a_changed_file_is_named_and_not_read(tmp_path: Path) -> None:
    landed = land(tmp_path)
    path = landed.path / SEALED_RECORDS
    path.chmod(0o644)
    path.write_bytes(path.read_bytes()[:-4] + b"oops")
    with pytest.raises(CorruptLandingError, match=r"records\.jsonl\.gz is not what was sealed"):
        list(ProbeLanding(tmp_path).records(landed))


def test_a_damaged_manifest_costs_its_own_run_only(tmp_path: Path) -> None:
    land(tmp_path, "20260601T000000Z-00000001")
    bad = land(tmp_path, "20260602T000000Z-00000001", day=2)
    (bad.path / "manifest.json").chmod(0o644)
    (bad.path / "manifest.json").write_text("{")
    damaged: list[CorruptLandingError] = []
    found = ProbeLanding(tmp_path).runs(on_corrupt=damaged.append)
    assert [run.manifest.partition_date.day for run in found] == [1]
    assert [error.path for error in damaged] == [bad.path / "manifest.json"]


def test_a_killed_run_is_recovered_with_its_whole_lines_and_a_live_one_left_alone(
    tmp_path: Path,
) -> None:
    script = (
        "import sys, time; from pathlib import Path; sys.path.insert(0, 'tests')\n"
        "from probe_runs import begin, transcript\n"
        "writer = begin(Path(sys.argv[1]))\n"
        "writer.add_transcripts([transcript('r1'), transcript('r2')])\n"
        'writer._append(b\'{"transcript":{"run_\')\n'
        "print('there', flush=True); time.sleep(60)"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], cwd=REPOSITORY, stdout=subprocess.PIPE
    )
    with child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"there\n"
        assert ProbeLanding(tmp_path).recover() == []
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
    (recovered,) = ProbeLanding(tmp_path).recover()
    assert recovered.manifest.is_interrupted
    assert (recovered.manifest.requests, recovered.manifest.batches) == (2, 0)
    # Sent at 0 s + 1 ms of the transcripts' clock, ended at 60 ms.
    assert recovered.manifest.finished_at_utc == datetime(2026, 6, 1, 0, 0, 0, 60_000, tzinfo=UTC)
    assert list(ProbeLanding(tmp_path).records(recovered)) == [transcript("r1"), transcript("r2")]
    assert ProbeLanding(tmp_path).recover() == []


def test_a_killed_run_without_a_request_leaves_nothing(tmp_path: Path) -> None:
    with begin(tmp_path) as writer:
        writer.add_self_check(SELF_CHECK)
    assert ProbeLanding(tmp_path).recover() == []
    assert not list((tmp_path / "probes").glob("*/*"))


def test_a_run_begun_and_abandoned_leaves_nothing(tmp_path: Path) -> None:
    with begin(tmp_path) as writer:
        writer.abandon()
    assert not list((tmp_path / "probes").glob("*/*"))


def test_the_records_are_lines_that_other_programs_read(tmp_path: Path) -> None:
    with begin(tmp_path) as writer:
        writer.add_transcripts([transcript()])
        writer.add_batch(BATCH)
        writer.add_self_check(SELF_CHECK)
        lines = (next((tmp_path / "probes").glob("*/*/records.jsonl"))).read_text().splitlines()
    assert [list(json.loads(line)) for line in lines] == [["transcript"], ["batch"], ["self_check"]]
