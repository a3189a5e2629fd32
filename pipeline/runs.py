"""Run the jobs from Python, recorded in Dagster's instance as any other run."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import dagster as dg

from pipeline.assets.landed_sweep import FROM_LANDING
from pipeline.definitions import DAILY_JOB, FACTS_JOB, PROBE_JOB, build_definitions
from pipeline.live_runs import alive, end_dead_runs, turn_in
from pipeline.services import prepare_dagster_home
from pipeline.settings import Settings
from pipeline.steps import utc_now

log = logging.getLogger("tokentape")

PARTITION = "dagster/partition"
RANGE_START = "dagster/asset_partition_range_start"
RANGE_END = "dagster/asset_partition_range_end"
INTERRUPTED = ("DagsterExecutionInterruptedError", "KeyboardInterrupt")


@dataclass(frozen=True)
class RunOutcome:
    """How a run ended: why it failed, what was left out, and what its assets reported."""

    run_id: str
    failure: str | None = None
    problems: tuple[str, ...] = ()
    missing_days: tuple[str, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)


@contextmanager
def open_instance(settings: Settings) -> Iterator[dg.DagsterInstance]:
    """Open Dagster's instance, which keeps the runs, and create it when it is not there.

    Runs that were killed are ended first: they still hold what others wait for.
    """
    home = prepare_dagster_home(settings)
    with ExitStack() as stack:
        # Two processes that create the same storage at once leave it unusable.
        with turn_in(home):
            instance = stack.enter_context(dg.DagsterInstance.from_config(str(home)))
        end_dead_runs(instance)
        yield instance


def run_day(settings: Settings, day: date, instance: dg.DagsterInstance) -> RunOutcome:
    """Run the job `daily` for one day; today is pulled, a past day read from landing."""
    return _run(DAILY_JOB, settings, {PARTITION: day.isoformat()}, instance)


def run_probe_job(settings: Settings, instance: dg.DagsterInstance) -> RunOutcome:
    """Run the job `probe`: measure now, load, build and publish."""
    return _run(PROBE_JOB, settings, {PARTITION: utc_now().date().isoformat()}, instance)


def run_facts_job(settings: Settings, instance: dg.DagsterInstance) -> RunOutcome:
    """Run the job `facts`: ask for the model cards that are due, load, build and publish."""
    return _run(FACTS_JOB, settings, {}, instance)


def run_landed_days(
    settings: Settings, first: date, last: date, instance: dg.DagsterInstance
) -> RunOutcome:
    """Run the job `daily` once for a range of days, from landing alone."""
    tags = {RANGE_START: first.isoformat(), RANGE_END: last.isoformat(), FROM_LANDING: "true"}
    return _run(DAILY_JOB, settings, tags, instance)


def _run(
    job_name: str, settings: Settings, tags: Mapping[str, str], instance: dg.DagsterInstance
) -> RunOutcome:
    job = build_definitions(settings).resolve_job_def(job_name)
    run_id = str(uuid.uuid4())
    # What matters is told by the caller, and all of it is kept with the run.
    level = "DEBUG" if log.isEnabledFor(logging.DEBUG) else "CRITICAL"
    with alive(instance, run_id):
        result = job.execute_in_process(
            instance=instance,
            run_id=run_id,
            raise_on_error=False,
            tags=tags,
            run_config={"loggers": {"console": {"config": {"log_level": level}}}},
        )
    failures = [event for event in result.all_events if event.is_step_failure]
    if failures or not result.success:
        reason = _reason(failures[0]) if failures else "the run failed before its first step"
        return RunOutcome(result.run_id, failure=reason)
    return _outcome(result)


def _outcome(result: dg.ExecuteInProcessResult) -> RunOutcome:
    facts: dict[str, Any] = {}
    problems: dict[str, None] = {}
    missing_days: dict[str, None] = {}
    for event in result.all_events:
        if not event.is_step_materialization:
            continue
        metadata: dict[str, Any] = {
            key: value.value for key, value in event.materialization.metadata.items()
        }
        problems |= dict.fromkeys(metadata.get("problems", ()))
        missing_days |= dict.fromkeys(metadata.get("missing_days", ()))
        facts |= metadata
    return RunOutcome(
        result.run_id, problems=tuple(problems), missing_days=tuple(missing_days), facts=facts
    )


def _reason(event: dg.DagsterEvent) -> str:
    data = event.step_failure_data
    if data.user_failure_data is not None and data.user_failure_data.description:
        return data.user_failure_data.description
    error = data.error
    if error is not None and error.cls_name in INTERRUPTED:
        return "stopped; what is in stays, and the next run goes on from there"
    while error is not None and error.cause is not None:
        error = error.cause
    return " ".join(error.message.split()) if error is not None else f"{event.step_key} failed"
