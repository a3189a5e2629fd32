"""When probes run by themselves: as the configuration says, once somebody has written one."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC

import dagster as dg

from pipeline.live_runs import end_dead_runs
from pipeline.probe_steps import probe_config
from pipeline.probes.config import ProbeConfigError, Target
from pipeline.settings import Settings, environment_of
from pipeline.steps import Clock

# Of a configuration that cannot be read; its ticks tell why.
CRON_OF_A_WRONG_FILE = "23 */3 * * *"


def probe_cron(settings: Settings) -> str | None:
    """Return the cron line by which probes run, UTC, None when only a person starts them."""
    try:
        return probe_config(settings).schedule
    except ProbeConfigError:
        return CRON_OF_A_WRONG_FILE


def probe_schedule(job_name: str, settings: Settings, clock: Clock) -> dg.ScheduleDefinition | None:
    """Return the schedule of the job, None when the configuration has none.

    Probes spend money, so it is on from the start only with a configuration of one's own.
    """
    cron = probe_cron(settings)
    if cron is None:
        return None
    is_wanted = settings.probes_file is not None
    status = dg.DefaultScheduleStatus

    @dg.schedule(
        name="probes",
        job_name=job_name,
        cron_schedule=cron,
        execution_timezone="UTC",
        default_status=status.RUNNING if is_wanted else status.STOPPED,
        description="Measure the configured targets, build and publish.",
    )
    def probes(context: dg.ScheduleEvaluationContext) -> dg.RunRequest | dg.SkipReason:
        end_dead_runs(context.instance)
        due = context.scheduled_execution_time.astimezone(UTC)
        if due.date() != clock().date():
            return dg.SkipReason(f"{due.date()} is over and cannot be measured any more")
        # A wrong file fails the tick, with one line that says what is wrong.
        missing = _missing_keys(probe_config(settings).providers, settings)
        if missing:
            return dg.SkipReason(f"no target has a key: set {' or '.join(missing)}")
        return dg.RunRequest(run_key=due.isoformat(), partition_key=due.date().isoformat())

    return probes


def _missing_keys(targets: Iterable[Target], settings: Settings) -> list[str]:
    """Return the variables that no target could be asked without; nothing if one can be."""
    environment = environment_of(settings)
    names = [target.key_env for target in targets]
    if any(name is None or (environment.get(name) or "").strip() for name in names):
        return []
    return sorted({name for name in names if name is not None})
