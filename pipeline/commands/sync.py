"""``tokentape sync``: one day of the main job."""

from __future__ import annotations

import click

from pipeline.commands.outcomes import tell_failure, tell_problems
from pipeline.runs import open_instance, run_day
from pipeline.settings import load_settings
from pipeline.steps import utc_now


@click.command()
def sync() -> int:
    """Pull one sweep of the market, load it, build the tables, publish a snapshot.

    Runs Dagster's job `daily` for today in this process; the run is kept in DAGSTER_HOME and
    seen in Dagster's UI. More than one sweep a day is welcome. Several at once wait for each
    other where they write.

    A sweep in which some models failed is kept, marked partial, and ends with code 3.
    """
    settings = load_settings()
    with open_instance(settings) as instance:
        outcome = run_day(settings, utc_now().date(), instance)
    failed = tell_failure(outcome)
    if failed is not None:
        return failed
    facts = outcome.facts
    click.echo(
        f"sweep {facts['sweep_id']} is in: {facts['answers']} answers, "
        f"{facts['quarantined']} records in quarantine, {facts['flagged']} surprising"
    )
    click.echo(f"published {facts['snapshot_id']} in {settings.published_dir / 'current'}")
    return tell_problems(outcome)
