"""How a command tells what a run did."""

from __future__ import annotations

import click

from pipeline.commands.exit_codes import DONE, FAILED, PARTIAL
from pipeline.runs import RunOutcome

SHOWN_DAYS = 10


def tell_failure(outcome: RunOutcome) -> int | None:
    """Tell why the run failed and return the exit code; None when it did not fail."""
    if outcome.failure is None:
        return None
    click.echo(f"tokentape: {outcome.failure}", err=True)
    return FAILED


def tell_problems(outcome: RunOutcome, *, are_days_asked_for: bool = False) -> int:
    """Tell what a run left out and return the exit code.

    Days that landing does not hold were left out only if somebody asked for them.
    """
    problems = list(outcome.problems)
    if are_days_asked_for and outcome.missing_days:
        shown = ", ".join(outcome.missing_days[:SHOWN_DAYS])
        more = len(outcome.missing_days) - SHOWN_DAYS
        problems.append(
            f"landing holds no sweep of {len(outcome.missing_days)} of the days: {shown}"
            + (f" and {more} more" if more > 0 else "")
        )
    for problem in problems:
        click.echo(f"tokentape: {problem}", err=True)
    return PARTIAL if problems else DONE
