"""A recorded sweep as a source: the answers as they were, word for word."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

_TIME_IN_NAME = re.compile(r"_(\d{4}-\d{2}-\d{2})(?:T(\d{4})Z?)?\.")


class RecordingError(Exception):
    """A recording cannot be served. One line: which file, what is wrong, what is wanted."""


class Recording:
    """Serves one recorded sweep; the instant that is asked for does not matter.

    An answer is served for the model it was filed under even when it speaks of another one
    (recordings made through ``links.details`` lost the variant): finding that is the client's part.
    """

    kind = "recording"

    def __init__(
        self,
        sweep: list[dict[str, Any]],
        models: list[dict[str, Any]] | None = None,
        providers: list[dict[str, Any]] | None = None,
    ) -> None:
        self._endpoints = {row["modelId"]: row["response"]["data"] for row in sweep}
        self._models = models if models is not None else [*map(_model_row, sweep)]
        self._providers = providers if providers is not None else _providers(sweep)

    @classmethod
    def open(
        cls, sweep: Path, models: Path | None = None, providers: Path | None = None
    ) -> Recording:
        """Read a sweep ({"data": [{"modelId", "response"}]}) and bodies of the other two paths."""
        rows = _rows(sweep)
        if not all({"modelId", "response"} <= row.keys() for row in rows):
            raise RecordingError(f"{sweep}: every element of data needs modelId and response")
        return cls(
            rows,
            models=None if models is None else _rows(models),
            providers=None if providers is None else _rows(providers),
        )

    @classmethod
    def find(cls, folder: Path, name: str) -> Recording:
        """Open the sweep with ``name`` in its file name, and the other files nearest in time."""
        sweeps = [p for p in folder.rglob("endpoints_2*.json*") if name in p.name and _time(p)]
        if len(sweeps) != 1:
            found = ", ".join(sorted(p.name for p in sweeps)) or "none"
            raise RecordingError(f"{folder}: {name!r} must fit one recorded sweep, found {found}")
        return cls.open(
            sweeps[0],
            _nearest(folder.rglob("models_2*.json*"), sweeps[0]),
            _nearest(folder.rglob("providers_2*.json*"), sweeps[0]),
        )

    def models(self, at: datetime) -> list[dict[str, Any]]:
        """Return the recorded model list."""
        return self._models

    def endpoints(
        self, model_id: str, at: datetime, *, is_authenticated: bool = False
    ) -> dict[str, Any] | None:
        """Return what was recorded for ``model_id``, with or without a key."""
        return self._endpoints.get(model_id)

    def providers(self, at: datetime) -> list[dict[str, Any]]:
        """Return the recorded providers."""
        return self._providers


def _rows(path: Path) -> list[dict[str, Any]]:
    try:
        raw = path.read_bytes()
        body = json.loads(gzip.decompress(raw) if path.suffix == ".gz" else raw)
    except (OSError, ValueError) as problem:
        raise RecordingError(f"{path}: not a readable JSON(.gz) file ({problem})") from None
    rows = body.get("data") if isinstance(body, dict) else body
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise RecordingError(f'{path}: must be a list or {{"data": [...]}} of objects')
    return rows


def _time(path: Path) -> datetime | None:
    found = _TIME_IN_NAME.search(path.name)
    if found is None:
        return None
    return datetime.strptime(f"{found[1]} {found[2] or '1200'}", "%Y-%m-%d %H%M").replace(
        tzinfo=UTC
    )


def _nearest(paths: Iterable[Path], sweep: Path) -> Path | None:
    aim = _time(sweep)
    dated = [(abs(time - aim), path) for path in paths if aim and (time := _time(path))]
    return min(dated)[1] if dated else None


def _model_row(entry: dict[str, Any]) -> dict[str, Any]:
    """Make a row of the model list out of what was recorded about the model's endpoints."""
    data = entry["response"]["data"]
    endpoints = data["endpoints"]
    first = endpoints[0] if endpoints else None
    prices = first["pricing"] if first else {"prompt": "-1", "completion": "-1"}
    return {
        "id": entry["modelId"],
        "canonical_slug": entry.get("canonicalSlug", entry["modelId"]),
        "name": data["name"],
        "created": data["created"],
        "description": data["description"],
        "context_length": first and first["context_length"],
        "architecture": data["architecture"],
        "pricing": {key: price for key, price in prices.items() if key != "discount"},
        "top_provider": {
            "context_length": first and first["context_length"],
            "max_completion_tokens": first and first["max_completion_tokens"],
            "is_moderated": False,
        },
        "per_request_limits": None,
        "supported_parameters": first["supported_parameters"] if first else [],
    }


def _providers(sweep: list[dict[str, Any]]) -> list[dict[str, Any]]:
    heads: dict[str, str] = {}
    for entry in sweep:
        for endpoint in entry["response"]["data"]["endpoints"]:
            heads.setdefault(endpoint["provider_name"], endpoint["tag"].partition("/")[0])
    unknown = dict.fromkeys(
        (
            "privacy_policy_url",
            "terms_of_service_url",
            "status_page_url",
            "headquarters",
            "datacenters",
        )
    )
    return [{"name": name, "slug": slug} | unknown for name, slug in sorted(heads.items())]
