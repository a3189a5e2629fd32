"""Everything that Dagster runs, on one page: assets, checks, jobs, schedules, resources.

landed_sweep       -> market (+ checks)        -> one asset per SQL model -> published_snapshot
landed_model_cards -> model_cards              ->
probe_results      -> probe_samples (+ checks) ->
"""

from __future__ import annotations

import dagster as dg

from pipeline.assets.facts_schedule import facts_schedule
from pipeline.assets.landed_model_cards import landed_model_cards
from pipeline.assets.landed_sweep import landed_sweep
from pipeline.assets.market import market
from pipeline.assets.market_checks import market_checks
from pipeline.assets.model_cards import model_cards
from pipeline.assets.probe_checks import probe_checks
from pipeline.assets.probe_results import probe_results
from pipeline.assets.probe_samples import probe_samples
from pipeline.assets.probe_schedule import probe_schedule
from pipeline.assets.published_snapshot import published_snapshot_asset
from pipeline.assets.schedule import daily_schedule
from pipeline.assets.sql_assets import sql_assets
from pipeline.settings import Settings, current_settings
from pipeline.sql_models import load_sql_models
from pipeline.steps import Clock, utc_now

DAILY_JOB = "daily"
PROBE_JOB = "probe"
FACTS_JOB = "facts"


def build_definitions(settings: Settings, clock: Clock = utc_now) -> dg.Definitions:
    """Return all definitions for one installation; ``clock`` says which day is today."""
    models = load_sql_models()
    everything = dg.AssetSelection.all()
    daily = dg.define_asset_job(
        DAILY_JOB,
        # A probe spends money, cards take minutes; what has landed of them is read all the same.
        selection=everything - dg.AssetSelection.assets(probe_results, landed_model_cards),
        description="One day, from the source to the published snapshot.",
    )
    probe = dg.define_asset_job(
        PROBE_JOB,
        # All tables: those that nothing new went into are left as they are.
        selection=everything - dg.AssetSelection.assets(landed_sweep, market, landed_model_cards),
        description="One probe, from the measurement to the published snapshot.",
    )
    facts = dg.define_asset_job(
        FACTS_JOB,
        selection=everything
        - dg.AssetSelection.assets(landed_sweep, market, probe_results, probe_samples),
        description="The model cards that are due, from the source to the published snapshot.",
    )
    schedules = [
        daily_schedule(DAILY_JOB, settings, clock),
        probe_schedule(PROBE_JOB, settings, clock),
        facts_schedule(FACTS_JOB, settings, clock),
    ]
    return dg.Definitions(
        assets=[
            landed_sweep,
            market,
            landed_model_cards,
            model_cards,
            probe_results,
            probe_samples,
            *sql_assets(models),
            published_snapshot_asset(models),
        ],
        asset_checks=[market_checks, probe_checks],
        jobs=[daily, probe, facts],
        schedules=[schedule for schedule in schedules if schedule is not None],
        resources={"settings": settings, "clock": clock},
        # One file has one writer: a process per step would only add its imports.
        executor=dg.in_process_executor,
    )


@dg.definitions
def defs() -> dg.Definitions:
    """Return what ``dagster dev`` shows, by the settings of the environment."""
    return build_definitions(current_settings())
