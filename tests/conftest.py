"""What several test modules share."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import Ended, Tokentape, run_command
from probe_plans import QUICK
from small_market import settings_at, small_sandbox

from pipeline.sandbox.provider.process import ProviderProcess
from pipeline.sandbox.server import SandboxServer

RECORDINGS = Path(__file__).resolve().parents[2] / "shared" / "recordings"
OWN_SETTINGS = (
    "OPENROUTER_API_KEY",
    "TOKENTAPE_DATA_DIR",
    "TOKENTAPE_OPENROUTER_URL",
    "TOKENTAPE_PROBES_FILE",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start the longest tests first, so that no worker is left alone with one at the end."""
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


@pytest.fixture(scope="session")
def recordings() -> Path:
    """Folder of recorded answers of the live market; not part of the project."""
    if not RECORDINGS.is_dir():
        pytest.skip(f"no recorded answers at {RECORDINGS}")
    return RECORDINGS


@pytest.fixture(scope="module")
def sandbox_of_module() -> Iterator[SandboxServer]:
    with small_sandbox() as server:
        yield server


@pytest.fixture
def sandbox(sandbox_of_module: SandboxServer) -> Iterator[SandboxServer]:
    """The small market as it stands now, without faults."""
    sandbox_of_module.set_now(None)
    yield sandbox_of_module
    sandbox_of_module.set_faults()


@pytest.fixture(scope="session")
def home_of_dagster(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Dagster's folder as it is before the first run; to make its storage takes seconds."""
    # Most test modules need no Dagster, which takes its time to import.
    from pipeline.runs import open_instance  # noqa: PLC0415

    home = tmp_path_factory.mktemp("dagster")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DAGSTER_HOME", str(home))
        with open_instance(settings_at(home, "http://127.0.0.1:9")):
            return home


@pytest.fixture
def dagster_home(home_of_dagster: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of Dagster for this test, with its storage made and no run in it."""
    home = tmp_path / "dagster"
    shutil.copytree(home_of_dagster, home)
    monkeypatch.setenv("DAGSTER_HOME", str(home))
    return home


@pytest.fixture(scope="session")
def provider_process() -> Iterator[ProviderProcess]:
    with ProviderProcess(QUICK) as running:
        yield running


@pytest.fixture
def provider(provider_process: ProviderProcess) -> ProviderProcess:
    """A provider of short answers, which knows of no request yet."""
    provider_process.set_script(QUICK)
    provider_process.truth()
    return provider_process


@pytest.fixture
def tokentape(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Tokentape:
    """Run the command line in an empty folder, with data of its own."""
    monkeypatch.chdir(tmp_path)
    for name in OWN_SETTINGS:
        monkeypatch.delenv(name, raising=False)

    def run(*arguments: str) -> Ended:
        return run_command(capsys, *arguments)

    return run
