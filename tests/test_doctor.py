"""What the doctor finds, and what it advises."""

from __future__ import annotations

import fcntl
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from small_market import LLAMA, land_at, settings_at

from pipeline import doctor
from pipeline.doctor import Finding, examine
from pipeline.sandbox.faults import Fault
from pipeline.sandbox.server import SandboxServer
from pipeline.settings import Settings

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@pytest.fixture
def settings(sandbox: SandboxServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "dagster"))
    return settings_at(tmp_path / "data", sandbox.url)


def finding(settings: Settings, subject: str) -> Finding:
    return next(each for each in examine(settings, NOW) if each.subject == subject)


def put_snapshot(settings: Settings, market: str) -> None:
    folder = settings.published_dir / "current"
    folder.mkdir(parents=True)
    manifest = {"snapshot_id": "s1", "market": market, "as_of_utc": "2026-11-30T06:17:00Z"}
    (folder / "manifest.json").write_text(json.dumps(manifest))


def test_every_finding_is_one_line_and_all_but_ok_have_a_remedy(settings: Settings) -> None:
    findings = list(examine(settings, NOW))

    assert [each.subject for each in findings] == [
        "settings",
        "versions",
        "network",
        "disk",
        "warehouse",
        "dagster",
        "last sweep",
        "snapshot",
    ]
    assert all("\n" not in str(each) for each in findings)
    assert all(each.remedy for each in findings if each.level != "ok")


def test_a_fresh_installation_has_warnings_and_no_failure(settings: Settings) -> None:
    levels = {each.subject: each.level for each in examine(settings, NOW)}

    assert levels["last sweep"] == levels["snapshot"] == "warn"
    assert "fail" not in levels.values()


def test_looking_changes_nothing(settings: Settings) -> None:
    list(examine(settings, NOW))

    assert not settings.data_dir.exists()


def test_a_source_that_is_not_there_fails_and_the_demo_is_offered(tmp_path: Path) -> None:
    found = finding(settings_at(tmp_path, "http://127.0.0.1:1"), "network")

    assert found.level == "fail"
    assert "make demo" in str(found)


def test_a_source_in_trouble_is_a_warning(settings: Settings, sandbox: SandboxServer) -> None:
    sandbox.set_faults(Fault("http_503"))

    assert finding(settings, "network").level == "warn"


def test_a_source_that_turns_us_away_fails(settings: Settings, sandbox: SandboxServer) -> None:
    sandbox.set_faults(Fault("http_403"))

    found = finding(settings, "network")

    assert found.level == "fail"
    assert "OPENROUTER_API_KEY" in str(found)


@pytest.mark.parametrize(("age", "level"), [(26, "ok"), (27, "warn")])
def test_a_sweep_may_be_a_day_and_two_hours_old(
    settings: Settings, sandbox: SandboxServer, age: int, level: str
) -> None:
    land_at(settings, sandbox, NOW - timedelta(hours=age))

    assert finding(settings, "last sweep").level == level


def test_a_partial_sweep_is_a_warning(settings: Settings, sandbox: SandboxServer) -> None:
    sandbox.set_faults(Fault("not_found", path=f"/models/{LLAMA}/endpoints"))
    land_at(settings, sandbox, NOW)

    found = finding(settings, "last sweep")

    assert found.level == "warn"
    assert "partial" in found.found


def test_a_held_warehouse_names_who_holds_it(settings: Settings) -> None:
    settings.data_dir.mkdir(parents=True)
    lock = settings.warehouse_path.with_name("warehouse.duckdb.lock")
    lock.write_text("process 4711")
    with lock.open("r") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)

        found = finding(settings, "warehouse")

    assert found.level == "warn"
    assert "process 4711" in found.found


def test_a_snapshot_of_the_same_market_is_fine(settings: Settings) -> None:
    put_snapshot(settings, "live")

    assert finding(settings, "snapshot").level == "ok"


def test_a_snapshot_of_another_market_fails(settings: Settings) -> None:
    put_snapshot(settings, "demo")

    assert finding(settings, "snapshot").level == "fail"


@pytest.mark.parametrize(("free_gib", "level"), [(100, "ok"), (2, "warn"), (0.1, "fail")])
def test_a_disk_that_fills_up_is_told_before_it_is_full(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, free_gib: float, level: str
) -> None:
    monkeypatch.setattr(doctor, "LOW_DISK_GIB", free_on(settings) / free_gib * 5)
    monkeypatch.setattr(doctor, "FULL_DISK_GIB", free_on(settings) / free_gib * 0.5)

    assert finding(settings, "disk").level == level


def free_on(settings: Settings) -> float:
    return doctor.shutil.disk_usage(settings.data_dir.parent).free / 2**30


def test_a_package_that_is_not_the_locked_one_is_told(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "requirements.lock").write_text("duckdb==0.0.1 \\\n    --hash=sha256:00\n")
    monkeypatch.setattr(doctor, "ROOT", tmp_path)

    found = finding(settings, "versions")

    assert found.level == "warn"
    assert "the lock says 0.0.1" in found.found
