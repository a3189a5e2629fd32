"""The job as Dagster runs it: real HTTP, real landing, real warehouse, real snapshot."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import dagster as dg
import pytest
from small_market import (
    LLAMA,
    STANDARD_MODELS,
    days_before,
    land_at,
    morning_of,
    settings_at,
)

from pipeline.assets.landed_sweep import SCHEDULED
from pipeline.assets.probe_checks import CHECKS as PROBE_CHECKS
from pipeline.definitions import build_definitions
from pipeline.landing import Landing
from pipeline.measuring import measuring
from pipeline.runs import run_landed_days
from pipeline.sandbox.faults import Fault
from pipeline.sandbox.server import SandboxServer
from pipeline.services import environment
from pipeline.settings import Settings
from pipeline.steps import SWEEPS_PER_HOLD
from pipeline.warehouse import open_warehouse

PAST = date(2026, 3, 31)
RUNS_AT_ONCE = 5
# Processes of their own, forked when all is imported: so they begin at the same moment.
SYNC_AT_ONCE = """
import os, sys
from pathlib import Path
from pipeline import cli
from pipeline.commands import sync

logs = [Path(name).open("w") for name in sys.argv[1:]]
runs = []
for log in logs:
    runs.append(os.fork())
    if runs[-1] == 0:
        os.dup2(log.fileno(), sys.stderr.fileno())
        cli.main(["sync"])
