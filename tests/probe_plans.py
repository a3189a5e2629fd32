"""Probe configurations for tests, of as little as need be said, and what a provider plays."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pipeline.probes.config import ProbeConfig
from pipeline.sandbox.provider.script import Script

NOON = datetime(2026, 3, 31, 12, 0, tzinfo=UTC)
PRICE = {"input_usd_per_mtok": "0.05", "output_usd_per_mtok": "0.08"}
# An answer takes some milliseconds, one of the model "slow" enough to be told apart.
QUICK = Script(ttft_ms=(1, 2), gap_ms=1, tokens=4, models={"slow": {"ttft_ms": (60, 60)}})


def target(name: str = "a", **more: Any) -> dict[str, Any]:
    """Return a target of a configuration."""
    return {"name": name, "base_url": "http://127.0.0.1:9/v1", "model": "m"} | more


def config_of(*targets: dict[str, Any], **more: Any) -> ProbeConfig:
    """Return a configuration of ``targets``, or of one, with the keys ``more``."""
    return ProbeConfig.model_validate({"providers": targets or (target(),)} | more)


def write_config(folder: Path, *targets: dict[str, Any], **more: Any) -> Path:
    """Write such a configuration, unchecked, into ``folder``."""
    path = folder / "probes.json"
    path.write_text(json.dumps({"providers": targets} | more))
    return path
