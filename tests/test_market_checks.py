"""The checks of the market asset, on sweeps written by hand."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import dagster as dg
import pytest
from raw_market import RawMarket, endpoint

from pipeline.assets.market_checks import examine

SWEPT_AT = "2026-11-30T06:17:00"
NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
WARN, ERROR = dg.AssetCheckSeverity.WARN, dg.AssetCheckSeverity.ERROR


@pytest.fixture
def market() -> Iterator[RawMarket]:
    raw = RawMarket()
    yield raw
    raw.database.close()


def check(market: RawMarket, name: str, now: datetime = NOON) -> dg.AssetCheckResult:
    return next(result for result in examine(market.database, now) if result.check_name == name)


def cases(result: dg.AssetCheckResult) -> list[dict[str, object]]:
    return [record.data for record in result.metadata["cases"].records]


def test_a_sound_sweep_passes_every_check(market: RawMarket) -> None:
    market.sweep(SWEPT_AT, {"acme/one": [endpoint()]})

    assert [result.passed for result in examine(market.database, NOON)] == [True] * 4


def test_a_warehouse_without_a_sweep_fails_every_check_and_says_what_to_run(
    market: RawMarket,
) -> None:
    results = examine(market.database, NOON)

    assert [(result.passed, result.severity) for result in results] == [(False, ERROR)] * 4
    assert "tokentape sync" in results[0].description


@pytest.mark.parametrize(
    ("now", "is_fresh"),
    [
        (datetime(2026, 12, 1, 8, 17, tzinfo=UTC), True),  # 26 hours
        (datetime(2026, 12, 1, 8, 18, tzinfo=UTC), False),
    ],
)
def test_a_sweep_is_fresh_for_26_hours(market: RawMarket, now: datetime, is_fresh: bool) -> None:
    market.sweep(SWEPT_AT, {"acme/one": [endpoint()]})

    result = check(market, "freshness", now)

    assert (result.passed, result.severity) == (is_fresh, WARN)


@pytest.mark.parametrize(
    ("failing", "passed", "severity", "coverage_pct"),
    [(0, True, WARN, 100.0), (1, False, WARN, 90.0), (2, False, ERROR, 80.0)],
)
def test_coverage_warns_below_all_and_is_an_error_below_ninety_percent(
    market: RawMarket,
    failing: int,
    passed: bool,
    severity: dg.AssetCheckSeverity,
    coverage_pct: float,
) -> None:
    listing = {f"acme/{number}": [endpoint()] for number in range(10)}
    market.sweep(SWEPT_AT, listing | {f"acme/{number}": None for number in range(failing)})

    result = check(market, "coverage")

    assert (result.passed, result.severity) == (passed, severity)
    assert result.metadata["coverage_pct"].value == coverage_pct


def test_coverage_names_the_models_that_failed_and_why(market: RawMarket) -> None:
    market.sweep(SWEPT_AT, {"acme/one": [endpoint()], "acme/two": None})

    assert cases(check(market, "coverage")) == [{"model_id": "acme/two", "reason": "HTTP 503"}]


def test_a_sweep_without_a_model_list_covers_nothing(market: RawMarket) -> None:
    market.sweep(SWEPT_AT, {}, status="failed")

    result = check(market, "coverage")

    assert (result.passed, result.severity) == (False, ERROR)


def test_quarantined_records_are_shown_with_their_reasons(market: RawMarket) -> None:
    market.sweep(SWEPT_AT, {"acme/one": [endpoint()]}, quarantined=["acme/two"])

    result = check(market, "quarantine")

    assert (result.passed, result.severity) == (False, WARN)
    assert [case["reason"] for case in cases(result)] == ["the input price is negative"]


def test_surprising_records_are_shown_as_a_warning(market: RawMarket) -> None:
    sweep_id = market.sweep(SWEPT_AT, {"acme/one": [endpoint()]})
    market.insert(
        "raw.flags",
        [
            {
                "sweep_id": sweep_id,
                "partition_date": NOON.date(),
                "observed_at_utc": NOON,
                "table_name": "endpoints",
                "row_key": "acme/one Acme acme",
                "rule": "cache_read_above_input",
                "detail": "2 above 1",
            }
        ],
    )

    result = check(market, "soft_rules")

    assert (result.passed, result.severity) == (False, WARN)
    assert cases(result)[0]["rule"] == "cache_read_above_input"


def test_only_the_newest_sweep_is_looked_at(market: RawMarket) -> None:
    market.sweep("2026-11-29T06:17:00", {"acme/one": None}, quarantined=["acme/two"])
    market.sweep(SWEPT_AT, {"acme/one": [endpoint()]})

    assert all(result.passed for result in examine(market.database, NOON))
