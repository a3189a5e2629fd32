"""When model cards are asked for by themselves: once a day, at the first hour that lets us."""

from datetime import UTC, timedelta

import dagster as dg

from pipeline.landing import CorruptLandingError, Landing
from pipeline.landing.model_cards import CardLanding
from pipeline.settings import Settings
from pipeline.steps import Clock

MINUTES_AFTER_THE_SWEEP = 20
# A day, but for the hour's play that a schedule by the hour has.
BETWEEN_PULLS = timedelta(hours=23, minutes=30)


def facts_schedule(job_name: str, settings: Settings, clock: Clock) -> dg.ScheduleDefinition:
    """Return the schedule of the job, on from the start.

    It looks every hour, so that a new installation has its facts soon after its first sweep, and a
    hub that could not be reached is asked again.
    """
    minute = (settings.sweep_at_utc.minute + MINUTES_AFTER_THE_SWEEP) % 60

    @dg.schedule(
        name="model_cards_daily",
        job_name=job_name,
        cron_schedule=f"{minute} * * * *",
        execution_timezone="UTC",
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description="Ask for the model cards that are due, build and publish.",
    )
    def model_cards_daily(
        context: dg.ScheduleEvaluationContext,
    ) -> dg.RunRequest | dg.SkipReason:
        due = context.scheduled_execution_time.astimezone(UTC)
        try:
            if Landing(settings.landing_dir).newest() is None:
                return dg.SkipReason("no sweep has landed yet, so no model is known")
            newest = CardLanding(settings.landing_dir).newest()
        except CorruptLandingError:
            # The run tells what is wrong, with its remedy.
            newest = None
        if newest is not None and clock() - newest.manifest.started_at_utc < BETWEEN_PULLS:
            return dg.SkipReason(f"asked at {newest.manifest.started_at_utc:%Y-%m-%d %H:%M} UTC")
        return dg.RunRequest(run_key=due.isoformat())

    return model_cards_daily
