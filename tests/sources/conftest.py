"""A stand-in source for every test of this folder, and settings that point at it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from stand_in import StandIn

from pipeline.settings import Settings


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    server = StandIn()
    yield server
    server.close()


@pytest.fixture
def settings_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Settings]:
    """Make settings for a base URL; nothing else than defaults and what the test names."""
    monkeypatch.delenv("OPENROUTER_API_KEY", raising=False)

    def make(url: str, **values: Any) -> Settings:
        key = values.pop("key", None)
        named = {"openrouter_url": url, "data_dir": tmp_path / "data"} | values
        return Settings(_env_file=None, OPENROUTER_API_KEY=key, **named)

    return make
