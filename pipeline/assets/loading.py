"""What the assets share that bring landed folders into the warehouse."""

from __future__ import annotations

import time
from collections.abc import Callable

import dagster as dg

from pipeline.assets.failing import failing_clearly
from pipeline.loading import LoadReport
from pipeline.measuring import while_not_measuring
from pipeline.settings import Settings


def loaded(
    context: dg.AssetExecutionContext,
    settings: Settings,
    load: Callable[[], LoadReport],
    counts_of: Callable[[LoadReport], dict[str, int]],
) -> dg.MaterializeResult[None]:
    """Load while no probe measures, log what went wrong, and return the counts with the time."""
    started = time.perf_counter()
    with failing_clearly(), while_not_measuring(settings):
        report = load()
    for problem in report.problems:
        context.log.warning(problem)
    return dg.MaterializeResult(
        metadata={
            **counts_of(report),
            "seconds": round(time.perf_counter() - started, 1),
            "problems": list(report.problems),
        }
    )
