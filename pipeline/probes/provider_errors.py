"""What a provider says is wrong: in an error object, an error body or a page of HTML."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from pipeline.exact_json import NotJson, read_json, write_json

_MOST_CHARACTERS = 200
_TAG = re.compile(r"<[^>]*>")
# Some providers repeat the key, or a part of it, in the message that refuses it.
_SECRET = re.compile(
    r"Bearer\s+\S+|\b(?:sk|gsk|csk|xai|key|nvapi|hf|fw|tgp)[-_][\w*.-]{6,}"
    r"|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|[A-Za-z0-9*]{24,}",
    re.IGNORECASE,
)
_STATUS_OF_WORD = {
    "rate_limit": 429,
    "too_many_requests": 429,
    "resource_exhausted": 429,
    "overloaded": 503,
    "unavailable": 503,
}


@dataclass(frozen=True)
class ProviderError:
    """``message`` is one line of at most 200 characters without secrets.

    ``status`` is the HTTP status that the error names or its words mean, None where it does not
    tell: ``code`` may be a number, a numeral, a word, or missing.
    """

    message: str
    status: int | None = None


def error_in(document: Any) -> ProviderError | None:
    """Return the error that a chunk or a body of JSON is about, None where it is about none."""
    if isinstance(document, list) and document:
        document = document[0]  # Google wraps its error in a list
    if not isinstance(document, dict):
        return None
    error = document.get("error") or document.get("errors")
    if not error and document.get("object") != "error":
        return None
    if isinstance(error, list):
        error = error[0]
    if isinstance(error, str):
        error = {**document, "message": error}
    elif not isinstance(error, dict):
        error = document
    return ProviderError(excerpt(_message(error)), _status(error))


def error_of_body(body: bytes) -> ProviderError:
    """Return what an answer says that is no stream: JSON of any shape, HTML or plain text."""
    try:
        document = read_json(body)
    except NotJson:
        text = body[:20_000].decode("utf-8", "replace")
        return ProviderError(excerpt(_TAG.sub(" ", text)))
    if error := error_in(document):
        return error
    return ProviderError(
        excerpt(_message(document) if isinstance(document, dict) else write_json(document))
    )


def excerpt(text: str) -> str:
    """Return ``text`` as one printable line of at most 200 characters, without secrets."""
    printable = "".join(c if c.isprintable() else " " for c in text[:20_000])
    line = _SECRET.sub("[hidden]", " ".join(printable.split()))
    return line if len(line) <= _MOST_CHARACTERS else line[: _MOST_CHARACTERS - 1] + "…"


def _message(error: dict[str, Any]) -> str:
    texts = (error.get(key) for key in ("message", "detail"))
    message = next((text for text in texts if isinstance(text, str) and text), None)
    if message is None:
        return write_json(error)
    # OpenRouter's own message only says that the provider failed; the provider's stands in here.
    metadata = error.get("metadata")
    raw = metadata.get("raw") if isinstance(metadata, dict) else None
    return f"{message}: {raw}" if isinstance(raw, str) and raw else message


def _status(error: dict[str, Any]) -> int | None:
    values = [str(error.get(key)) for key in ("code", "status", "http_status", "type")]
    values.append(str(error.get("error_type")))
    for value in values:
        if re.fullmatch(r"[45][0-9]{2}", value):
            return int(value)
    words = " ".join(values).lower()
    return next((status for word, status in _STATUS_OF_WORD.items() if word in words), None)
