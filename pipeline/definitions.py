"""Everything that Dagster runs, on one page: assets, checks, job, schedule, resources.

landed_sweep -> market (+ checks) -> one asset per SQL model -> published_snapshot
"""

from __future__ import annotations

import dagster as dg

from pipeline.assets.landed_sweep import landed_sweep
from pipeline.assets.market import market
from pipeline.assets.market_checks import market_checks
from pipeline.assets.published_snapshot import published_snapshot_asset
from pipeline.assets.schedule import daily_schedule
from pipeline.assets.sql_assets import sql_assets
from pipeline.settings import Settings, current_settings
from pipeline.sql_models import load_sql_models
from pipeline.steps import Clock, utc_now

DAILY_JOB = "daily"


def build_definitions(settings: Settings, clock: Clock = utc_now) -> dg.Definitions:
    """Return all definitions for one installation; ``clock`` says which day is today."""
    models = load_sql_models()
    daily = dg.define_asset_job(
        DAILY_JOB,
        selection=dg.AssetSelection.all(),
        description="One day, from the source to the published snapshot.",
    )
    return dg.Definitions(
        assets=[landed_sweep, market, *sql_assets(models), published_snapshot_asset(models)],
        asset_checks=[market_checks],
        jobs=[daily],
        schedules=[daily_schedule(DAILY_JOB, settings, clock)],
        resources={"settings": settings, "clock": clock},
        # One file has one writer: a process per step would only add its imports.
        executor=dg.in_process_executor,
    )


@dg.definitions
def defs() -> dg.Definitions:
    """Return what ``dagster dev`` shows, by the settings of the environment."""
    return build_definitions(current_settings())
