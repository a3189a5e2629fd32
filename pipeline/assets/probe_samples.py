"""The asset of samples: landed probes, read and held against the contract, in the warehouse."""

import time

import dagster as dg

from pipeline import probe_steps
from pipeline.assets.days import DAYS, ONE_RUN, days_of
from pipeline.assets.failing import failing_clearly, log_one_line
from pipeline.assets.probe_results import probe_results
from pipeline.measuring import while_not_measuring
from pipeline.settings import Settings


@dg.asset(
    partitions_def=DAYS,
    backfill_policy=ONE_RUN,
    deps=[probe_results],
    group_name="warehouse",
    kinds={"python", "duckdb", "pandera"},
    hooks={log_one_line},
)
def probe_samples(
    context: dg.AssetExecutionContext, settings: dg.ResourceParam[Settings]
) -> dg.MaterializeResult[None]:
    """Requests, batches and self-checks of every landed probe of the day.

    Samples are read from the raw answers, so a better reading only needs a new load. A run becomes
    visible whole; loading it again changes nothing. A day without a probe is fine.
    """
    first, last = days_of(context)
    started = time.perf_counter()
    with failing_clearly(), while_not_measuring(settings):
        report = probe_steps.load_landed_probes(settings, first, last)
    for problem in report.problems:
        context.log.warning(problem)
    return dg.MaterializeResult(
        metadata={
            "runs_loaded": len(report.loaded),
            "runs_in_already": report.known,
            "dagster/partition_row_count": report.requests,
            "samples_quarantined": report.quarantined,
            "seconds": round(time.perf_counter() - started, 1),
            "problems": list(report.problems),
        }
    )
