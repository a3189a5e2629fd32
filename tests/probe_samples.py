"""Samples worked out by hand, for tests."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from pipeline.probes.sample import Sample

MS = 1_000_000


def sample(**changes: Any) -> Sample:
    """Return an answer of 4 tokens in 4 chunks, TTFT 200 ms, then one each 100 ms; in all 500 ms.

    The first chunk is reasoning, the answer begins with the second.
    """
    start = 1_000 * MS
    chunk_ns = tuple(start + ms * MS for ms in (200, 300, 400, 500))
    values: dict[str, Any] = {
        "run_id": "run",
        "request_id": "r1",
        "target": "a",
        "model_id": "openai/gpt-oss-20b",
        "requested_model": "openai/gpt-oss-20b",
        "provider_name": "Groq",
        "tag": "groq",
        "region": None,
        "prompt_set": "short_chat",
        "prompt_sha256": "0" * 64,
        "pair_id": None,
        "turn": 1,
        "phase": "measure",
        "loop": "closed",
        "concurrency": 1,
        "offered_rate_per_s": None,
        "round": 1,
        "batch": 1,
        "max_tokens": 300,
        "temperature": 0.0,
        "outcome": "ok",
        "reason": None,
        "http_status": 200,
        "finish_reason": "stop",
        "is_done_seen": True,
        "served_by": "Groq",
        "served_model": None,
        "generation_id": "gen-1",
        "retry_after_s": None,
        "rate_limit_json": "{}",
        "content_encoding": None,
        "stamp_source": "kernel",
        "is_new_connection": False,
        "peer": None,
        "dns_ms": None,
        "connect_ms": None,
        "tls_ms": None,
        "scheduled_ns": start,
        "connected_ns": None,
        "tls_done_ns": None,
        "sent_ns": start,
        "first_byte_ns": start + 150 * MS,
        "first_event_ns": start + 150 * MS,
        "first_reasoning_ns": chunk_ns[0],
        "first_token_ns": chunk_ns[0],
        "first_answer_ns": chunk_ns[1],
        "last_token_ns": chunk_ns[-1],
        "end_ns": chunk_ns[-1] + 5 * MS,
        "chunk_ns": chunk_ns,
        "chunk_bytes": (4, 4, 4, 4),
        "events": 6,
        "coalesced_chunks": 0,
        "is_buffered": False,
        "is_reasoning_hidden": False,
        "prompt_tokens": 20,
        "completion_tokens": 4,
        "reasoning_tokens": 1,
        "cached_tokens": 0,
        "token_source": "usage",
        "usage_json": None,
        "server_timing_json": None,
        "cost_usd": None,
        "scheduled_at_utc": datetime(2026, 11, 30, tzinfo=UTC),
        "sent_at_utc": datetime(2026, 11, 30, tzinfo=UTC),
    }
    return Sample(**{**values, **changes})


def timed(*ms: float, sent_ms: float = 0, **changes: Any) -> Sample:
    """Return a sample that was sent at ``sent_ms`` and had its chunks at ``ms``, a token each."""
    chunk_ns = tuple(round(at * MS) for at in ms)
    sent_ns = round(sent_ms * MS)
    values: dict[str, Any] = {
        "scheduled_ns": sent_ns,
        "sent_ns": sent_ns,
        "first_byte_ns": chunk_ns[0],
        "first_event_ns": chunk_ns[0],
        "first_reasoning_ns": None,
        "first_token_ns": chunk_ns[0],
        "first_answer_ns": chunk_ns[0],
        "last_token_ns": chunk_ns[-1],
        "end_ns": chunk_ns[-1],
        "chunk_ns": chunk_ns,
        "completion_tokens": len(ms),
        "reasoning_tokens": None,
    }
    return sample(**{**values, **changes})


def failed(outcome: str, **changes: Any) -> Sample:
    """Return a request that had no token."""
    nothing = dict.fromkeys(
        (
            "first_event_ns",
            "first_reasoning_ns",
            "first_token_ns",
            "first_answer_ns",
            "last_token_ns",
            "prompt_tokens",
            "completion_tokens",
            "reasoning_tokens",
            "cached_tokens",
            "token_source",
        )
    )
    return sample(**{**nothing, "outcome": outcome, "chunk_ns": (), "chunk_bytes": (), **changes})
