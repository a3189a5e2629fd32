"""The asset of our own measurements: raw transcripts of probes, one folder a run."""

import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import date

import dagster as dg

from pipeline import probe_steps
from pipeline.assets.days import DAYS, ONE_RUN, days_of
from pipeline.assets.failing import failing_clearly, log_one_line
from pipeline.assets.landed_sweep import FROM_LANDING, SCHEDULED
from pipeline.landing.probe_records import LandedProbeRun
from pipeline.live_runs import alive
from pipeline.measuring import measuring
from pipeline.progress import Progress
from pipeline.settings import Settings
from pipeline.steps import Clock

# One slot, see dagster.yaml: two probes at once would measure each other.
POOL = "probes"


@dg.asset(
    partitions_def=DAYS,
    backfill_policy=ONE_RUN,
    pool=POOL,
    group_name="sources",
    kinds={"python"},
    hooks={log_one_line},
)
def probe_results(
    context: dg.AssetExecutionContext,
    settings: dg.ResourceParam[Settings],
    clock: dg.ResourceParam[Clock],
) -> dg.MaterializeResult[None]:
    """One probe of the configured targets, every answer kept as it came, with its times.

    Today is measured, within the budget. A past day cannot be: it is what landing holds of it,
    and fails when that is nothing.
    """
    first, last = days_of(context)
    with failing_clearly():
        if first == last == clock().date() and FROM_LANDING not in context.run.tags:
            return _measure(context, settings, clock)
        return _find(settings, first, last)


def _measure(
    context: dg.AssetExecutionContext, settings: Settings, clock: Clock
) -> dg.MaterializeResult[None]:
    # Said here as well as by our own commands: the daemon's runs come past none of them.
    with alive(context.instance, context.run.run_id):
        if SCHEDULED in context.run.tags:
            _wait_by_chance(context, settings)
        with measuring(settings):
            started = time.perf_counter()
            landed = probe_until_stopped(settings, clock)
    manifest = landed.manifest
    for problem in manifest.problems:
        context.log.warning(problem)
    return dg.MaterializeResult(
        metadata={
            "run_id": manifest.run_id,
            "requests": manifest.requests,
            "ok": manifest.ok,
            "cost_usd": None if manifest.cost_usd is None else float(manifest.cost_usd),
            "seconds": round(time.perf_counter() - started, 1),
            "folder": dg.MetadataValue.path(str(landed.path)),
            "problems": list(manifest.problems),
        }
    )


def probe_until_stopped(settings: Settings, clock: Clock) -> LandedProbeRun:
    """Probe, and land what has come when the run is stopped: it was paid for."""
    stop = threading.Event()
    # Dagster stops a run by an exception in the main thread, wherever that is.
    with ThreadPoolExecutor(1, "probe") as beside:
        landed = beside.submit(probe_steps.probe, settings, clock, Progress("probe"), stop=stop)
        try:
            return landed.result()
        finally:
            stop.set()


def _wait_by_chance(context: dg.AssetExecutionContext, settings: Settings) -> None:
    """Wait as long as the configuration says, so that no run meets the same minute of the hour."""
    wait_s = random.uniform(0, probe_steps.probe_config(settings).start_jitter_s)  # noqa: S311
    context.log.info(f"begins in {wait_s:.0f} s")
    time.sleep(wait_s)


def _find(settings: Settings, first: date, last: date) -> dg.MaterializeResult[None]:
    found = probe_steps.landed_probe_days(settings, first, last)
    return dg.MaterializeResult(
        metadata={"days_found": len(found), "runs_found": sum(found.values()), "problems": []}
    )
