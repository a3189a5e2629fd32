"""The two services that people see, the app and Dagster: commands, environments, addresses."""

from __future__ import annotations

import json
import os
import shutil
import sys
from contextlib import suppress
from datetime import time
from pathlib import Path
from urllib.parse import quote

from pydantic import SecretStr

from pipeline.probes.config import DEFAULT_CONFIG, ProbeConfigError, load_probe_config
from pipeline.probes.config_target import KEY_VARIABLES
from pipeline.running import Service
from pipeline.settings import Settings, environment_of

ROOT = Path(__file__).resolve().parents[1]
SHOWN_FIRST = "meta-llama/llama-3.1-8b-instruct"


def dagster_home(settings: Settings) -> Path:
    """Return the folder of Dagster's runs; those of a demo stay in the demo's data folder."""
    if settings.market == "demo":
        return (settings.data_dir / "dagster").resolve()
    return Path(os.environ.get("DAGSTER_HOME") or ROOT / ".dagster").resolve()


def prepare_dagster_home(settings: Settings) -> Path:
    """Create Dagster's folder, with the settings file of the project when it has none."""
    home = dagster_home(settings)
    home.mkdir(parents=True, exist_ok=True)
    if not (home / "dagster.yaml").exists():
        shutil.copyfile(ROOT / ".dagster" / "dagster.yaml", home / "dagster.yaml")
    return home


def environment(settings: Settings) -> dict[str, str]:
    """Return the environment in which a child process finds exactly these settings.

    A child may run in another folder, so paths are absolute and ``.env`` is not needed again.
    """
    found = environment_of(settings)
    # Build machines often set it; then each of our processes would compile us anew.
    found.pop("PYTHONDONTWRITEBYTECODE", None)
    for name in settings.model_fields_set | {"data_dir"}:
        value = getattr(settings, name)
        if value is not None and not isinstance(value, SecretStr):
            found[f"TOKENTAPE_{name.upper()}"] = _as_text(value)
    found["DAGSTER_HOME"] = str(dagster_home(settings))
    found["DAGSTER_DISABLE_TELEMETRY"] = "1"
    found["PYTHONUNBUFFERED"] = "1"
    return found


def app_service(settings: Settings) -> Service:
    """Return the Streamlit app with its file routes."""
    variables = environment(settings)
    # The app reads published files only; it has no use for keys.
    for name in _key_variables(settings):
        variables.pop(name, None)
    return Service(
        name="the app",
        command=(
            *(sys.executable, "-m", "streamlit", "run", str(ROOT / "app" / "asgi.py")),
            *("--server.address", settings.host, "--server.port", str(settings.app_port)),
            *("--server.headless", "true", "--browser.gatherUsageStats", "false"),
        ),
        folder=ROOT,
        environment=variables,
        log_path=settings.data_dir / "logs" / "app.log",
        ready_url=f"{app_url(settings)}/_stcore/health",
    )


def dagster_service(settings: Settings) -> Service:
    """Return Dagster's webserver and daemon, which runs the schedule."""
    return Service(
        name="Dagster",
        command=(
            *(sys.executable, "-m", "dagster", "dev", "-w", str(ROOT / "workspace.yaml")),
            *("-h", settings.host, "-p", str(settings.dagster_port)),
        ),
        folder=ROOT,
        environment=environment(settings),
        log_path=settings.data_dir / "logs" / "dagster.log",
        ready_url=f"{dagster_url(settings)}/server_info",
    )


def app_url(settings: Settings) -> str:
    """Return the address of the app as this machine reaches it."""
    return f"http://{_reachable(settings.host)}:{settings.app_port}"


def dagster_url(settings: Settings) -> str:
    """Return the address of Dagster as this machine reaches it."""
    return f"http://{_reachable(settings.host)}:{settings.dagster_port}"


def model_page_url(settings: Settings) -> str | None:
    """Return the deep link of a model's page, None when the snapshot holds no model."""
    folder = settings.published_dir / "current" / "models"
    shown = SHOWN_FIRST
    if not (folder / f"{SHOWN_FIRST}.json").exists():
        first = min(folder.glob("*/*.json"), default=None)
        if first is None:
            return None
        shown = str(first.relative_to(folder).with_suffix(""))
    return f"{app_url(settings)}/model?model={quote(shown, safe='/:')}"


def snapshot_manifest(settings: Settings) -> dict[str, object] | None:
    """Return the manifest of the published snapshot, None when there is none."""
    path = settings.published_dir / "current" / "manifest.json"
    try:
        content = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) else None


def _key_variables(settings: Settings) -> set[str]:
    names = {"TOKENTAPE_OPENROUTER_API_KEY", "HF_TOKEN", "TOKENTAPE_HUGGINGFACE_TOKEN"}
    names |= set(KEY_VARIABLES.values())
    # What is wrong with the file is told by those who measure.
    with suppress(ProbeConfigError):
        config = load_probe_config(settings.probes_file or DEFAULT_CONFIG)
        names |= {target.key_env for target in config.providers if target.key_env is not None}
    return names


def _as_text(value: object) -> str:
    if isinstance(value, Path):
        return str(value.resolve())
    if isinstance(value, time):
        return value.strftime("%H:%M")
    return str(value)


def _reachable(host: str) -> str:
    if host in ("0.0.0.0", "::"):  # noqa: S104 - compared, not bound
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host
