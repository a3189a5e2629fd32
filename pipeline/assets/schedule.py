"""When the market is swept by itself: once a day, at the settings' minute, UTC."""

from datetime import UTC, datetime

import dagster as dg

from pipeline.landing import CorruptLandingError, Landing
from pipeline.settings import Settings
from pipeline.steps import Clock


def daily_schedule(job_name: str, settings: Settings, clock: Clock) -> dg.ScheduleDefinition:
    """Return the schedule of the job, on from the start.

    Not Dagster's own schedule of a partitioned job: that one fills yesterday, and prices of
    yesterday cannot be had any more.
    """
    minute, hour = settings.sweep_at_utc.minute, settings.sweep_at_utc.hour

    @dg.schedule(
        name="daily_at_fixed_minute",
        job_name=job_name,
        cron_schedule=f"{minute} {hour} * * *",
        execution_timezone="UTC",
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description="Sweep the market of today, build and publish.",
    )
    def daily_at_fixed_minute(
        context: dg.ScheduleEvaluationContext,
    ) -> dg.RunRequest | dg.SkipReason:
        due = context.scheduled_execution_time.astimezone(UTC)
        if due.date() != clock().date():
            return dg.SkipReason(f"{due.date()} is over; its prices cannot be pulled any more")
        if _is_swept_since(settings, due):
            return dg.SkipReason(f"a sweep made after {due:%H:%M} UTC is there already")
        return dg.RunRequest(run_key=due.isoformat(), partition_key=due.date().isoformat())

    return daily_at_fixed_minute


def _is_swept_since(settings: Settings, due: datetime) -> bool:
    try:
        sweeps = Landing(settings.landing_dir).sweeps(due.date(), due.date())
    except CorruptLandingError:
        return False
    return any(sweep.manifest.started_at_utc >= due for sweep in sweeps)
