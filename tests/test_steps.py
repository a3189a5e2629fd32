"""Land, load, build, publish: the steps as they are without Dagster."""

from __future__ import annotations

import json
from datetime import date, timedelta
from pathlib import Path

import polars as pl
import pytest
from probe_runs import land as land_probe
from small_market import STANDARD_MODELS, land_at, morning_of, settings_at

from pipeline import steps
from pipeline.landing import LandedSweep, Landing
from pipeline.loading import NothingLandedError, OtherMarketError
from pipeline.probe_steps import load_landed_probes
from pipeline.progress import Progress
from pipeline.sandbox.server import SandboxServer
from pipeline.settings import Settings
from pipeline.sources.http import SourceUnreachable
from pipeline.sql_models import load_sql_models
from pipeline.warehouse import open_warehouse

PROBED = date(2026, 6, 1)
MONDAY, TUESDAY, WEDNESDAY = date(2026, 11, 2), date(2026, 11, 3), date(2026, 11, 4)


@pytest.fixture
def settings(sandbox: SandboxServer, tmp_path: Path) -> Settings:
    return settings_at(tmp_path, sandbox.url)


def rewrite(path: Path, content: bytes) -> None:
    path.chmod(0o644)
    path.write_bytes(content)


def sweep_ids(settings: Settings) -> list[str]:
    with open_warehouse(settings) as warehouse:
        return sorted(warehouse.loaded_sweep_ids())


def names(*sweeps: LandedSweep) -> list[str]:
    return sorted(sweep.manifest.sweep_id for sweep in sweeps)


def test_a_landed_sweep_comes_in_once(settings: Settings, sandbox: SandboxServer) -> None:
    landed = land_at(settings, sandbox, morning_of(MONDAY))

    first = steps.load_landed(settings, MONDAY, MONDAY)
    second = steps.load_landed(settings, MONDAY, MONDAY)

    assert first.loaded == (landed.manifest.sweep_id,)
    assert first.rows > STANDARD_MODELS
    assert (second.loaded, second.known) == ((), 1)
    assert sweep_ids(settings) == names(landed)


def test_only_the_days_asked_for_are_loaded(settings: Settings, sandbox: SandboxServer) -> None:
    land_at(settings, sandbox, morning_of(MONDAY))
    tuesday = land_at(settings, sandbox, morning_of(TUESDAY))

    steps.load_landed(settings, TUESDAY, WEDNESDAY)

    assert sweep_ids(settings) == names(tuesday)


def test_a_corrupt_sweep_is_reported_and_the_others_go_in(
    settings: Settings, sandbox: SandboxServer
) -> None:
    broken = land_at(settings, sandbox, morning_of(MONDAY))
    sound = land_at(settings, sandbox, morning_of(TUESDAY))
    rewrite(broken.path / "answers.jsonl.gz", b"not what was sealed")

    report = steps.load_landed(settings, MONDAY, TUESDAY)

    assert report.loaded == (sound.manifest.sweep_id,)
    assert len(report.problems) == 1
    assert str(broken.path) in report.problems[0]


def test_a_damaged_manifest_takes_no_other_sweep_with_it(
    settings: Settings, sandbox: SandboxServer
) -> None:
    broken = land_at(settings, sandbox, morning_of(MONDAY))
    same_day = land_at(settings, sandbox, morning_of(MONDAY) + timedelta(hours=6))
    next_day = land_at(settings, sandbox, morning_of(TUESDAY))
    rewrite(broken.path / "manifest.json", b"{")

    report = steps.load_landed(settings, MONDAY, WEDNESDAY)

    assert report.loaded == (same_day.manifest.sweep_id, next_day.manifest.sweep_id)
    assert "manifest.json" in report.problems[0]


def test_a_day_with_nothing_but_a_corrupt_sweep_fails_and_names_the_file(
    settings: Settings, sandbox: SandboxServer
) -> None:
    broken = land_at(settings, sandbox, morning_of(MONDAY))
    rewrite(broken.path / "answers.jsonl.gz", b"")

    with pytest.raises(NothingLandedError, match=r"answers\.jsonl\.gz"):
        steps.load_landed(settings, MONDAY, MONDAY)


def test_a_day_that_landing_does_not_hold_fails_with_its_date(settings: Settings) -> None:
    with pytest.raises(NothingLandedError, match=r"2026-11-03.*the past cannot be pulled"):
        steps.load_landed(settings, TUESDAY, TUESDAY)


def test_an_unreachable_source_leaves_nothing_behind(tmp_path: Path) -> None:
    settings = settings_at(tmp_path, "http://127.0.0.1:1/api/v1")

    with pytest.raises(SourceUnreachable):
        steps.land(settings, steps.utc_now, Progress("sweep"))

    assert Landing(settings.landing_dir).sweeps() == []


def test_a_folder_of_one_market_takes_no_sweep_of_another(
    settings: Settings, sandbox: SandboxServer
) -> None:
    land_at(settings, sandbox, morning_of(MONDAY))
    other = settings.model_copy(update={"market": "demo"})

    with pytest.raises(OtherMarketError, match="holds the live market"):
        land_at(other, sandbox, morning_of(TUESDAY))
    with pytest.raises(OtherMarketError, match="TOKENTAPE_DATA_DIR"):
        steps.load_landed(other, MONDAY, MONDAY)


def test_days_of_landing_are_counted(settings: Settings, sandbox: SandboxServer) -> None:
    land_at(settings, sandbox, morning_of(MONDAY))
    land_at(settings, sandbox, morning_of(MONDAY).replace(hour=18))
    land_at(settings, sandbox, morning_of(WEDNESDAY))

    assert steps.landed_days(settings, MONDAY, WEDNESDAY) == {MONDAY: 2, WEDNESDAY: 1}


def test_a_snapshot_holds_the_sweep_that_came_in_after_the_build(
    settings: Settings, sandbox: SandboxServer
) -> None:
    # As when another run loads a sweep between this run's build and its publication.
    models = load_sql_models()
    land_at(settings, sandbox, morning_of(MONDAY))
    steps.load_landed(settings, MONDAY, MONDAY)
    steps.build(settings, models)
    later = land_at(settings, sandbox, morning_of(TUESDAY))
    steps.load_landed(settings, TUESDAY, TUESDAY)

    snapshot = steps.publish(settings, models, morning_of(WEDNESDAY))

    manifest = json.loads((snapshot.path / "manifest.json").read_text())
    assert manifest["as_of_utc"].startswith("2026-11-03T06:17")
    prices = pl.read_parquet(snapshot.path / "market_table.parquet")
    assert set(prices["sweep_id"]) == {later.manifest.sweep_id}


def test_a_warehouse_rebuilt_from_landing_is_the_same(
    settings: Settings, sandbox: SandboxServer
) -> None:
    def checksum() -> str:
        steps.load_landed(settings, MONDAY, WEDNESDAY)
        load_landed_probes(settings, PROBED, WEDNESDAY)
        steps.build(settings, load_sql_models())
        with open_warehouse(settings) as warehouse:
            return warehouse.checksum()

    for day in (MONDAY, TUESDAY, WEDNESDAY):
        land_at(settings, sandbox, morning_of(day))
    for number in (1, 2):
        land_probe(settings.landing_dir, f"2026060{number}T000000Z-00000001", day=number)
    before = checksum()
    settings.warehouse_path.unlink()

    assert checksum() == before


def test_there_is_nothing_to_publish_before_the_first_sweep(settings: Settings) -> None:
    with pytest.raises(NothingLandedError, match="tokentape sync"):
        steps.publish(settings, load_sql_models(), morning_of(MONDAY))
