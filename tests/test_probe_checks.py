"""The checks of probe samples, on probes written by hand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime

import dagster as dg
import pytest
from probe_samples import sample
from raw_market import RawMarket

from pipeline.assets.probe_checks import CHECKS, examine

PROBED_AT = "2026-11-30T06:23:00"
NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
EVERY_THREE_HOURS = "23 */3 * * *"


@pytest.fixture
def market() -> Iterator[RawMarket]:
    raw = RawMarket()
    yield raw
    raw.database.close()


def results(
    market: RawMarket, now: datetime = NOON, cron: str | None = None
) -> dict[str, dg.AssetCheckResult]:
    return {result.check_name: result for result in examine(market.database, now, cron)}


def test_a_sound_probe_passes_every_check(market: RawMarket) -> None:
    market.probe_run(PROBED_AT, [sample()])

    found = results(market)

    assert list(found) == list(CHECKS)
    assert all(result.passed for result in found.values())
    assert all(result.severity is dg.AssetCheckSeverity.WARN for result in found.values())


@pytest.mark.parametrize(("cron", "late"), [(None, []), (EVERY_THREE_HOURS, ["probe_freshness"])])
def test_no_probe_at_all_is_late_only_where_a_schedule_is_on(
    market: RawMarket, cron: str | None, late: list[str]
) -> None:
    found = results(market, cron=cron)

    assert [name for name, result in found.items() if not result.passed] == late


@pytest.mark.parametrize(
    ("now", "is_fresh"),
    [
        # Due at 06:23, 09:23 and 12:23: that of 09:23 is missing, that of 12:23 may be under way.
        (datetime(2026, 11, 30, 12, 22, tzinfo=UTC), True),
        (datetime(2026, 11, 30, 12, 24, tzinfo=UTC), False),
    ],
)
def test_a_probe_is_fresh_until_the_second_after_it_is_due(
    market: RawMarket, now: datetime, is_fresh: bool
) -> None:
    market.probe_run(PROBED_AT, [sample()])

    assert results(market, now, EVERY_THREE_HOURS)["probe_freshness"].passed is is_fresh
    assert results(market, now)["probe_freshness"].passed


@pytest.mark.parametrize(("error_ms", "is_trusted"), [(1.0, True), (1.01, False)])
def test_an_instrument_is_trusted_up_to_an_error_of_a_millisecond_at_any_concurrency(
    market: RawMarket, error_ms: float, is_trusted: bool
) -> None:
    market.probe_run(PROBED_AT, [sample()], self_checks={1: 0.2, 16: error_ms})

    found = results(market)["instrument_trusted"]

    assert found.passed is is_trusted
    assert found.metadata["ttft_error_p99_ms"].value == error_ms
    assert "16 streams" in found.description


def test_an_instrument_that_was_not_checked_is_not_trusted(market: RawMarket) -> None:
    market.probe_run(PROBED_AT, [sample()])
    market.database.execute("delete from raw.probe_self_checks")

    assert not results(market)["instrument_trusted"].passed


def test_what_was_not_measured_is_listed(market: RawMarket) -> None:
    problems = ["target a: its endpoint is gone", "target b: GROQ_API_KEY is not set"]
    market.probe_run(PROBED_AT, [sample()])
    market.database.execute(
        "update raw.probe_runs set problems_json = $problems", {"problems": json.dumps(problems)}
    )

    found = results(market)["targets_present"]

    assert not found.passed
    shown = found.metadata["cases"].records
    assert [record.data["problem"] for record in shown] == problems


def test_samples_of_the_newest_probe_that_were_kept_out_are_listed(market: RawMarket) -> None:
    for at in ("2026-11-29T06:23:00", PROBED_AT):
        run_id = market.probe_run(at, [sample()])
        market.insert(
            "raw.quarantine",
            [
                {
                    "sweep_id": run_id,
                    "partition_date": NOON.date(),
                    "observed_at_utc": NOON,
                    "table_name": "probe_requests",
                    "model_id": "openai/gpt-oss-20b",
                    "row_key": f"{run_id} r1",
                    "rule": "tokens_are_counted",
                    "reason": "completion tokens below 0",
                    "record_json": "{}",
                }
            ],
        )

    found = results(market)["probe_quarantine"]

    assert not found.passed
    assert found.metadata["records"].value == 1
    assert found.metadata["cases"].records[0].data["row_key"] == f"{run_id} r1"
