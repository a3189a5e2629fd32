"""The asset at the start: raw answers of the market, one folder a sweep."""

import time
from datetime import date, timedelta

import dagster as dg

from pipeline import steps
from pipeline.assets.days import DAYS, ONE_RUN, days_of
from pipeline.assets.failing import failing_clearly, log_one_line
from pipeline.errors import one_line
from pipeline.landing import LandedSweep
from pipeline.measuring import MachineBusyError, while_not_measuring
from pipeline.progress import Progress
from pipeline.settings import Settings
from pipeline.sources.http import SourceUnreachable

SHOWN_FAILURES = 50
MOST_RETRIES = 2
FIRST_RETRY_AFTER_S = 60
# Dagster's tag of a run that a schedule has launched.
SCHEDULED = "dagster/schedule_name"
# The tag of a run that must not ask the source, not even for today.
FROM_LANDING = "tokentape/from_landing"


@dg.asset(
    partitions_def=DAYS,
    backfill_policy=ONE_RUN,
    group_name="sources",
    kinds={"python"},
    hooks={log_one_line},
)
def landed_sweep(
    context: dg.AssetExecutionContext,
    settings: dg.ResourceParam[Settings],
    clock: dg.ResourceParam[steps.Clock],
) -> dg.MaterializeResult[None]:
    """One pass over the market, every answer kept byte for byte.

    Today is pulled. A past day is filled only from what landing holds of it, and fails when
    that is nothing: the source knows the present only. A range never pulls; days of it that
    landing does not hold are named in `missing_days`.
    """
    first, last = days_of(context)
    today = clock().date()
    with failing_clearly():
        if first == last == today and FROM_LANDING not in context.run.tags:
            return _pull(context, settings, clock)
        return _find(context, settings, first, last)


def _pull(
    context: dg.AssetExecutionContext, settings: Settings, clock: steps.Clock
) -> dg.MaterializeResult[None]:
    started = time.perf_counter()
    try:
        with while_not_measuring(settings):
            landed = steps.land(settings, clock, Progress("sweep"))
    except (SourceUnreachable, MachineBusyError) as error:
        # Tomorrow these prices cannot be had. Not a retry policy: Dagster would follow it on Ctrl-C
        # as well, and sweep again. Only for the schedule: a person who waits is told at once.
        is_scheduled = SCHEDULED in context.run.tags
        if is_scheduled and context.retry_number < MOST_RETRIES:
            wait_s = FIRST_RETRY_AFTER_S * 2**context.retry_number
            context.log.warning(f"{one_line(error)}; next try in {wait_s} s")
            raise dg.RetryRequested(MOST_RETRIES, seconds_to_wait=wait_s) from error
        raise
    manifest = landed.manifest
    return dg.MaterializeResult(
        metadata={
            "sweep_id": manifest.sweep_id,
            "answers": manifest.answers,
            "answers_mib": round(manifest.answers_bytes / 2**20, 2),
            "seconds": round(time.perf_counter() - started, 1),
            "folder": dg.MetadataValue.path(str(landed.path)),
            "failed_requests": _failures(landed),
            "problems": _problems(landed),
        }
    )


def _find(
    context: dg.AssetExecutionContext, settings: Settings, first: date, last: date
) -> dg.MaterializeResult[None]:
    days = [first + timedelta(days=offset) for offset in range((last - first).days + 1)]
    found = steps.landed_days(settings, first, last)
    missing = [day.isoformat() for day in days if day not in found]
    if len(days) > 1:
        for day in days:
            context.add_asset_metadata({"sweeps": found.get(day, 0)}, partition_key=day.isoformat())
    return dg.MaterializeResult(
        metadata={
            "days_found": len(found),
            "sweeps_found": sum(found.values()),
            "missing_days": missing,
            "problems": [],
        }
    )


def _failures(landed: LandedSweep) -> dg.TableMetadataValue:
    return dg.MetadataValue.table(
        [
            dg.TableRecord({"request": failure.request, "reason": failure.reason})
            for failure in landed.manifest.failures[:SHOWN_FAILURES]
        ],
        dg.TableSchema([dg.TableColumn("request", "string"), dg.TableColumn("reason", "string")]),
    )


def _problems(landed: LandedSweep) -> list[str]:
    failures = landed.manifest.failures
    if not failures:
        return []
    return [
        f"sweep {landed.manifest.sweep_id} is partial: {len(failures)} requests failed, "
        f"the first for {failures[0].request}: {failures[0].reason}"
    ]
