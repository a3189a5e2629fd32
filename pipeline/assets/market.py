"""The asset in the middle: landed answers, held against the contracts, in the warehouse."""

import dagster as dg

from pipeline import steps
from pipeline.assets.days import DAYS, ONE_RUN, days_of
from pipeline.assets.failing import log_one_line
from pipeline.assets.landed_sweep import landed_sweep
from pipeline.assets.loading import loaded
from pipeline.settings import Settings


@dg.asset(
    partitions_def=DAYS,
    backfill_policy=ONE_RUN,
    deps=[landed_sweep],
    group_name="warehouse",
    kinds={"python", "duckdb", "pandera"},
    hooks={log_one_line},
)
def market(
    context: dg.AssetExecutionContext, settings: dg.ResourceParam[Settings]
) -> dg.MaterializeResult[None]:
    """Models, endpoints and providers of every landed sweep of the day, as observed.

    Each record is held against the contracts first: one that breaks a hard rule goes to
    quarantine with its reason, one that is only surprising is loaded and flagged. A sweep
    becomes visible whole; loading it again changes nothing.
    """
    return loaded(
        context,
        settings,
        lambda: steps.load_landed(settings, *days_of(context)),
        lambda report: {
            "sweeps_loaded": len(report.loaded),
            "sweeps_in_already": report.known,
            "dagster/partition_row_count": report.rows,
            "quarantined": report.quarantined,
            "flagged": report.flagged,
        },
    )
