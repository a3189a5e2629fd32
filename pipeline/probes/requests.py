"""The HTTP request of an ask: address, headers, JSON body."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pipeline.probes.config import Target
from pipeline.probes.exchange import Deadlines, EngineRequest
from pipeline.probes.transcript import Ask
from pipeline.release import release


def request_of(
    ask: Ask,
    messages: Sequence[Mapping[str, Any]],
    target: Target,
    *,
    url: str,
    key: str | None,
    deadlines: Deadlines,
    asks_for_usage: bool = True,
    due_s: float | None = None,
) -> EngineRequest:
    """Return what to send for ``ask``; it holds ``key``, so it goes to the engine only."""
    return EngineRequest(
        request_id=ask.request_id,
        url=url,
        headers=_headers(target, key),
        body=_body(ask, messages, target, asks_for_usage=asks_for_usage),
        deadlines=deadlines,
        ca_file=None if target.ca_file is None else str(target.ca_file),
        due_s=due_s,
    )


def _headers(target: Target, key: str | None) -> dict[str, str]:
    headers = {
        "Accept": "text/event-stream",
        # A compressed stream comes in blocks, and its tokens late.
        "Accept-Encoding": "identity",
        "Content-Type": "application/json",
        "User-Agent": f"tokentape-probe/{release()}",
    }
    if target.is_openrouter:
        headers["X-OpenRouter-Cache"] = "false"
    if key is not None:
        headers["Authorization"] = f"Bearer {key}"
    return headers


def _body(
    ask: Ask, messages: Sequence[Mapping[str, Any]], target: Target, *, asks_for_usage: bool
) -> bytes:
    body: dict[str, Any] = {
        **target.extra_body,
        "model": ask.requested_model,
        "messages": list(messages),
        "stream": True,
        "max_tokens": ask.max_tokens,
    }
    if ask.temperature is not None:
        body["temperature"] = ask.temperature
    if asks_for_usage:
        body["stream_options"] = {"include_usage": True}
    if target.tag is not None:
        body["provider"] = {"only": [target.tag], "allow_fallbacks": False}
    return json.dumps(body, separators=(",", ":")).encode("ascii")
