"""The demo: ninety days of a made-up market, pulled through real HTTP like any other."""

from __future__ import annotations

import threading
import time
from datetime import date, datetime, timedelta
from pathlib import Path

from pydantic import SecretStr

from pipeline import steps
from pipeline.landing import Landing
from pipeline.progress import Progress, Unseen
from pipeline.sandbox.server import SandboxServer
from pipeline.settings import Settings

DAYS_OF_HISTORY = 90
DEMO_FOLDER = Path("data-demo")


def demo_settings(settings: Settings) -> Settings:
    """Return ``settings`` for the demo: its own folder unless one was named, its own market.

    The key is a stand-in: the sandbox gives latency and throughput to callers with any key, and
    a real one has no business there.
    """
    folder = settings.data_dir if "data_dir" in settings.model_fields_set else DEMO_FOLDER
    return settings.model_copy(
        update={
            "data_dir": folder,
            "market": "demo",
            "openrouter_api_key": SecretStr("demo"),
            "requests_per_s": 1000.0,
        }
    )


def demo_anchor(settings: Settings, today: date) -> date:
    """Return the day to which the told ninety lead: today, or that on which the demo began."""
    days = _landed_days(settings)
    begun = min(days) if days else today - timedelta(days=DAYS_OF_HISTORY - 1)
    return begun + timedelta(days=DAYS_OF_HISTORY - 1)


def land_history(
    settings: Settings,
    sandbox: SandboxServer,
    now: datetime,
    stop: threading.Event,
    days_of_history: int = DAYS_OF_HISTORY,
) -> list[date]:
    """Land one sweep for every day of the last ninety that landing lacks; return these days.

    A past day is swept at the settings' time of day, today at ``now``. Ends early when stopped.
    """
    landed = _landed_days(settings)
    today = now.date()
    days = [today - timedelta(days=back) for back in reversed(range(days_of_history))]
    missing = [day for day in days if day not in landed]
    if not missing:
        return []
    progress = Progress("demo history, days")
    done: list[date] = []
    with progress.counting(len(missing)):
        for day in missing:
            if stop.is_set():
                break
            at = now if day == today else datetime.combine(day, settings.sweep_at_utc, now.tzinfo)
            sandbox.set_now(at)
            steps.land(settings, _clock_from(at), Unseen("sweep"))
            done.append(day)
            progress.advance()
    sandbox.set_now(None)
    return done


def _landed_days(settings: Settings) -> set[date]:
    sweeps = Landing(settings.landing_dir).sweeps()
    return {sweep.manifest.partition_date for sweep in sweeps}


def _clock_from(instant: datetime) -> steps.Clock:
    """Return a clock that stands at ``instant`` now and runs on."""
    begun = time.monotonic()
    return lambda: instant + timedelta(seconds=time.monotonic() - begun)
