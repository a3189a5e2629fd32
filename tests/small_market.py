"""A sandbox with a handful of models, and settings that point at it: a sweep takes milliseconds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from pipeline import steps
from pipeline.landing import LandedSweep
from pipeline.progress import Progress
from pipeline.sandbox.market import Market
from pipeline.sandbox.server import SandboxServer
from pipeline.settings import Settings

LLAMA = "meta-llama/llama-3.1-8b-instruct"
FREE = "meta-llama/llama-3.3-70b-instruct:free"
ROUTER = "openrouter/auto"
LISTED = (LLAMA, FREE, "openai/gpt-oss-20b", ROUTER)
STANDARD_MODELS = 3


class SmallMarket:
    """Four models of the sandbox's market; one of them is a router, which is not asked for."""

    kind = "demo"

    def __init__(self) -> None:
        self._market = Market(anchor=date(2026, 11, 30))

    def models(self, at: datetime) -> list[dict[str, Any]]:
        return [row for row in self._market.models(at) if row["id"] in LISTED]

    def endpoints(
        self, model_id: str, at: datetime, *, is_authenticated: bool = False
    ) -> dict[str, Any] | None:
        if model_id not in LISTED:
            return None
        return self._market.endpoints(model_id, at, is_authenticated=is_authenticated)

    def providers(self, at: datetime) -> list[dict[str, Any]]:
        return self._market.providers(at)


@contextmanager
def small_sandbox() -> Iterator[SandboxServer]:
    """Serve the small market on a free port."""
    with SandboxServer(SmallMarket()) as sandbox:
        yield sandbox


def settings_at(folder: Path, url: str, **values: Any) -> Settings:
    """Return settings with ``folder`` as data folder; neither environment nor .env count."""
    named = {"data_dir": folder, "openrouter_url": url, "max_retries": 0} | values
    return Settings(_env_file=None, OPENROUTER_API_KEY=None, **named)


def land_at(settings: Settings, sandbox: SandboxServer, at: datetime) -> LandedSweep:
    """Land one sweep of the market as it stands at ``at``."""
    sandbox.set_now(at)
    return steps.land(settings, lambda: at, Progress("sweep"))


def morning_of(day: date) -> datetime:
    """Return the time of the daily sweep on ``day``."""
    return datetime(day.year, day.month, day.day, 6, 17, tzinfo=UTC)


def days_before(last: date, count: int) -> list[date]:
    """Return the ``count`` days that end with ``last``."""
    return [last - timedelta(days=back) for back in reversed(range(count))]
