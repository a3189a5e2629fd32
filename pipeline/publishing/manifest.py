"""The manifest of a snapshot: what is in it, of when, from what, and how to check it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from pydantic import AwareDatetime, BaseModel, ConfigDict, ValidationError

# Format 2 came with the marts of the probes, format 3 with offers and scores.
FORMAT = 3
MANIFEST_NAME = "manifest.json"
LATEST_SWEEPS_NAMED = 30

NOTICES = {
    "live": (
        "Prices, uptime and speed as listed by OpenRouter's public API and observed by tokentape. "
        "The facts belong to OpenRouter and the providers; they come as they are, without "
        "warranty. When you pass them on, name OpenRouter as the source and the time of the sweep."
    ),
    "demo": "Demo data, made up by tokentape's sandbox market. No price in it is real.",
}


class ManifestError(Exception):
    """A manifest cannot be read; the message names the file and what helps."""


class PublishedFile(BaseModel):
    """One file: ``rows`` where it is a table, ``source_fingerprint`` where it is a past month."""

    model_config = ConfigDict(frozen=True)

    bytes: int
    sha256: str
    rows: int | None = None
    source_fingerprint: str | None = None


class SourceSweeps(BaseModel):
    """The sweeps that a snapshot was made from: how many, and the newest of them first."""

    model_config = ConfigDict(frozen=True)

    count: int
    latest: tuple[str, ...]


class Manifest(BaseModel):
    """Everything that a reader can rely on; ``files`` is keyed by path below the snapshot."""

    model_config = ConfigDict(frozen=True)

    format: int = FORMAT
    snapshot_id: str
    generated_at_utc: AwareDatetime
    as_of_utc: AwareDatetime
    market: str
    code_version: str
    sweeps: SourceSweeps
    notice: str
    files: dict[str, PublishedFile]

    def to_json(self) -> bytes:
        """Return the text of ``manifest.json``."""
        return self.model_dump_json(indent=1, exclude_none=True).encode() + b"\n"


def snapshot_id_of(
    *,
    as_of_utc: datetime,
    market: str,
    code_version: str,
    sweeps: SourceSweeps,
    parquet_files: Iterable[tuple[str, PublishedFile]],
) -> str:
    """Return the id of a content: the time of its newest sweep and a hash.

    The hash covers where the content comes from and the sha256 of every Parquet file. All other
    files are made from these by the code of that version. ``tokentape.duckdb`` cannot be part of
    it: DuckDB writes the same tables as other bytes each time. Nor is the time of publishing: the
    same content published again is the same snapshot.
    """
    content = {
        "format": FORMAT,
        "as_of_utc": as_of_utc.isoformat(),
        "market": market,
        "code_version": code_version,
        "sweeps": sweeps.model_dump(),
        "parquet_files": {path: entry.sha256 for path, entry in sorted(parquet_files)},
    }
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    return f"{as_of_utc:%Y%m%dT%H%M%SZ}-{digest[:16]}"


def read_manifest(snapshot: Path) -> Manifest:
    """Read the manifest of the snapshot in folder ``snapshot``.

    Raises ``ManifestError`` when it is damaged or of a later format, and ``FileNotFoundError``
    when the folder is gone.
    """
    path = snapshot / MANIFEST_NAME
    body = path.read_bytes()
    try:
        manifest = Manifest.model_validate_json(body)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the file"
        raise ManifestError(
            f"{path}: {place}: {first['msg']}; run `tokentape publish` to make a new snapshot"
        ) from None
    if manifest.format > FORMAT:
        raise ManifestError(
            f"{path} has format {manifest.format}, this tokentape reads up to {FORMAT}; "
            "upgrade tokentape, or run `tokentape publish`"
        )
    return manifest
