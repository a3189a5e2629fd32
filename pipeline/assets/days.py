"""The days that assets are partitioned by: one definition, shared by all."""

from __future__ import annotations

import warnings
from datetime import date

import dagster as dg

# No market of LLM APIs is recorded before.
FIRST_DAY = "2023-01-01"
# Each asset names a backfill policy; once for each, Dagster would say that it is in beta.
warnings.filterwarnings("ignore", "Parameter `backfill_policy`", dg.BetaWarning)

# One object for all assets: ranges over assets with differing starts fall apart into many runs.
# The offset makes today's partition exist today; Dagster's default waits until the day is over.
DAYS = dg.DailyPartitionsDefinition(start_date=FIRST_DAY, timezone="UTC", end_offset=1)

# A range is one run; a run a day would take ten seconds of imports each.
ONE_RUN = dg.BackfillPolicy.single_run()


def days_of(context: dg.AssetExecutionContext) -> tuple[date, date]:
    """Return the first and the last day that a run is asked for."""
    asked = context.partition_key_range
    return date.fromisoformat(asked.start), date.fromisoformat(asked.end)
