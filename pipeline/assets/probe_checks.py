"""What is worth knowing about the newest probe in the warehouse, as checks of its samples."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from functools import partial
from itertools import islice
from typing import Any

import dagster as dg
from dagster._utils.schedules import reverse_cron_string_iterator

from pipeline.assets.check_results import WARN, check_result
from pipeline.assets.failing import failing_clearly
from pipeline.assets.probe_samples import probe_samples
from pipeline.assets.probe_schedule import probe_cron
from pipeline.duck import Database
from pipeline.settings import Settings
from pipeline.steps import Clock
from pipeline.warehouse import open_warehouse

# Below it an error is fine beside any TTFT; above, it depends on what was measured.
HIGHEST_ERROR_MS = 1.0
CHECKS = {
    "probe_freshness": "Of the last two probes that were due, one is in.",
    "instrument_trusted": "The newest probe checked its instrument: TTFT right within 1 ms at p99.",
    "targets_present": "The newest probe measured all that it was asked to.",
    "probe_quarantine": "No sample of the newest probe broke a rule of the contract.",
}

_result = partial(check_result, asset_key=probe_samples.key)


@dg.multi_asset_check(
    name="probe_checks",
    specs=[
        dg.AssetCheckSpec(name, asset=probe_samples, description=description)
        for name, description in CHECKS.items()
    ],
)
def probe_checks(
    settings: dg.ResourceParam[Settings], clock: dg.ResourceParam[Clock]
) -> Iterator[dg.AssetCheckResult]:
    """Look at the newest probe only: older ones had their turn."""
    # Without a file of one's own the schedule is off, and nothing is due.
    cron = probe_cron(settings) if settings.probes_file is not None else None
    with failing_clearly(), open_warehouse(settings) as warehouse:
        results = examine(warehouse.database, clock(), cron)
    yield from results


def examine(database: Database, now: datetime, cron: str | None) -> list[dg.AssetCheckResult]:
    """Return the result of every check for the newest probe in ``database`` at ``now``.

    ``cron`` says when probes are due, UTC; None when nobody waits for one.
    """
    newest = database.records(
        "select * from raw.probe_runs order by started_at_utc desc, run_id desc limit 1"
    )
    if not newest:
        advice = "no probe is in yet; run `tokentape probe --land`"
        return [
            _result(name, name != "probe_freshness" or cron is None, WARN, advice)
            for name in CHECKS
        ]
    run = newest[0]
    return [
        _freshness(run, now, cron),
        _instrument(database, run),
        _targets(run),
        _quarantine(database, run),
    ]


def _freshness(run: dict[str, Any], now: datetime, cron: str | None) -> dg.AssetCheckResult:
    started = run["started_at_utc"]
    hours = round((now - started).total_seconds() / 3600, 1)
    is_fresh = True
    if cron is not None:
        # The newest of them may be under way.
        *_, due = islice(reverse_cron_string_iterator(now.timestamp(), cron, "UTC"), 2)
        is_fresh = started >= due
    said = f"the newest probe, {run['run_id']}, is {hours} hours old"
    return _result("probe_freshness", is_fresh, WARN, said, age_hours=hours)


def _instrument(database: Database, run: dict[str, Any]) -> dg.AssetCheckResult:
    checks = database.records(
        "select concurrency, is_tls, ttft_error_p99_ms, gap_error_p99_ms, stamp_source "
        "from raw.probe_self_checks where run_id = $run_id order by ttft_error_p99_ms desc",
        {"run_id": run["run_id"]},
    )
    if not checks:
        return _result("instrument_trusted", False, WARN, "the newest probe has no self-check")
    worst_ms = checks[0]["ttft_error_p99_ms"]
    return _result(
        "instrument_trusted",
        worst_ms <= HIGHEST_ERROR_MS,
        WARN,
        f"TTFT error at p99 {worst_ms:.2f} ms at {checks[0]['concurrency']} streams",
        checks,
        ttft_error_p99_ms=worst_ms,
    )


def _targets(run: dict[str, Any]) -> dg.AssetCheckResult:
    cases = [{"problem": problem} for problem in json.loads(run["problems_json"])]
    said = cases[0]["problem"] if cases else "all was measured"
    return _result("targets_present", not cases, WARN, said, cases, problems=len(cases))


def _quarantine(database: Database, run: dict[str, Any]) -> dg.AssetCheckResult:
    cases = database.records(
        "select row_key, rule, reason from raw.quarantine "
        "where sweep_id = $run_id and table_name = 'probe_requests' order by all",
        {"run_id": run["run_id"]},
    )
    said = f"{len(cases)} samples kept out"
    return _result("probe_quarantine", not cases, WARN, said, cases, records=len(cases))
