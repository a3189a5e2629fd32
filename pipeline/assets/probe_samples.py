"""The asset of samples: landed probes, read and held against the contract, in the warehouse."""

import dagster as dg

from pipeline import probe_steps
from pipeline.assets.days import DAYS, ONE_RUN, days_of
from pipeline.assets.failing import log_one_line
from pipeline.assets.loading import loaded
from pipeline.assets.probe_results import probe_results
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
    return loaded(
        context,
        settings,
        lambda: probe_steps.load_landed_probes(settings, *days_of(context)),
        lambda report: {
            "runs_loaded": len(report.loaded),
            "runs_in_already": report.known,
            "dagster/partition_row_count": report.rows,
            "samples_quarantined": report.quarantined,
        },
    )
