"""The errors that a person can act on, and how any error is told in one line."""

from __future__ import annotations

from pipeline.duck import Error as DuckError
from pipeline.landing import CorruptLandingError
from pipeline.loading import StepError
from pipeline.measuring import MachineBusyError
from pipeline.probes.budget import BudgetError
from pipeline.probes.config import ProbeConfigError
from pipeline.probes.engine_process import EngineError
from pipeline.publishing import PublishError
from pipeline.scores.cells import ScoreFileError
from pipeline.settings import SettingsError
from pipeline.sources.http import SourceError
from pipeline.sql_models import SqlModelError
from pipeline.warehouse import WarehouseError

# Their messages say what, where and what helps; nothing need be added.
KNOWN_ERRORS = (
    BudgetError,
    CorruptLandingError,
    EngineError,
    MachineBusyError,
    ProbeConfigError,
    PublishError,
    ScoreFileError,
    SettingsError,
    SourceError,
    SqlModelError,
    StepError,
    WarehouseError,
)
# Of the machine or of DuckDB: one line is enough, but it is not ours.
OUTER_ERRORS = (OSError, DuckError)


def one_line(error: BaseException) -> str:
    """Return what ``error`` says, without a trace, in one line."""
    text = " ".join(str(error).split())
    if isinstance(error, KNOWN_ERRORS):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
