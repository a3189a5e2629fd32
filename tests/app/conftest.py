"""A published market for the tests of the pages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from shown_market import publish_shown_market

from pipeline.settings import current_settings


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder in which the market is published."""
    folder = tmp_path_factory.mktemp("shown")
    publish_shown_market(folder / "published")
    return folder


@pytest.fixture
def data_dir(shown: Path) -> Path:
    """The data folder of the test; one that is another overrides it."""
    return shown


@pytest.fixture
def app_settings(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the app read the data folder of the test."""
    monkeypatch.setenv("TOKENTAPE_DATA_DIR", str(data_dir))
    current_settings.cache_clear()
    yield
    current_settings.cache_clear()
