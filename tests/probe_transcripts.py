"""Transcripts made by hand: what was asked, and an answer in pieces with their arrival."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from pipeline.probes.exchange import Exchange, Fault
from pipeline.probes.reading import read_sample
from pipeline.probes.sample import Sample
from pipeline.probes.transcript import Ask, Transcript

MS = 1_000_000

# 2026-06-01T00:00:00Z is 1,780,272,000 s after the epoch; the clock of the tests starts there.
OFFSET_TO_UTC_NS = 1_780_272_000 * 10**9
ASK = Ask(
    request_id="r1",
    target="novita",
    base_url="https://api.novita.ai/openai",
    model_id="meta-llama/llama-3.1-8b-instruct",
    requested_model="meta-llama/llama-3.1-8b-instruct",
    provider_name=None,
    tag=None,
    region="eu",
    prompt_set="short_chat",
    prompt_sha256="0" * 64,
    pair_id=None,
    turn=1,
    phase="measure",
    loop="closed",
    concurrency=4,
    offered_rate_per_s=None,
    round=1,
    batch=2,
    max_tokens=300,
    temperature=0.0,
    scheduled_at_utc="2026-06-01T00:00:00+00:00",
)


def answered(
    *pieces: tuple[int, bytes],
    status: int | None = 200,
    headers: dict[str, str] | None = None,
    fault: Fault | None = None,
    provider_name: str | None = None,
    tag: str | None = None,
) -> Transcript:
    """Return the transcript of an answer whose body came in ``(arrived_ns, bytes)``.

    It was due at 0 and sent at 1,000,000 ns; ``headers`` come to the content type of a stream.
    """
    exchange = Exchange(
        request_id=ASK.request_id,
        scheduled_ns=0,
        offset_to_utc_ns=OFFSET_TO_UTC_NS,
        is_new_connection=False,
        peer="192.0.2.1",
        sent_ns=1_000_000,
        first_byte_ns=None if status is None else 2_000_000,
        end_ns=pieces[-1][0] if pieces else 3_000_000,
        http_status=status,
        headers={"content-type": "text/event-stream; charset=utf-8", **(headers or {})},
        pieces=tuple((arrived_ns, len(data)) for arrived_ns, data in pieces),
        body=b"".join(data for _, data in pieces),
        stamp_source="kernel",
        fault=fault,
    )
    ask = replace(ASK, provider_name=provider_name, tag=tag)
    return Transcript(run_id="run", ask=ask, exchange=exchange)


def event(chunk: dict[str, Any] | str) -> bytes:
    """Return the bytes of one event: a chunk, or any text."""
    text = chunk if isinstance(chunk, str) else json.dumps(chunk)
    return f"data: {text}\n\n".encode()


def delta(finish_reason: str | None = None, /, **values: Any) -> bytes:
    """Return an event whose chunk has a delta of ``values``."""
    return event({"choices": [{"index": 0, "delta": values, "finish_reason": finish_reason}]})


def usage(**values: Any) -> bytes:
    """Return an event with a usage and no choices."""
    return event({"choices": [], "usage": values})


def read(*events: bytes, **changes: Any) -> Sample:
    """Return the sample of a stream whose n-th event (from 1) came at n ms."""
    return read_sample(answered(*((n * MS, data) for n, data in enumerate(events, 1)), **changes))


ROLE = delta(role="assistant", content="")
STOP = delta("stop", content="")
DONE = event("[DONE]")
