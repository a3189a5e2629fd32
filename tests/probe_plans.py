"""Probe configurations for tests, of as little as need be said."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from pipeline.probes.config import ProbeConfig

NOON = datetime(2026, 3, 31, 12, 0, tzinfo=UTC)
PRICE = {"input_usd_per_mtok": "0.05", "output_usd_per_mtok": "0.08"}


def target(name: str = "a", **more: Any) -> dict[str, Any]:
    """Return a target of a configuration."""
    return {"name": name, "base_url": "http://127.0.0.1:9/v1", "model": "m"} | more


def config_of(*targets: dict[str, Any], **more: Any) -> ProbeConfig:
    """Return a configuration of ``targets``, or of one, with the keys ``more``."""
    return ProbeConfig.model_validate({"providers": targets or (target(),)} | more)
