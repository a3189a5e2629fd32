"""The job of model cards: asked for, loaded, built and published by one command, once a day."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest
from command_line import run_command
from small_market import LLAMA, land_at, settings_at, small_sandbox

from pipeline.definitions import build_definitions
from pipeline.fact_steps import land_due_cards
from pipeline.progress import Unseen
from pipeline.sandbox.server import SandboxServer
from pipeline.settings import Settings
from pipeline.steps import load_landed

SWEPT = datetime(2026, 11, 30, 6, 17, tzinfo=UTC)
DUE = SWEPT + timedelta(minutes=20)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[SandboxServer]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with small_sandbox() as sandbox:
        yield sandbox


@pytest.fixture
def settings(hub: SandboxServer, tmp_path: Path) -> Settings:
    return settings_at(
        tmp_path / "data",
        hub.url,
        huggingface_url=hub.hub_url,
        huggingface_requests_per_s=1000,
        HF_TOKEN=None,
    )


def tick(settings: Settings, due: datetime) -> dg.RunRequest | str:
    """Return what the schedule asks for at ``due``, or why it does not."""
    repository = build_definitions(settings, lambda: due).get_repository_def()
    schedule = repository.get_schedule_def("model_cards_daily")
    with (
        dg.instance_for_test() as instance,
        dg.build_schedule_context(
            scheduled_execution_time=due, repository_def=repository, instance=instance
        ) as context,
    ):
        answer = schedule.evaluate_tick(context)
    return answer.skip_message or answer.run_requests[0]


def test_cards_are_asked_for_after_the_first_sweep_and_then_once_a_day(
    settings: Settings, hub: SandboxServer
) -> None:
    assert tick(settings, DUE) == "no sweep has landed yet, so no model is known"

    land_at(settings, hub, SWEPT)
    assert isinstance(tick(settings, DUE), dg.RunRequest)

    land_due_cards(settings, lambda: DUE + timedelta(minutes=4), Unseen("cards"))
    assert tick(settings, DUE + timedelta(hours=1)) == "asked at 2026-11-30 06:41 UTC"
    assert isinstance(tick(settings, DUE + timedelta(days=1)), dg.RunRequest)


def test_the_schedule_looks_every_hour_and_is_on(settings: Settings) -> None:
    repository = build_definitions(settings).get_repository_def()
    schedule = repository.get_schedule_def("model_cards_daily")

    assert schedule.cron_schedule == "37 * * * *"
    assert schedule.default_status is dg.DefaultScheduleStatus.RUNNING


def test_the_command_brings_the_facts_to_the_published_snapshot(
    settings: Settings,
    hub: SandboxServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    now = datetime.now(UTC)
    land_at(settings, hub, now)
    load_landed(settings, now.date(), now.date())
    monkeypatch.chdir(tmp_path)
    for name, value in {
        "TOKENTAPE_DATA_DIR": str(settings.data_dir),
        "TOKENTAPE_OPENROUTER_URL": hub.url,
        "TOKENTAPE_HUGGINGFACE_URL": hub.hub_url,
        "TOKENTAPE_HUGGINGFACE_REQUESTS_PER_S": "1000",
        "DAGSTER_HOME": str(tmp_path / "dagster"),
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("HF_TOKEN", raising=False)

    ended = run_command(capsys, "facts")

    assert (ended.code, ended.err) == (0, "")
    first, second = ended.out.splitlines()
    assert first == "model cards: 3 loaded; 0 requests had no answer (gated, absent, failed)"
    assert second.startswith("published ")
    published = settings.published_dir / "current" / "models" / f"{LLAMA}.json"
    facts = json.loads(published.read_text())
    assert "llama3.1" in json.dumps(facts)
