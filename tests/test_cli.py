"""The command line: what it does, what it says, and the exit code it ends with."""

from __future__ import annotations

import json
import socket
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from command_line import Tokentape
from small_market import LLAMA, land_at, morning_of, settings_at

from pipeline import cli
from pipeline.commands.outcomes import tell_problems
from pipeline.runs import RunOutcome
from pipeline.sandbox.faults import Fault
from pipeline.sandbox.server import SandboxServer

NOBODY = "http://127.0.0.1:1/api/v1"


@pytest.fixture
def tokentape(
    tokentape: Tokentape, sandbox: SandboxServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Tokentape:
    """Run the command line against the sandbox."""
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "dagster"))
    monkeypatch.setenv("TOKENTAPE_OPENROUTER_URL", sandbox.url)
    monkeypatch.setenv("TOKENTAPE_MAX_RETRIES", "0")
    return tokentape


def snapshot_of(folder: Path) -> dict[str, object]:
    return json.loads((folder / "current" / "manifest.json").read_text())


def test_the_help_needs_no_readme(tokentape: Tokentape) -> None:
    ended = tokentape("--help")

    assert ended.code == 0
    for word in (*cli.COMMANDS, "TOKENTAPE_DATA_DIR", "OPENROUTER_API_KEY", "Exit codes"):
        assert word in ended.out


@pytest.mark.parametrize("command", list(cli.COMMANDS))
def test_the_help_of_a_command_tells_its_exit_codes(tokentape: Tokentape, command: str) -> None:
    ended = tokentape(command, "--help")

    assert ended.code == 0
    assert "Exit codes: 0 done" in ended.out
    assert "--debug" in ended.out


@pytest.mark.parametrize("arguments", [["snc"], ["sync", "--fast"], ["backfill", "--from", "May"]])
def test_wrong_use_is_one_line_that_names_the_help(
    tokentape: Tokentape, arguments: list[str]
) -> None:
    ended = tokentape(*arguments)

    assert ended.code == 2
    assert "--help" in ended.line


