"""The demo's probes: made up in time-lapse, but by the provider's script and the real runner."""

from __future__ import annotations

import threading
from datetime import UTC, datetime

import pytest

from pipeline.demo_probes import land_probes, write_probe_config
from pipeline.landing.probe_records import LandedProbeRun
from pipeline.landing.probe_runs import ProbeLanding
from pipeline.probe_frames import read_probe_run
from pipeline.probe_steps import probe_config
from pipeline.sandbox.market import Market
from pipeline.settings import Settings

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
MARKET = Market(anchor=NOON.date())
GO_ON = threading.Event()


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    folder = tmp_path_factory.mktemp("demo")
    write_probe_config(folder / "probes.json", "http://127.0.0.1:9/api/v1")
    return Settings(data_dir=folder, market="demo", probes_file=folder / "probes.json")


@pytest.fixture(scope="module")
def runs(settings: Settings) -> list[LandedProbeRun]:
    land_probes(settings, MARKET, NOON, GO_ON, days_of_probes=2)
    return ProbeLanding(settings.landing_dir).runs()


def test_the_demo_probes_endpoints_that_its_market_has(settings: Settings) -> None:
    for target in probe_config(settings).providers:
        listed = MARKET.endpoints(target.model, NOON)
        assert listed is not None
        assert target.tag in [endpoint["tag"] for endpoint in listed["endpoints"]]


def test_there_is_a_run_a_day_and_none_in_the_future(runs: list[LandedProbeRun]) -> None:
    begun = [run.manifest.started_at_utc for run in runs]
    assert begun == [datetime(2026, 11, day, 9, 23, tzinfo=UTC) for day in (29, 30)]


def test_the_second_time_nothing_is_made_up_again(
    settings: Settings, runs: list[LandedProbeRun]
) -> None:
    assert land_probes(settings, MARKET, NOON, GO_ON, days_of_probes=2) == []


def test_time_passes_within_a_run_as_its_answers_take(runs: list[LandedProbeRun]) -> None:
    manifest = runs[0].manifest
    # A dozen answers of each of six endpoints one after the other, each of some 0.4 to 2 seconds.
    took_s = (manifest.finished_at_utc - manifest.started_at_utc).total_seconds()
    assert 30 < took_s < 180


def test_what_is_made_up_keeps_the_contract_and_looks_measured(
    settings: Settings, runs: list[LandedProbeRun]
) -> None:
    frames = read_probe_run(runs[0].manifest, ProbeLanding(settings.landing_dir).records(runs[0]))
    assert frames.quarantine.is_empty()
    measured = frames.requests.filter(
        (frames.requests["phase"] == "measure") & (frames.requests["outcome"] == "ok")
    )
    assert set(measured["served_by"]) == {"DeepInfra", "Novita", "Groq", "Together", "CoreWeave"}
    assert set(measured["token_source"]) == {"usage"}
    assert measured["cost_usd"].null_count() == 0
    assert not measured["is_new_connection"].any()
