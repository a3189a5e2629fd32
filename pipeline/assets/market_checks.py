"""What is worth knowing about the newest sweep in the warehouse, as checks of the market asset."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import dagster as dg

from pipeline.assets.check_results import ERROR, WARN, check_result
from pipeline.assets.failing import failing_clearly
from pipeline.assets.market import market
from pipeline.duck import Database
from pipeline.settings import Settings
from pipeline.steps import Clock
from pipeline.warehouse import open_warehouse

# A daily sweep may come two hours late before anyone needs to look.
OLDEST_SWEEP = timedelta(hours=26)
LOWEST_COVERAGE_PCT = 90.0

_result = partial(check_result, asset_key=market.key)


@dg.multi_asset_check(
    name="market_checks",
    specs=[
        dg.AssetCheckSpec(
            "freshness", asset=market, description="The newest sweep is at most 26 hours old."
        ),
        dg.AssetCheckSpec(
            "coverage",
            asset=market,
            description="Every model asked for answered; below 90 % is an error.",
        ),
        dg.AssetCheckSpec(
            "quarantine",
            asset=market,
            description="No record of the newest sweep broke a hard rule of the contracts.",
        ),
        dg.AssetCheckSpec(
            "soft_rules",
            asset=market,
            description="No record of the newest sweep is surprising (loaded all the same).",
        ),
    ],
)
def market_checks(
    settings: dg.ResourceParam[Settings], clock: dg.ResourceParam[Clock]
) -> Iterator[dg.AssetCheckResult]:
    """Look at the newest sweep only: older ones had their turn."""
    with failing_clearly(), open_warehouse(settings) as warehouse:
        results = examine(warehouse.database, clock())
    yield from results


def examine(database: Database, now: datetime) -> list[dg.AssetCheckResult]:
    """Return the result of every check for the newest sweep in ``database`` at ``now``."""
    newest = database.records(
        "select * from raw.sweeps order by started_at_utc desc, sweep_id desc limit 1"
    )
    if not newest:
        advice = "no sweep is in yet; run `tokentape sync`"
        names = ("freshness", "coverage", "quarantine", "soft_rules")
        return [_result(name, False, ERROR, advice) for name in names]
    sweep = newest[0]
    return [
        _freshness(sweep, now),
        _coverage(database, sweep),
        _quarantine(database, sweep),
        _soft_rules(database, sweep),
    ]


def _freshness(sweep: dict[str, Any], now: datetime) -> dg.AssetCheckResult:
    age = now - sweep["started_at_utc"]
    hours = round(age.total_seconds() / 3600, 1)
    return _result(
        "freshness",
        age <= OLDEST_SWEEP,
        WARN,
        f"the newest sweep, {sweep['sweep_id']}, is {hours} hours old",
        age_hours=hours,
    )


def _coverage(database: Database, sweep: dict[str, Any]) -> dg.AssetCheckResult:
    expected, answered = sweep["models_expected"], sweep["models_answered"]
    # Without a list of models there is nothing to expect, and nothing was had.
    covered_pct = 100.0 * answered / expected if expected else 0.0
    missing = database.records(
        "select model_id, reason from raw.model_coverage "
        "where sweep_id = $sweep_id and outcome = 'failed' order by model_id",
        {"sweep_id": sweep["sweep_id"]},
    )
    return _result(
        "coverage",
        covered_pct >= 100.0,
        WARN if covered_pct >= LOWEST_COVERAGE_PCT else ERROR,
        f"{answered} of {expected} models answered",
        missing,
        coverage_pct=round(covered_pct, 2),
    )


def _quarantine(database: Database, sweep: dict[str, Any]) -> dg.AssetCheckResult:
    cases = database.records(
        "select table_name, row_key, rule, reason from raw.quarantine "
        "where sweep_id = $sweep_id order by all",
        {"sweep_id": sweep["sweep_id"]},
    )
    return _result(
        "quarantine", not cases, WARN, f"{len(cases)} records kept out", cases, records=len(cases)
    )


def _soft_rules(database: Database, sweep: dict[str, Any]) -> dg.AssetCheckResult:
    cases = database.records(
        "select rule, table_name, row_key, detail from raw.flags "
        "where sweep_id = $sweep_id order by all",
        {"sweep_id": sweep["sweep_id"]},
    )
    return _result(
        "soft_rules", not cases, WARN, f"{len(cases)} surprising records", cases, records=len(cases)
    )