print(*(os.waitstatus_to_exitcode(os.waitpid(run, 0)[1]) for run in runs))
"""


@pytest.fixture
def settings(sandbox: SandboxServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "dagster"))
    return settings_at(tmp_path / "data", sandbox.url)


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as empty:
        yield empty


def run_daily(
    settings: Settings, day: date, clock: datetime, tags: dict[str, str] | None = None
) -> dg.ExecuteInProcessResult:
    job = build_definitions(settings, lambda: clock).resolve_job_def("daily")
    with dg.DagsterInstance.ephemeral() as instance:
        return job.execute_in_process(
            instance=instance, partition_key=day.isoformat(), raise_on_error=False, tags=tags
        )


def sweeps_by_day(settings: Settings) -> list[tuple[date, int]]:
    with open_warehouse(settings) as warehouse:
        return warehouse.database.rows(
            "select partition_date, count(*) from raw.sweeps group by all order by all"
        )


def failure_lines(result: dg.ExecuteInProcessResult) -> list[str]:
    events = [event for event in result.all_events if event.is_step_failure]
    return [event.step_failure_data.user_failure_data.description for event in events]


def published_manifest(settings: Settings) -> dict[str, object]:
    return json.loads((settings.published_dir / "current" / "manifest.json").read_text())


def test_a_run_of_today_goes_from_the_source_to_the_snapshot(settings: Settings) -> None:
    now = datetime.now(UTC)

    result = run_daily(settings, now.date(), now)

    assert result.success
    checks = {check.check_name: check.passed for check in result.get_asset_check_evaluations()}
    assert checks.keys() == {"freshness", "coverage", "quarantine", "soft_rules", *PROBE_CHECKS}
    assert checks["freshness"]
    assert checks["coverage"]
    [table] = result.asset_materializations_for_node("marts__provider_table")
    assert table.metadata["dagster/row_count"].value > STANDARD_MODELS
    assert sweeps_by_day(settings) == [(now.date(), 1)]
    assert (settings.published_dir / "current" / "models" / f"{LLAMA}.json").exists()


def test_a_past_day_that_nothing_holds_fails_once_with_one_clear_line(
    settings: Settings, sandbox: SandboxServer
) -> None:
    asked_before = len(sandbox.requests.paths)

    result = run_daily(settings, PAST, datetime.now(UTC))

    assert not result.success
    [line] = failure_lines(result)
    assert "landing holds no sweep of 2026-03-31" in line
    assert "\n" not in line
    assert not [event for event in result.all_events if event.is_step_up_for_retry]
    assert len(sandbox.requests.paths) == asked_before


def test_a_person_who_waits_is_told_at_once_that_the_source_does_not_answer(
    settings: Settings,
) -> None:
    now = datetime.now(UTC)
    nobody = settings.model_copy(update={"openrouter_url": "http://127.0.0.1:1/api/v1"})

    result = run_daily(nobody, now.date(), now)

    assert not [event for event in result.all_events if event.is_step_up_for_retry]
    [line] = failure_lines(result)
    assert "no answer from http://127.0.0.1:1/api/v1" in line


def test_a_scheduled_run_asks_a_source_that_does_not_answer_again_and_then_fails_with_one_line(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipeline.assets.landed_sweep.FIRST_RETRY_AFTER_S", 0)
    now = datetime.now(UTC)
    nobody = settings.model_copy(update={"openrouter_url": "http://127.0.0.1:1/api/v1"})

    result = run_daily(nobody, now.date(), now, {SCHEDULED: "daily_at_fixed_minute"})

    assert len([event for event in result.all_events if event.is_step_up_for_retry]) == 2
    [line] = failure_lines(result)
    assert "no answer from http://127.0.0.1:1/api/v1" in line


def test_a_scheduled_run_does_not_give_a_day_up_for_a_probe_that_is_measuring(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipeline.assets.landed_sweep.FIRST_RETRY_AFTER_S", 0)
    now = datetime.now(UTC)
    impatient = settings.model_copy(update={"warehouse_lock_timeout_s": 0})

    with measuring(impatient):
        result = run_daily(impatient, now.date(), now, {SCHEDULED: "daily_at_fixed_minute"})

    assert len([event for event in result.all_events if event.is_step_up_for_retry]) == 2
    assert all("is measuring" in line for line in failure_lines(result))


def test_a_past_day_is_filled_from_landing(
    settings: Settings, sandbox: SandboxServer, instance: dg.DagsterInstance
) -> None:
    land_at(settings, sandbox, morning_of(PAST))
    job = build_definitions(settings).resolve_job_def("daily")

    result = job.execute_in_process(
        instance=instance,
        partition_key=PAST.isoformat(),
        asset_selection=[dg.AssetKey("landed_sweep"), dg.AssetKey("market")],
    )

    assert result.success
    assert sweeps_by_day(settings) == [(PAST, 1)]


def test_two_weeks_come_from_landing_in_a_single_run(
    settings: Settings, sandbox: SandboxServer, instance: dg.DagsterInstance
) -> None:
    # More than go into the warehouse at one hold of it.
    days = days_before(PAST, 14)
    missing = {days[3], days[9]}
    assert len(days) - len(missing) > SWEEPS_PER_HOLD
    for day in days:
        if day not in missing:
            land_at(settings, sandbox, morning_of(day))

    outcome = run_landed_days(settings, days[0], days[-1], instance)

    assert outcome.failure is None
    assert outcome.missing_days == tuple(sorted(day.isoformat() for day in missing))
    assert sweeps_by_day(settings) == [(day, 1) for day in days if day not in missing]
    assert published_manifest(settings)["sweeps"]["count"] == 12
    assert len(instance.get_runs()) == 1
    filled = instance.get_materialized_partitions(dg.AssetKey("market"))
    assert filled == {day.isoformat() for day in days}


def test_a_run_from_landing_never_asks_the_source(
    settings: Settings, sandbox: SandboxServer, instance: dg.DagsterInstance
) -> None:
    today = datetime.now(UTC).date()
    asked_before = len(sandbox.requests.paths)

    outcome = run_landed_days(settings, today, today, instance)

    assert "landing holds no sweep" in outcome.failure
    assert len(sandbox.requests.paths) == asked_before


@pytest.mark.usefixtures("dagster_home")
def test_a_stopped_run_is_not_tried_again_and_keeps_the_answers_that_came(
    settings: Settings, sandbox: SandboxServer
) -> None:
    sandbox.set_faults(Fault("latency", path="/models/*/endpoints", value=1000))
    asked_before = len(sandbox.requests.paths)
    run = subprocess.Popen(
        [sys.executable, "-m", "pipeline.cli", "sync"],
        env=environment(settings),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    while run.poll() is None and len(sandbox.requests.paths) < asked_before + 2:
        time.sleep(0.02)

    run.send_signal(signal.SIGINT)
    _, said = run.communicate()

    assert run.returncode == 1
    assert said.splitlines()[-1].startswith("tokentape: stopped; what is in stays")
    [kept] = Landing(settings.landing_dir).recover(datetime.now(UTC))
    assert kept.manifest.is_interrupted
    assert kept.manifest.answers >= 1


@pytest.mark.long
@pytest.mark.timeout(300)
def test_five_runs_at_once_all_succeed_one_after_the_other(
    settings: Settings, tmp_path: Path
) -> None:
    logs = [tmp_path / f"{number}.log" for number in range(RUNS_AT_ONCE)]

    ended = subprocess.run(
        [sys.executable, "-c", SYNC_AT_ONCE, *map(str, logs)],
        env=environment(settings),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )

    said = [log.read_text() for log in logs]
    assert ended.stdout.splitlines()[-1].split() == ["0"] * RUNS_AT_ONCE, said
    [(_, sweeps)] = sweeps_by_day(settings)
    assert sweeps == RUNS_AT_ONCE
    assert published_manifest(settings)["sweeps"]["count"] == RUNS_AT_ONCE
