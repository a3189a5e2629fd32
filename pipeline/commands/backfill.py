"""``tokentape backfill``: history from landing."""

from __future__ import annotations

from datetime import UTC, date, datetime

import click

from pipeline.commands.outcomes import tell_failure, tell_problems
from pipeline.landing import CorruptLandingError, Landing
from pipeline.landing.probe_runs import ProbeLanding
from pipeline.loading import NothingLandedError
from pipeline.runs import open_instance, run_landed_days
from pipeline.settings import Settings, load_settings
from pipeline.steps import utc_now

DAY = click.DateTime(["%Y-%m-%d"])


@click.command()
@click.option("--from", "first", type=DAY, help="First day, YYYY-MM-DD; default: of landing.")
@click.option("--to", "last", type=DAY, help="Last day, YYYY-MM-DD; default: of landing.")
def backfill(first: datetime | None, last: datetime | None) -> int:
    """Load the landed sweeps of some days, or of all, then build and publish.

    Nothing is pulled: the source knows the present only, so the past comes from landing. Sweeps
    that are in already are left alone, so it may be repeated, and taken up again after a stop.
    To rebuild everything, move the warehouse file away and run it without dates.

    Ends with code 3 when landing does not hold every day that was asked for.
    """
    settings = load_settings()
    if first is None or last is None:
        landed_first, landed_last = _landed(settings)
    first_day = first.date() if first is not None else landed_first
    last_day = last.date() if last is not None else landed_last
    if last_day < first_day:
        raise click.UsageError(f"--from {first_day} is later than --to {last_day}")
    if last_day > utc_now().date():
        raise click.UsageError(f"--to {last_day} is in the future")
    with open_instance(settings) as instance:
        outcome = run_landed_days(settings, first_day, last_day, instance)
    failed = tell_failure(outcome)
    if failed is not None:
        return failed
    facts = outcome.facts
    click.echo(
        f"{first_day} to {last_day}: sweeps loaded: {facts['sweeps_loaded']}, "
        f"in already: {facts['sweeps_in_already']}"
    )
    click.echo(f"published {facts['snapshot_id']} in {settings.published_dir / 'current'}")
    return tell_problems(outcome, are_days_asked_for=first is not None or last is not None)


def _landed(settings: Settings) -> tuple[date, date]:
    landing = Landing(settings.landing_dir)
    landing.recover(datetime.now(UTC))
    damaged: list[CorruptLandingError] = []
    days = [sweep.manifest.partition_date for sweep in landing.sweeps(on_corrupt=damaged.append)]
    # Asked for as well: the run tells what is wrong with them, and loads the others.
    days += [date.fromisoformat(error.path.parents[1].name) for error in damaged]
    if not days:
        raise NothingLandedError(
            f"landing is empty ({settings.landing_dir}); run `tokentape sync` to pull today"
        )
    # A probe may have run before the first sweep, or after the last one.
    probes = ProbeLanding(settings.landing_dir)
    probes.recover()
    days += [run.manifest.partition_date for run in probes.runs(on_corrupt=damaged.append)]
    return min(days), max(days)