@pytest.mark.parametrize("command", ["up", "sync", "backfill", "publish", "demo"])
def test_a_wrong_setting_is_refused_in_one_line(
    tokentape: Tokentape, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setenv("TOKENTAPE_SWEEP_AT_UTC", "noon")

    ended = tokentape(command)

    assert ended.code == 2
    assert "TOKENTAPE_SWEEP_AT_UTC='noon' is not usable" in ended.line


def test_the_doctor_tells_a_wrong_setting_as_a_finding(
    tokentape: Tokentape, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKENTAPE_APP_PORT", "0")

    ended = tokentape("doctor")

    assert (ended.code, ended.err) == (1, "")
    assert ended.out.startswith("fail  settings   TOKENTAPE_APP_PORT")


def test_the_doctor_finds_nothing_to_fail_in_a_new_installation(tokentape: Tokentape) -> None:
    ended = tokentape("doctor")

    assert ended.code == 0
    assert {line.split()[0] for line in ended.out.splitlines()} == {"ok", "warn"}


def test_a_sync_leaves_a_snapshot_and_a_rebuild_the_same_warehouse(
    tokentape: Tokentape, tmp_path: Path
) -> None:
    assert tokentape("sync").code == 0
    synced = snapshot_of(tmp_path / "data" / "published")
    before = tokentape("doctor", "--checksum")
    (tmp_path / "data" / "warehouse.duckdb").unlink()

    assert tokentape("backfill").code == 0

    assert tokentape("doctor", "--checksum") == before
    assert snapshot_of(tmp_path / "data" / "published") == synced


@pytest.mark.usefixtures("dagster_home")
def test_a_partial_sweep_is_published_and_told(
    tokentape: Tokentape, sandbox: SandboxServer, tmp_path: Path
) -> None:
    sandbox.set_faults(Fault("not_found", path=f"/models/{LLAMA}/endpoints"))

    ended = tokentape("sync")

    assert ended.code == 3
    assert "partial" in ended.line
    assert f"/models/{LLAMA}/endpoints" in ended.line
    assert snapshot_of(tmp_path / "data" / "published")["market"] == "live"


@pytest.mark.parametrize(
    ("are_days_asked_for", "code", "said"),
    [
        (True, 3, "tokentape: landing holds no sweep of 2 of the days: 2026-03-30, 2026-03-31\n"),
        (False, 0, ""),
    ],
)
def test_days_that_landing_lacks_are_told_to_those_who_asked_for_them(
    capsys: pytest.CaptureFixture[str], are_days_asked_for: bool, code: int, said: str
) -> None:
    outcome = RunOutcome("run", missing_days=("2026-03-30", "2026-03-31"))

    assert tell_problems(outcome, are_days_asked_for=are_days_asked_for) == code

    assert capsys.readouterr().err == said


@pytest.mark.usefixtures("dagster_home")
def test_a_backfill_of_days_that_nothing_holds_fails(tokentape: Tokentape, tmp_path: Path) -> None:
    ended = tokentape("backfill", "--from", "2026-03-30", "--to", "2026-03-31")

    assert ended.code == 1
    assert "landing holds no sweep of 2026-03-30 to 2026-03-31" in ended.line
    assert not (tmp_path / "data" / "published").exists()


@pytest.mark.usefixtures("dagster_home")
def test_a_backfill_of_everything_tells_of_a_damaged_sweep_and_loads_the_others(
    tokentape: Tokentape, sandbox: SandboxServer, tmp_path: Path
) -> None:
    settings = settings_at(tmp_path / "data", sandbox.url)
    damaged = land_at(settings, sandbox, morning_of(date(2026, 3, 30)))
    land_at(settings, sandbox, morning_of(date(2026, 3, 31)))
    (damaged.path / "manifest.json").chmod(0o644)
    (damaged.path / "manifest.json").write_bytes(b"{")

    ended = tokentape("backfill")

    assert ended.code == 3
    assert f"{damaged.manifest.sweep_id}/manifest.json is no manifest" in ended.line
    assert "sweeps loaded: 1, in already: 0" in ended.out


def test_a_backfill_of_an_empty_landing_says_what_to_run(tokentape: Tokentape) -> None:
    ended = tokentape("backfill")

    assert ended.code == 1
    assert "tokentape sync" in ended.line


def test_days_of_a_backfill_must_be_in_order_and_past(tokentape: Tokentape) -> None:
    tomorrow = (datetime.now(UTC).date() + timedelta(days=1)).isoformat()

    backwards = tokentape("backfill", "--from", "2026-03-31", "--to", "2026-03-30")
    ahead = tokentape("backfill", "--from", "2026-03-31", "--to", tomorrow)

    assert (backwards.code, ahead.code) == (2, 2)
    assert "in the future" in ahead.line


def test_there_is_nothing_to_publish_at_first(tokentape: Tokentape) -> None:
    ended = tokentape("publish")

    assert ended.code == 1
    assert "tokentape sync" in ended.line


def test_up_without_a_network_names_the_demo_in_one_line(
    tokentape: Tokentape, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKENTAPE_OPENROUTER_URL", NOBODY)

    ended = tokentape("up", "--no-serve")

    assert ended.code == 1
    assert "make demo" in ended.line
    assert NOBODY in ended.line


def test_up_refuses_a_taken_port_before_it_does_anything(
    tokentape: Tokentape, sandbox: SandboxServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked_before = len(sandbox.requests.paths)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        monkeypatch.setenv("TOKENTAPE_APP_PORT", str(other.getsockname()[1]))

        ended = tokentape("up")

    assert ended.code == 2
    assert "TOKENTAPE_APP_PORT" in ended.line
    assert len(sandbox.requests.paths) == asked_before


def test_app_and_dagster_need_a_port_each(
    tokentape: Tokentape, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKENTAPE_DAGSTER_PORT", "8501")

    ended = tokentape("demo")

    assert ended.code == 2
    assert "both 8501" in ended.line


def test_an_unforeseen_error_is_one_line_and_its_trace_is_kept_for_debugging(
    tokentape: Tokentape, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("the disk\ncaught fire")

    monkeypatch.setattr("pipeline.steps.publish", broken)

    ended = tokentape("publish")

    assert ended.code == 1
    assert ended.line == (
        "tokentape: unexpected RuntimeError: the disk caught fire; --debug shows where"
    )
