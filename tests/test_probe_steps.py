"""Measure and load probes: the steps as they are without Dagster."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from probe_plans import target, write_config
from probe_runs import begin, land, transcript
from small_market import settings_at

from pipeline.landing.probe_runs import ProbeLanding
from pipeline.landing.probe_writer import SEALED_RECORDS
from pipeline.loading import NothingLandedError, OtherMarketError
from pipeline.probe_steps import (
    NothingMeasuredError,
    landed_probe_days,
    load_landed_probes,
    probe,
)
from pipeline.progress import Progress
from pipeline.settings import Settings
from pipeline.warehouse import open_warehouse

FIRST, SECOND, THIRD = date(2026, 6, 1), date(2026, 6, 2), date(2026, 6, 3)
NOON = datetime(2026, 6, 3, 12, 0, tzinfo=UTC)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return settings_at(tmp_path / "data", "http://127.0.0.1:1/api/v1")


def run_id(number: int, day: int = 1) -> str:
    return f"2026060{day}T000000Z-0000000{number}"


def land_two_days(settings: Settings) -> None:
    for number, day in ((1, 1), (2, 1), (3, 2)):
        land(settings.landing_dir, run_id(number, day), day)


def test_landed_probes_come_in_once_oldest_first(settings: Settings) -> None:
    land_two_days(settings)

    first = load_landed_probes(settings, FIRST, SECOND)
    second = load_landed_probes(settings, FIRST, SECOND)

    assert first.loaded == (run_id(1), run_id(2), run_id(3, day=2))
    assert (first.known, first.rows, first.quarantined) == (0, 6, 0)
    assert (second.loaded, second.known) == ((), 3)


def test_only_the_probes_of_the_days_asked_for_are_loaded(settings: Settings) -> None:
    land_two_days(settings)

    load_landed_probes(settings, SECOND, THIRD)

    with open_warehouse(settings) as warehouse:
        assert warehouse.loaded_run_ids() == {run_id(3, day=2)}


def test_days_without_a_probe_load_nothing_and_need_no_warehouse(settings: Settings) -> None:
    report = load_landed_probes(settings, FIRST, THIRD)

    assert (report.loaded, report.known, report.problems) == ((), 0, ())
    assert not settings.warehouse_path.exists()


def test_a_damaged_probe_is_named_and_the_others_go_in(settings: Settings) -> None:
    land_two_days(settings)
    broken = ProbeLanding(settings.landing_dir).runs()[1].path / SEALED_RECORDS
    broken.chmod(0o644)
    broken.write_bytes(b"not what was sealed")

    report = load_landed_probes(settings, FIRST, SECOND)

    assert report.loaded == (run_id(1), run_id(3, day=2))
    [problem] = report.problems
    assert str(broken) in problem


def test_what_a_killed_probe_left_is_found_and_loaded(settings: Settings) -> None:
    with begin(settings.landing_dir) as writer:
        writer.add_transcripts([transcript()])

    assert landed_probe_days(settings, FIRST, THIRD) == {FIRST: 1}
    assert load_landed_probes(settings, FIRST, THIRD).rows == 1
    with open_warehouse(settings) as warehouse:
        assert warehouse.database.rows("select is_interrupted from raw.probe_runs") == [(True,)]


def test_probes_of_another_market_are_not_mixed_in(settings: Settings) -> None:
    land(settings.landing_dir)
    demo = settings.model_copy(update={"market": "demo"})

    with pytest.raises(OtherMarketError, match=r"the live market \(probe .*settings say demo"):
        load_landed_probes(demo, FIRST, FIRST)


def test_days_that_landing_holds_are_counted(settings: Settings) -> None:
    land_two_days(settings)

    assert landed_probe_days(settings, FIRST, THIRD) == {FIRST: 2, SECOND: 1}


def test_days_that_landing_does_not_hold_fail_with_their_dates(settings: Settings) -> None:
    land_two_days(settings)

    with pytest.raises(NothingLandedError, match=r"2026-06-03.*past day cannot be made up"):
        landed_probe_days(settings, THIRD, THIRD)


def test_a_probe_that_could_ask_nobody_says_so_and_leaves_nothing(
    settings: Settings, tmp_path: Path
) -> None:
    targets = [target(name, api_key_env=f"{name.upper()}_KEY_OF_NOBODY") for name in ("a", "b")]
    config = write_config(tmp_path, *targets)
    mine = settings.model_copy(update={"probes_file": config})

    with pytest.raises(NothingMeasuredError, match="the first, a: A_KEY_OF_NOBODY is not set"):
        probe(mine, lambda: NOON, Progress("probe"))

    assert not settings.landing_dir.exists()
