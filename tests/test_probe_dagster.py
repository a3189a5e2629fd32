"""The job `probe` as Dagster runs it: real streams, real landing, real warehouse and snapshot."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from probe_plans import QUICK, target, write_config
from small_market import land_at, settings_at

from pipeline import steps
from pipeline.assets.landed_sweep import FROM_LANDING
from pipeline.assets.probe_results import POOL, probe_until_stopped
from pipeline.definitions import build_definitions
from pipeline.duck import Database
from pipeline.landing.probe_runs import ProbeLanding
from pipeline.runs import open_instance, run_probe_job
from pipeline.sandbox.provider.process import ProviderProcess
from pipeline.sandbox.provider.script import Script
from pipeline.sandbox.server import SandboxServer
from pipeline.services import environment
from pipeline.settings import Settings
from pipeline.warehouse import open_warehouse

pytestmark = pytest.mark.usefixtures("dagster_home")

PAST = date(2026, 3, 31)
NEVER_DONE = Script(ttft_ms=(60_000, 60_000))
CANARY = "sk-canary-1f2e3d4c"
PROBE = (
    "from pipeline.runs import open_instance, run_probe_job\n"
    "from pipeline.settings import load_settings\n"
    "settings = load_settings()\n"
    "with open_instance(settings) as instance:\n"
    "    run_probe_job(settings, instance)\n"
)


@pytest.fixture
def settings(
    sandbox: SandboxServer,
    provider: ProviderProcess,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Settings:
    """Settings of two targets, and of a warehouse that holds a sweep."""
    monkeypatch.setenv("CANARY_KEY", CANARY)
    targets = [
        target(name, base_url=provider.base_url, api_key_env="CANARY_KEY", model_id=name)
        for name in ("acme/one", "acme/two")
    ]
    config = write_config(tmp_path, *targets, runs=3, warm_up=0)
    made = settings_at(tmp_path / "data", sandbox.url, probes_file=config, region="here")
    now = datetime.now(UTC)
    land_at(made, sandbox, now)
    steps.load_landed(made, now.date(), now.date())
    return made


def published(settings: Settings, sql: str) -> list[tuple[object, ...]]:
    """Ask the published snapshot; `{}` in ``sql`` is its folder."""
    with closing(Database.in_memory()) as database:
        return database.rows(sql.format(settings.published_dir / "current"))


def run_alone(
    settings: Settings, job: str, asset: str, day: date, **more: Any
) -> dg.ExecuteInProcessResult:
    """Run one asset of a job."""
    definition = build_definitions(settings).resolve_job_def(job)
    return definition.execute_in_process(
        partition_key=day.isoformat(),
        asset_selection=[dg.AssetKey(asset)],
        raise_on_error=False,
        **more,
    )


def failure_line(result: dg.ExecuteInProcessResult) -> str:
    [failure] = [event for event in result.all_events if event.is_step_failure]
    description = failure.step_failure_data.user_failure_data.description
    assert description is not None
    return description


def probe_rows(settings: Settings) -> list[tuple[object, ...]]:
    with open_warehouse(settings) as warehouse:
        return warehouse.database.rows(
            "select run_id, target, outcome, sent_ns, chunk_ns from raw.probe_requests order by all"
        )


def test_a_probe_goes_from_the_measurement_to_the_snapshot_and_its_samples_can_be_read_again(
    settings: Settings, provider: ProviderProcess, tmp_path: Path
) -> None:
    with open_instance(settings) as instance:
        outcome = run_probe_job(settings, instance)

        assert (outcome.failure, outcome.problems) == (None, ())
        assert (outcome.facts["requests"], outcome.facts["ok"]) == (6, 6)
        assert outcome.facts["runs_loaded"] == 1
        summaries = published(
            settings,
            "select distinct model_id, region, requests, n "
            "from '{}/probe_summary.parquet' order by all",
        )
        assert summaries == [("acme/one", "here", 3, 3), ("acme/two", "here", 3, 3)]
        rows = probe_rows(settings)
        provider.truth()

    settings.warehouse_path.unlink()
    [run] = ProbeLanding(settings.landing_dir).runs()
    again = run_alone(settings, "daily", "probe_samples", run.manifest.partition_date)

    assert again.success
    assert probe_rows(settings) == rows
    assert provider.truth() == []
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or CANARY.encode() not in path.read_bytes(), path


def test_a_past_day_is_never_measured(settings: Settings, provider: ProviderProcess) -> None:
    today = datetime.now(UTC).date()

    past = run_alone(settings, "probe", "probe_results", PAST)
    from_landing = run_alone(settings, "probe", "probe_results", today, tags={FROM_LANDING: "true"})

    line = failure_line(past)
    assert line.startswith("landing holds no probe of 2026-03-31")
    assert "\n" not in line
    assert failure_line(from_landing).startswith("landing holds no probe of")
    assert provider.truth() == []


def test_what_came_before_a_probe_was_stopped_is_landed(
    settings: Settings, provider: ProviderProcess
) -> None:
    assert settings.probes_file is not None
    config = json.loads(settings.probes_file.read_text())
    settings.probes_file.write_text(json.dumps(config | {"runs": 1000, "rounds": 1000}))

    main = threading.get_ident()

    def stop_after_an_answer() -> None:
        # The self-check has a provider of its own.
        while not provider.truth():
            time.sleep(0.02)
        signal.pthread_kill(main, signal.SIGINT)

    stopper = threading.Thread(target=stop_after_an_answer)
    stopper.start()
    with pytest.raises(KeyboardInterrupt):
        probe_until_stopped(settings, steps.utc_now)
    stopper.join()

    [landed] = ProbeLanding(settings.landing_dir).runs()
    assert landed.manifest.is_interrupted
    assert landed.manifest.ok >= 1


def test_a_probe_that_was_killed_does_not_keep_the_next_one_waiting(
    settings: Settings, provider: ProviderProcess
) -> None:
    provider.set_script(NEVER_DONE)
    killed = subprocess.Popen(
        [sys.executable, "-c", PROBE],
        env=environment(settings),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    landing = ProbeLanding(settings.landing_dir)
    while not list(settings.landing_dir.glob("probes/*/*")):
        assert killed.poll() is None
        time.sleep(0.05)

    killed.kill()
    killed.wait()
    provider.set_script(QUICK)
    with open_instance(settings) as instance:
        [dead] = instance.get_runs()
        slots = instance.event_log_storage.get_concurrency_info(POOL)
        today = datetime.now(UTC).date()
        result = run_alone(settings, "probe", "probe_results", today, instance=instance)

    assert dead.status is dg.DagsterRunStatus.FAILURE
    assert (slots.slot_count, slots.active_slot_count) == (1, 0)
    assert result.success
    assert [run.manifest.ok for run in landing.runs()] == [6]
