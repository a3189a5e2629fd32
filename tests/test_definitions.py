"""What Dagster is given to see, and when sweeps and probes are asked for."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import dagster as dg
import pytest
import yaml
from dagster._core.errors import DagsterError
from small_market import SmallMarket, land_at, settings_at

from pipeline.assets.days import DAYS
from pipeline.definitions import build_definitions
from pipeline.probes.config import ProbeConfigError
from pipeline.sandbox.server import SandboxServer
from pipeline.sql_models import load_sql_models

# A tick is evaluated beside an instance.
pytestmark = pytest.mark.usefixtures("dagster_home")

ROOT = Path(__file__).resolve().parents[1]
NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
DUE = datetime(2026, 11, 30, 6, 17, tzinfo=UTC)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> dg.RepositoryDefinition:
    settings = settings_at(tmp_path_factory.mktemp("data"), "http://127.0.0.1:1")
    return build_definitions(settings, lambda: NOON).get_repository_def()


def all_assets(repository: dg.RepositoryDefinition) -> list[dg.AssetsDefinition]:
    return list(repository.assets_defs_by_key.values())


def test_every_sql_file_is_an_asset_that_tells_what_it_holds(
    repository: dg.RepositoryDefinition,
) -> None:
    models = load_sql_models()

    assert models
    for model in models:
        key = dg.AssetKey([model.schema, model.name])
        spec = repository.assets_defs_by_key[key].get_asset_spec(key)
        columns = spec.metadata["dagster/column_schema"].columns
        assert spec.description.startswith(model.title)
        assert model.grain in spec.description
        assert [column.name for column in columns] == [column.name for column in model.columns]
        assert all(column.description for column in columns)
        assert spec.code_version == model.fingerprint
        assert spec.group_name == model.schema


def test_a_sql_asset_depends_on_what_its_query_reads(repository: dg.RepositoryDefinition) -> None:
    graph = repository.asset_graph

    def parents(*path: str) -> set[str]:
        return {key.to_user_string() for key in graph.get(dg.AssetKey(path)).parent_keys}

    assert parents("staging", "stg_endpoints") == {"market"}
    assert parents("staging", "stg_probe_requests") == {"probe_samples"}
    assert parents("market") == {"landed_sweep"}
    assert parents("probe_samples") == {"probe_results"}
    assert parents("staging", "stg_model_cards") == {"model_cards"}
    assert parents("staging", "stg_hand_kept_facts") == {"model_cards"}
    assert parents("model_cards") == {"landed_model_cards"}
    assert "marts/provider_table" in parents("published_snapshot")


def test_all_partitioned_assets_share_their_days_and_all_assets_run_as_one(
    repository: dg.RepositoryDefinition,
) -> None:
    for asset in all_assets(repository):
        assert asset.partitions_def in (None, DAYS)
        assert asset.backfill_policy == dg.BackfillPolicy.single_run()


def test_no_job_asks_more_than_one_source(repository: dg.RepositoryDefinition) -> None:
    everything = {key.to_user_string() for key in repository.asset_graph.get_all_asset_keys()}

    def left_out(job: str) -> set[str]:
        keys = repository.get_job(job).asset_layer.executable_asset_keys
        return everything - {key.to_user_string() for key in keys}

    assert left_out("daily") == {"probe_results", "landed_model_cards"}
    assert left_out("probe") == {"landed_sweep", "market", "landed_model_cards"}
    assert left_out("facts") == {"landed_sweep", "market", "probe_results", "probe_samples"}


def test_today_has_a_partition_today() -> None:
    keys = DAYS.get_partition_keys(current_time=NOON)

    assert keys[0] == "2023-01-01"
    assert keys[-1] == "2026-11-30"


def tick(
    repository: dg.RepositoryDefinition, due: datetime, name: str = "daily_at_fixed_minute"
) -> dg.RunRequest | dg.SkipReason:
    schedule = repository.get_schedule_def(name)
    # A context that is not left by itself leaves the instance late, within some other test.
    with (
        dg.DagsterInstance.get() as instance,
        dg.build_schedule_context(
            scheduled_execution_time=due, repository_def=repository, instance=instance
        ) as context,
    ):
        answer = schedule.evaluate_tick(context)
    if answer.skip_message:
        return dg.SkipReason(answer.skip_message)
    return answer.run_requests[0]


def test_the_schedule_is_on_and_asks_for_today(repository: dg.RepositoryDefinition) -> None:
    schedule = repository.get_schedule_def("daily_at_fixed_minute")

    request = tick(repository, DUE)

    assert schedule.cron_schedule == "17 6 * * *"
    assert schedule.execution_timezone == "UTC"
    assert schedule.default_status is dg.DefaultScheduleStatus.RUNNING
    assert schedule.job_name == "daily"
    assert request.partition_key == "2026-11-30"


def test_the_schedule_follows_the_setting(tmp_path: Path) -> None:
    settings = settings_at(tmp_path, "http://127.0.0.1:1", sweep_at_utc="22:05")

    repository = build_definitions(settings).get_repository_def()

    assert repository.get_schedule_def("daily_at_fixed_minute").cron_schedule == "5 22 * * *"


def test_a_tick_of_a_day_that_is_over_is_skipped(repository: dg.RepositoryDefinition) -> None:
    yesterday = DUE.replace(day=29)

    skipped = tick(repository, yesterday)

    assert "2026-11-29 is over" in skipped.skip_message


@pytest.mark.parametrize(
    ("swept_at", "is_asked_again"),
    [(DUE.replace(hour=5), True), (DUE.replace(hour=9), False)],
    ids=["a sweep before the tick", "a sweep after the tick"],
)
def test_a_late_tick_does_not_repeat_a_sweep_made_after_it_was_due(
    tmp_path: Path, swept_at: datetime, is_asked_again: bool
) -> None:
    with SandboxServer(SmallMarket()) as sandbox:
        settings = settings_at(tmp_path, sandbox.url)
        land_at(settings, sandbox, swept_at)

    answer = tick(build_definitions(settings, lambda: NOON).get_repository_def(), DUE)

    assert isinstance(answer, dg.RunRequest) is is_asked_again


def probing(folder: Path, **config: object) -> dg.RepositoryDefinition:
    """Return the definitions of an installation with a configuration of its own."""
    targets = [
        {"name": "a", "base_url": "https://api.groq.com/v1", "model": "m"},
        {"name": "b", "base_url": "https://x.test/v1", "model": "m", "api_key_env": "B_KEY"},
    ]
    path = folder / "probes.json"
    path.write_text(json.dumps({"providers": targets} | config))
    settings = settings_at(folder, "http://127.0.0.1:1", probes_file=path)
    return build_definitions(settings, lambda: NOON).get_repository_def()


def test_probes_are_off_until_somebody_has_said_what_to_probe(
    repository: dg.RepositoryDefinition, tmp_path: Path
) -> None:
    shipped = repository.get_schedule_def("probes")
    own = probing(tmp_path, schedule="5 */6 * * *").get_schedule_def("probes")

    assert shipped.default_status is dg.DefaultScheduleStatus.STOPPED
    assert own.default_status is dg.DefaultScheduleStatus.RUNNING
    assert own.cron_schedule == "5 */6 * * *"
    assert own.execution_timezone == "UTC"
    assert own.job_name == "probe"
    assert not probing(tmp_path).has_schedule_def("probes")


def test_a_probe_is_asked_for_where_any_target_has_a_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GROQ_API_KEY", raising=False)
    monkeypatch.setenv("B_KEY", " ")
    repository = probing(tmp_path, schedule="17 6 * * *")

    without = tick(repository, DUE, "probes")
    late = tick(repository, DUE.replace(day=29), "probes")
    (tmp_path / ".env").write_text("B_KEY=sk-b\n")
    monkeypatch.delenv("B_KEY")
    asked = tick(repository, DUE, "probes")

    assert without.skip_message == "no target has a key: set B_KEY or GROQ_API_KEY"
    assert "2026-11-29 is over" in late.skip_message
    assert asked.partition_key == "2026-11-30"


def test_a_wrong_configuration_of_probes_fails_their_ticks_and_nothing_else(
    tmp_path: Path,
) -> None:
    repository = probing(tmp_path, schedle="17 6 * * *")

    with pytest.raises(DagsterError) as error:
        tick(repository, DUE, "probes")

    assert isinstance(error.value.__cause__, ProbeConfigError)
    assert "schedle" in str(error.value.__cause__)
    assert isinstance(tick(repository, DUE), dg.RunRequest)


def test_definitions_load_without_the_heavy_libraries() -> None:
    # Dagster loads them in every process that it starts, each time somebody presses a button.
    heavy = ("pandera", "pandas", "streamlit", "pyarrow")
    code = (
        "import sys; from pipeline.definitions import build_definitions;"
        "from pipeline.settings import Settings; build_definitions(Settings(_env_file=None));"
        f"print([name for name in {heavy} if name in sys.modules])"
    )

    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False
    )

    assert (answer.stdout.strip(), answer.returncode) == ("[]", 0), answer.stderr


def test_a_bare_checkout_has_what_dagster_looks_for(load: Callable[[str], dict]) -> None:
    workspace = load("workspace.yaml")
    instance = load(".dagster/dagster.yaml")

    assert workspace["load_from"][0]["python_module"]["module_name"] == "pipeline.definitions"
    assert instance["telemetry"] == {"enabled": False}
    assert instance["concurrency"]["pools"] == {"default_limit": 1, "granularity": "op"}


@pytest.fixture
def load() -> Callable[[str], dict]:
    return lambda name: yaml.safe_load((ROOT / name).read_text())
