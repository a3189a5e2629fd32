"""Faults that change what a reply says, not how it travels."""

from __future__ import annotations

from copy import deepcopy
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from email.utils import format_datetime
from http import HTTPStatus
from typing import Any

from pipeline.sandbox.api import Reply, error
from pipeline.sandbox.faults import Fault
from pipeline.sandbox.quotes import plain

_PAGE = "<!DOCTYPE html>\n<html><head><title>{0}</title></head><body><h1>{0}</h1></body></html>\n"


def spoil(reply: Reply, fault: Fault) -> Reply:
    """Return the reply that ``fault`` makes of this one; unchanged by faults of the wire."""
    replacement = _replacement(fault)
    # The faults of content are those of a market; the hub's answers have no ``data``.
    if replacement is not None or reply.status != 200 or "data" not in reply.content:
        return replacement or reply
    content = deepcopy(reply.content)  # a recording serves the same objects again
    _change(content, fault)
    return Reply(reply.status, content, reply.content_type, reply.headers)


def _replacement(fault: Fault) -> Reply | None:
    if fault.name.startswith(("http_", "html_")):
        return _page(int(fault.name[5:]))
    match fault.name:
        case "rate_limited":
            return _rate_limited(f"{fault.amount:g}")
        case "rate_limited_date":
            then = datetime.now(UTC) + timedelta(seconds=fault.amount)
            return _rate_limited(format_datetime(then, usegmt=True))
        case "not_found":
            return error(404, "Not found")
        case "error_200":
            return Reply(200, error(502, "Provider returned error").content)
    return None


def _change(content: dict[str, Any], fault: Fault) -> None:
    data = content["data"]
    rows: list[dict[str, Any]] = data["endpoints"] if isinstance(data, dict) else data
    first = rows[0] if rows else {}
    pricing = first.get("pricing", {})
    match fault.name:
        case "wrong_id" if isinstance(data, dict):
            data["id"] = "sandbox/another-model"
        case "empty_endpoints":
            rows.clear()
        case "unknown_keys":
            content["surprise"] = 1
            for row in rows:
                row["surprise"] = {"level": 1}
        case "missing_key":
            first.pop("pricing", None) or first.pop("slug", None)
        case "type_change":
            if "context_length" in first:
                first["context_length"] = str(first["context_length"])
                first["supported_parameters"] = "temperature"
            if "slug" in first:
                first["slug"] = {"text": first["slug"]}
        case "negative_price" if pricing:
            # Not "-1", which is how a router says that it has no price.
            pricing["prompt"] = "-0.000002"
        case "absurd_price" if pricing:
            pricing["prompt"] = plain(Decimal(pricing["prompt"]) * Decimal(str(fault.amount)))
        case "nan_price" if pricing:
            pricing["prompt"] = "NaN"


def _page(status: int) -> Reply:
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = "A timeout occurred"
    return Reply(status, _PAGE.format(f"{status} {phrase}"), "text/html; charset=UTF-8")


def _rate_limited(retry_after: str) -> Reply:
    limited = error(429, "Rate limit exceeded")
    return Reply(429, limited.content, headers={"Retry-After": retry_after})
