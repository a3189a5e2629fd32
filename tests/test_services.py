"""What the two services are started with, and where they are found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from small_market import LLAMA, settings_at

from pipeline.services import (
    app_service,
    app_url,
    dagster_home,
    dagster_service,
    environment,
    model_page_url,
    prepare_dagster_home,
)
from pipeline.settings import Settings

KEY = "sk-a-secret"


def put_models(settings: Settings, *model_ids: str) -> None:
    for model_id in model_ids:
        path = settings.published_dir / "current" / "models" / f"{model_id}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")


def test_a_child_finds_the_same_settings_wherever_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    settings = Settings(
        _env_file=None,
        data_dir=Path("mine"),
        market="demo",
        openrouter_url="http://127.0.0.1:9/api/v1",
        sweep_at_utc="21:05",
        OPENROUTER_API_KEY=KEY,
    )

    for name, value in environment(settings).items():
        monkeypatch.setenv(name, value)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    found = Settings(_env_file=None)

    assert found.data_dir == tmp_path / "mine"
    assert found.model_dump(exclude={"data_dir"}) == settings.model_dump(exclude={"data_dir"})


def test_the_key_goes_to_dagster_and_not_to_the_app(tmp_path: Path) -> None:
    settings = Settings(_env_file=None, data_dir=tmp_path, OPENROUTER_API_KEY=KEY)

    assert KEY in dagster_service(settings).environment.values()
    assert KEY not in app_service(settings).environment.values()
    assert not any(KEY in part for part in dagster_service(settings).command)


def test_keys_of_targets_go_to_dagster_and_not_to_the_app(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GROQ_API_KEY", "sk-groq")
    monkeypatch.delenv("MY_KEY", raising=False)
    (tmp_path / ".env").write_text("MY_KEY=sk-mine\n")
    probes = tmp_path / "probes.json"
    mine = {"name": "a", "base_url": "https://x.test/v1", "model": "m", "api_key_env": "MY_KEY"}
    probes.write_text(json.dumps({"providers": [mine]}))
    settings = settings_at(tmp_path, "http://127.0.0.1:9", probes_file=probes)

    assert {"sk-groq", "sk-mine"} <= set(dagster_service(settings).environment.values())
    assert {"sk-groq", "sk-mine"}.isdisjoint(app_service(settings).environment.values())


def test_runs_of_the_demo_stay_with_the_demo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "runs"))
    live = settings_at(tmp_path / "data", "http://127.0.0.1:9")
    demo = settings_at(tmp_path / "data-demo", "http://127.0.0.1:9", market="demo")

    assert dagster_home(live) == tmp_path / "runs"
    assert dagster_home(demo) == tmp_path / "data-demo" / "dagster"
    assert environment(demo)["DAGSTER_HOME"] == str(tmp_path / "data-demo" / "dagster")


def test_a_home_without_settings_gets_those_of_the_project_and_keeps_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "runs"))
    settings = settings_at(tmp_path, "http://127.0.0.1:9")

    home = prepare_dagster_home(settings)
    assert "telemetry" in (home / "dagster.yaml").read_text()

    (home / "dagster.yaml").write_text("# mine\n")
    prepare_dagster_home(settings)
    assert (home / "dagster.yaml").read_text() == "# mine\n"


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:8501"),
        ("0.0.0.0", "http://127.0.0.1:8501"),  # noqa: S104
        ("::1", "http://[::1]:8501"),
    ],
)
def test_addresses_are_such_that_this_machine_reaches_them(
    tmp_path: Path, host: str, url: str
) -> None:
    assert app_url(settings_at(tmp_path, "http://127.0.0.1:9", host=host)) == url


def test_the_model_page_shown_is_one_that_exists(tmp_path: Path) -> None:
    settings = settings_at(tmp_path, "http://127.0.0.1:9")
    assert model_page_url(settings) is None

    put_models(settings, "qwen/qwen-2.5-72b:free", "z-ai/glm")
    assert model_page_url(settings) == "http://127.0.0.1:8501/model?model=qwen/qwen-2.5-72b:free"

    put_models(settings, LLAMA)
    assert model_page_url(settings) == f"http://127.0.0.1:8501/model?model={LLAMA}"
