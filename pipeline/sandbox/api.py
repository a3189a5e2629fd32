"""The contract of the API: a request in, a reply out; no sockets, no faults."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol
from urllib.parse import parse_qs

BASE_PATH = "/api/v1"
JSON = "application/json"
_DEFAULT_LIMIT = 500
_MAX_LIMIT = 1000


class Source(Protocol):
    """Where the answers come from: the deterministic market or a recorded sweep."""

    @property
    def kind(self) -> str:
        """``demo`` or ``recording``; stands in a header of every reply."""

    def models(self, at: datetime) -> list[dict[str, Any]]:
        """Return the rows of ``/models``."""

    def endpoints(
        self, model_id: str, at: datetime, *, is_authenticated: bool = False
    ) -> dict[str, Any] | None:
        """Return ``data`` of ``/models/{id}/endpoints``; None for an unknown model."""

    def providers(self, at: datetime) -> list[dict[str, Any]]:
        """Return the rows of ``/providers``."""


@dataclass(frozen=True)
class Reply:
    """What goes over the wire: ``content`` is the JSON value, or text for an HTML page."""

    status: int
    content: Any
    content_type: str = JSON
    headers: dict[str, str] = field(default_factory=dict)

    def body(self) -> bytes:
        """Return the bytes of the body."""
        return json_bytes(self.content) if self.content_type == JSON else self.content.encode()


@dataclass(frozen=True)
class Api:
    """Answers for one source; ``page_size`` makes ``/models`` come in pages without being asked."""

    source: Source
    page_size: int | None = None

    def answer(self, path: str, query: str, at: datetime, *, is_authenticated: bool) -> Reply:
        """Return the reply to a GET of ``path`` (decoded, below the base path)."""
        match path.strip("/").split("/"):
            case ["models"]:
                return self._models(query, at)
            case ["models", author, slug, "endpoints"]:
                model_id = f"{author}/{slug}"
                data = self.source.endpoints(model_id, at, is_authenticated=is_authenticated)
                if data is None:
                    return error(404, f"Model {model_id} not found")
                return Reply(200, {"data": data})
            case ["providers"]:
                return Reply(200, {"data": self.source.providers(at)})
        return error(404, f"No route for GET {BASE_PATH}{path}")

    def _models(self, query: str, at: datetime) -> Reply:
        asked = {name: values[-1] for name, values in parse_qs(query).items()}
        try:
            offset = int(asked.get("offset", 0))
            limit = int(asked.get("limit", self.page_size or _DEFAULT_LIMIT))
        except ValueError:
            return error(400, "offset and limit must be whole numbers")
        if offset < 0 or not 1 <= limit <= _MAX_LIMIT:
            return error(400, f"offset must be at least 0, limit between 1 and {_MAX_LIMIT}")
        rows = self.source.models(at)
        is_paged = bool(self.page_size or asked.keys() & {"offset", "limit"})
        if not is_paged:
            # Bodies of May 2026 have only `data`; the envelope came before September.
            newer = {"total_count": len(rows), "links": {"next": None}}
            return Reply(200, {"data": rows} | (newer if self.source.kind == "demo" else {}))
        end = offset + limit
        following = f"{BASE_PATH}/models?offset={end}&limit={limit}" if end < len(rows) else None
        page = rows[offset:end]
        envelope = {"data": page, "total_count": len(rows), "links": {"next": following}}
        return Reply(200, envelope)


def error(status: int, message: str) -> Reply:
    """Return an error as the live API words it."""
    return Reply(status, {"error": {"code": status, "message": message}})


def json_bytes(value: object) -> bytes:
    """Return compact UTF-8 JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
