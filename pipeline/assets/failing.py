"""How an asset fails: with one clear line, in the run's log and in its failure."""

from collections.abc import Iterator
from contextlib import contextmanager

import dagster as dg

from pipeline.errors import KNOWN_ERRORS, OUTER_ERRORS, one_line


@contextmanager
def failing_clearly() -> Iterator[None]:
    """Turn errors that a person can act on into a failure of the run that says only that."""
    try:
        yield
    except KNOWN_ERRORS as error:
        raise dg.Failure(one_line(error)) from None
    except OUTER_ERRORS as error:
        raise dg.Failure(one_line(error)) from error


@dg.failure_hook(name="log_one_line")
def log_one_line(context: dg.HookContext) -> None:
    """Say in one line which step failed and why."""
    error = context.op_exception
    reason = error.description if isinstance(error, dg.Failure) else repr(error)
    context.log.error(f"{context.op.name} failed: {reason}")
