"""Which cards are due, and that landing them and loading them again changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from small_market import land_at, settings_at, small_sandbox

from pipeline.building import build_all
from pipeline.fact_steps import due_repositories, land_due_cards, load_landed_cards
from pipeline.landing import LandedSweep
from pipeline.loading import NothingLandedError, OtherMarketError
from pipeline.progress import Unseen
from pipeline.sandbox.faults import Fault
from pipeline.sandbox.server import SandboxServer
from pipeline.settings import Settings
from pipeline.sql_models import load_sql_models
from pipeline.steps import load_landed
from pipeline.warehouse import open_warehouse

MORNING = datetime(2026, 11, 30, 6, 17, tzinfo=UTC)
# Of the four models of the small market one is a router.
REPOSITORIES = [
    "meta-llama/Llama-3.3-70B-Instruct",
    "meta-llama/Meta-Llama-3.1-8B-Instruct",
    "openai/gpt-oss-20b",
]


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[SandboxServer]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with small_sandbox() as sandbox:
        yield sandbox


@pytest.fixture
def settings(hub: SandboxServer, tmp_path: Path) -> Settings:
    """Settings of a data folder with one sweep."""
    made = settings_at(
        tmp_path,
        hub.url,
        huggingface_url=hub.hub_url,
        huggingface_requests_per_s=1000,
        HF_TOKEN=None,
    )
    land_at(made, hub, MORNING)
    return made


def land(settings: Settings, at: datetime) -> LandedSweep | None:
    return land_due_cards(settings, lambda: at, Unseen("cards"))


def test_the_repositories_of_the_newest_sweep_are_due_once_a_week(settings: Settings) -> None:
    assert due_repositories(settings, MORNING) == REPOSITORIES

    assert land(settings, MORNING) is not None

    assert due_repositories(settings, MORNING + timedelta(days=7)) == []
    assert land(settings, MORNING + timedelta(days=7)) is None
    assert due_repositories(settings, MORNING + timedelta(days=7, seconds=1)) == REPOSITORIES


def test_a_run_asks_for_so_many_at_most(settings: Settings) -> None:
    few = settings.model_copy(update={"model_cards_per_run": 2})

    assert due_repositories(few, MORNING) == REPOSITORIES[:2]
    land(few, MORNING)
    assert due_repositories(few, MORNING) == REPOSITORIES[2:]


def test_a_model_that_could_not_be_asked_is_due_again(
    settings: Settings, hub: SandboxServer
) -> None:
    hub.set_faults(Fault("http_503", path="/huggingface/api/models/openai/*"))
    land(settings, MORNING)

    assert due_repositories(settings, MORNING) == ["openai/gpt-oss-20b"]


def test_without_a_sweep_no_model_is_known(tmp_path: Path) -> None:
    with pytest.raises(NothingLandedError, match="run `tokentape sync`"):
        due_repositories(settings_at(tmp_path, "http://127.0.0.1:9"), MORNING)


def test_cards_of_another_market_are_refused(settings: Settings) -> None:
    land(settings, MORNING)
    with pytest.raises(OtherMarketError, match="pull of model cards"):
        load_landed_cards(settings.model_copy(update={"market": "demo"}))


def test_loading_twice_changes_nothing_and_facts_reach_the_mart(settings: Settings) -> None:
    models = load_sql_models()
    load_landed(settings, MORNING.date(), MORNING.date())
    with open_warehouse(settings) as warehouse:
        build_all(warehouse.database, models)
    land(settings, MORNING)

    first = load_landed_cards(settings)
    with open_warehouse(settings) as warehouse:
        build_all(warehouse.database, models)
        checksum = warehouse.checksum()
    again = load_landed_cards(settings)

    assert (len(first.loaded), first.rows, first.problems) == (1, 3, ())
    assert (again.loaded, again.known) == ((), 1)
    with open_warehouse(settings) as warehouse:
        build_all(warehouse.database, models)
        assert warehouse.checksum() == checksum
        assert warehouse.database.rows(
            "select licence, size_class, origin_country from marts.model_facts "
            "where model_id = 'meta-llama/llama-3.1-8b-instruct'"
        ) == [("llama3.1", "consumer", "US")]


def test_a_damaged_pull_is_told_and_left_out(settings: Settings) -> None:
    landed = land(settings, MORNING)
    assert landed is not None
    answers = landed.path / "answers.jsonl.gz"
    answers.chmod(0o644)
    answers.write_bytes(b"?")

    report = load_landed_cards(settings)

    assert report.loaded == ()
    assert "answers.jsonl.gz" in report.problems[0]
