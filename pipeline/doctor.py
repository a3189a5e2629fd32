"""What may be wrong with an installation, each finding one line with its remedy."""

from __future__ import annotations

import os
import platform
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

from pipeline.landing import CorruptLandingError, Landing
from pipeline.services import ROOT, dagster_home, snapshot_manifest
from pipeline.settings import Settings
from pipeline.sources.http import SourceError, SourceRefused, SourceUnreachable
from pipeline.sources.reach import ask_source
from pipeline.warehouse import lock_holder

MAIN_PACKAGES = ("dagster", "dagster-webserver", "duckdb", "pandera", "polars", "streamlit")
OLDEST_SWEEP = timedelta(hours=26)
# A sweep takes some 2 MiB, a snapshot and a growing warehouse some hundred.
LOW_DISK_GIB, FULL_DISK_GIB = 5.0, 0.5


@dataclass(frozen=True)
class Finding:
    """One thing looked at: how it is, what was found, and what helps where it is not ok."""

    level: Literal["ok", "warn", "fail"]
    subject: str
    found: str
    remedy: str | None = None

    def __str__(self) -> str:
        remedy = f" -> {self.remedy}" if self.remedy else ""
        return f"{self.level:<5} {self.subject:<10} {self.found}{remedy}"


def examine(settings: Settings, now: datetime) -> Iterator[Finding]:
    """Yield a finding for each thing that can be wrong; nothing is changed."""
    yield _settings(settings)
    yield _versions()
    yield _network(settings)
    yield _disk(settings)
    yield _lock(settings)
    yield _dagster(settings)
    yield _last_sweep(settings, now)
    yield _snapshot(settings)


def _settings(settings: Settings) -> Finding:
    key = "with a key" if settings.openrouter_api_key else "without a key (no latency, throughput)"
    return Finding(
        "ok",
        "settings",
        f"{settings.market} market of {settings.openrouter_url} in {settings.data_dir}, {key}",
    )


def _versions() -> Finding:
    wanted = _locked_versions(ROOT / "requirements.lock")
    installed: dict[str, str] = {}
    for package in MAIN_PACKAGES:
        try:
            installed[package] = version(package)
        except PackageNotFoundError:
            return Finding("fail", "versions", f"{package} is not installed", "run `make up`")
    names = ", ".join(f"{name} {number}" for name, number in installed.items())
    found = f"Python {platform.python_version()}, {names}"
    for name, number in installed.items():
        if wanted.get(name, number) != number:
            return Finding(
                "warn",
                "versions",
                f"{name} {number} is installed, the lock says {wanted[name]}",
                "run `make up` to install the locked versions",
            )
    return Finding("ok", "versions", found)


def _network(settings: Settings) -> Finding:
    url = settings.openrouter_url
    try:
        ask_source(settings)
    except SourceUnreachable as error:
        return Finding(
            "fail",
            "network",
            error.reason,
            "check the network and TOKENTAPE_OPENROUTER_URL; `make demo` needs neither",
        )
    except SourceRefused as error:
        return Finding("fail", "network", error.reason, "check OPENROUTER_API_KEY, or wait")
    except SourceError as error:
        return Finding(
            "warn", "network", error.reason, "try again later, or check TOKENTAPE_OPENROUTER_URL"
        )
    return Finding("ok", "network", f"{url} answers")


def _disk(settings: Settings) -> Finding:
    folder = _existing(settings.data_dir)
    if not os.access(folder, os.W_OK | os.X_OK):
        return Finding(
            "fail",
            "disk",
            f"{folder} is not writable",
            "change its owner, or set TOKENTAPE_DATA_DIR to another folder",
        )
    free_gib = shutil.disk_usage(folder).free / 2**30
    found = f"{free_gib:.1f} GiB free at {folder}"
    remedy = "free some space, or set TOKENTAPE_DATA_DIR to a larger disk"
    if free_gib < FULL_DISK_GIB:
        return Finding("fail", "disk", found, remedy)
    if free_gib < LOW_DISK_GIB:
        return Finding("warn", "disk", found, remedy)
    return Finding("ok", "disk", found)


def _lock(settings: Settings) -> Finding:
    holder = lock_holder(settings.warehouse_path)
    if holder is None:
        return Finding("ok", "warehouse", "nobody writes to it just now")
    return Finding(
        "warn",
        "warehouse",
        f"{settings.warehouse_path} is held by {holder}",
        "wait for that run; the lock goes with its process",
    )


def _dagster(settings: Settings) -> Finding:
    home = dagster_home(settings)
    if (home / "dagster.yaml").exists():
        return Finding("ok", "dagster", f"runs are kept in {home}")
    return Finding(
        "warn", "dagster", f"{home} has no dagster.yaml yet", "`tokentape sync` puts it there"
    )


def _last_sweep(settings: Settings, now: datetime) -> Finding:
    try:
        sweeps = Landing(settings.landing_dir).sweeps()
    except CorruptLandingError as error:
        return Finding("fail", "landing", str(error))
    if not sweeps:
        return Finding("warn", "last sweep", "none is there yet", "run `tokentape sync`")
    newest = sweeps[-1].manifest
    hours = (now - newest.started_at_utc) / timedelta(hours=1)
    found = f"{newest.sweep_id}, {hours:.1f} hours old, {len(newest.failures)} failed requests"
    if now - newest.started_at_utc > OLDEST_SWEEP:
        return Finding(
            "warn", "last sweep", found, "run `tokentape sync`, and `tokentape up` for daily sweeps"
        )
    if newest.failures or newest.is_interrupted:
        return Finding("warn", "last sweep", f"{found}: partial", "run `tokentape sync` again")
    return Finding("ok", "last sweep", found)


def _snapshot(settings: Settings) -> Finding:
    folder = settings.published_dir / "current"
    manifest = snapshot_manifest(settings)
    if manifest is None:
        return Finding("warn", "snapshot", f"none is published in {folder}", "run `tokentape sync`")
    market = manifest.get("market")
    if market != settings.market:
        return Finding(
            "fail",
            "snapshot",
            f"{folder} is of the {market} market",
            "give each market its own TOKENTAPE_DATA_DIR",
        )
    return Finding(
        "ok", "snapshot", f"{manifest.get('snapshot_id')}, as of {manifest.get('as_of_utc')}"
    )


def _locked_versions(lock: Path) -> dict[str, str]:
    if not lock.exists():
        return {}
    return dict(re.findall(r"^([a-z0-9-]+)==([^\s;\\]+)", lock.read_text(), re.MULTILINE))


def _existing(folder: Path) -> Path:
    """Return ``folder``, or the nearest folder above it that is there."""
    folder = folder.resolve()
    while not folder.exists():
        folder = folder.parent
    return folder
