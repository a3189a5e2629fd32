"""The demo: history through real HTTP, kept apart, and only what is missing the second time."""

from __future__ import annotations

import threading
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from small_market import land_at, morning_of, settings_at

from pipeline.demo import demo_anchor, demo_settings, land_history
from pipeline.landing import Landing
from pipeline.loading import OtherMarketError
from pipeline.sandbox.server import SandboxServer
from pipeline.settings import Settings

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
GO_ON = threading.Event()


@pytest.fixture
def settings(sandbox: SandboxServer, tmp_path: Path) -> Settings:
    return demo_settings(settings_at(tmp_path, sandbox.url)).model_copy(
        update={"openrouter_url": sandbox.url}
    )


def starts(settings: Settings) -> list[str]:
    sweeps = Landing(settings.landing_dir).sweeps()
    return [f"{sweep.manifest.started_at_utc:%m-%d %H:%M}" for sweep in sweeps]


def test_past_days_are_swept_at_the_daily_time_and_today_now(
    settings: Settings, sandbox: SandboxServer
) -> None:
    done = land_history(settings, sandbox, NOON, GO_ON, days_of_history=3)

    assert done == [date(2026, 11, 28), date(2026, 11, 29), date(2026, 11, 30)]
    assert starts(settings) == ["11-28 06:17", "11-29 06:17", "11-30 12:00"]


def test_the_second_time_only_missing_days_are_swept(
    settings: Settings, sandbox: SandboxServer
) -> None:
    land_history(settings, sandbox, NOON.replace(day=29), GO_ON, days_of_history=2)

    done = land_history(settings, sandbox, NOON, GO_ON, days_of_history=3)

    assert done == [date(2026, 11, 30)]


def test_a_stop_is_heard_between_two_days(settings: Settings, sandbox: SandboxServer) -> None:
    stopped = threading.Event()
    stopped.set()

    assert land_history(settings, sandbox, NOON, stopped, days_of_history=3) == []


def test_the_demo_has_a_folder_a_market_and_a_key_of_its_own(tmp_path: Path) -> None:
    real = Settings(_env_file=None, OPENROUTER_API_KEY="the-real-key")

    demo = demo_settings(real)

    assert (demo.data_dir, demo.market) == (Path("data-demo"), "demo")
    assert demo.openrouter_api_key is not None
    assert demo.openrouter_api_key.get_secret_value() == "demo"
    assert demo_settings(settings_at(tmp_path, real.openrouter_url)).data_dir == tmp_path


def test_the_demo_does_not_mix_with_a_folder_of_the_live_market(
    settings: Settings, sandbox: SandboxServer
) -> None:
    live = settings.model_copy(update={"market": "live"})
    land_history(live, sandbox, NOON, GO_ON, days_of_history=1)

    with pytest.raises(OtherMarketError, match="TOKENTAPE_DATA_DIR"):
        land_history(settings, sandbox, NOON, GO_ON, days_of_history=2)


def test_the_told_days_stay_where_they_were_when_the_demo_goes_on_later(
    settings: Settings, sandbox: SandboxServer
) -> None:
    assert demo_anchor(settings, NOON.date()) == NOON.date()

    land_at(settings, sandbox, morning_of(date(2026, 9, 2)))  # the first of ninety days

    assert demo_anchor(settings, date(2026, 12, 25)) == NOON.date()
