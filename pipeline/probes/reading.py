"""How a transcript becomes a sample: pure, and whatever the exchange holds."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

from pipeline.exact_json import write_json
from pipeline.probes.exchange import Exchange
from pipeline.probes.outcomes import judge
from pipeline.probes.provider_errors import excerpt
from pipeline.probes.response_headers import rate_limit_json, retry_after_s
from pipeline.probes.sample import Sample, TokenSource
from pipeline.probes.streams import Stream, is_buffered, read_stream
from pipeline.probes.transcript import Transcript
from pipeline.probes.usage import Tokens, read_tokens, reported_cost, timing_in_usage

_AS_EXCHANGED = (
    "http_status",
    "stamp_source",
    "is_new_connection",
    "peer",
    "dns_ms",
    "connect_ms",
    "tls_ms",
    "scheduled_ns",
    "connected_ns",
    "tls_done_ns",
    "sent_ns",
    "first_byte_ns",
    "end_ns",
)
_TIMING_HEADERS = ("openai-processing-ms", "fireworks-server-time-to-first-token")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def read_sample(transcript: Transcript) -> Sample:
    """Read the transcript of one request; the same transcript always gives the same sample.

    The first token is the first chunk with generated text of any channel, the first answer token
    the first that is not reasoning (content, refusal or tool call), the last token the last chunk
    with text: roles, empty chunks, usage and comments are no tokens. Token counts are as reported
    (``usage`` before ``x_groq.usage``), else ``completion_tokens`` is the number of chunks.
    """
    exchange = transcript.exchange
    headers = {} if exchange is None else exchange.headers or {}
    stream = Stream() if exchange is None else read_stream(exchange)
    outcome, reason = judge(transcript, stream)
    tokens, token_source = _count_tokens(stream)
    usage = _usage(stream)
    timing = {
        **stream.server_timing,
        "usage": timing_in_usage(usage),
        "headers": {name: headers[name] for name in _TIMING_HEADERS if name in headers},
    }
    timing = {place: times for place, times in timing.items() if times}
    asked = asdict(transcript.ask)
    del asked["base_url"]
    planned_at_utc = datetime.fromisoformat(asked.pop("scheduled_at_utc"))
    exchanged: dict[str, Any] = {name: getattr(exchange, name, None) for name in _AS_EXCHANGED}
    first_token_ns, last_token_ns = (
        (stream.chunk_ns[0], stream.chunk_ns[-1]) if stream.chunk_ns else (None, None)
    )
    return Sample(
        run_id=transcript.run_id,
        **asked,
        **exchanged,
        outcome=outcome,
        reason=reason,
        finish_reason=stream.finish_reason,
        is_done_seen=stream.is_done_seen,
        served_by=stream.provider,
        served_model=stream.model,
        generation_id=stream.generation_id or headers.get("x-generation-id"),
        retry_after_s=retry_after_s(headers, _utc(exchange, "first_byte_ns")),
        rate_limit_json=rate_limit_json(headers),
        content_encoding=excerpt(headers.get("content-encoding", "").lower()) or None,
        first_event_ns=stream.first_event_ns,
        first_reasoning_ns=stream.first_reasoning_ns,
        first_token_ns=first_token_ns,
        first_answer_ns=stream.first_answer_ns,
        last_token_ns=last_token_ns,
        chunk_ns=tuple(stream.chunk_ns),
        chunk_bytes=tuple(stream.chunk_bytes),
        events=stream.events,
        coalesced_chunks=sum(before == after for before, after in pairwise(stream.chunk_ns)),
        is_buffered=is_buffered(stream.chunk_ns, tokens.completion or 0),
        is_reasoning_hidden=bool(tokens.reasoning) and stream.first_reasoning_ns is None,
        prompt_tokens=tokens.prompt,
        completion_tokens=tokens.completion,
        reasoning_tokens=tokens.reasoning,
        cached_tokens=tokens.cached,
        token_source=token_source,
        usage_json=write_json(usage) if usage else None,
        server_timing_json=write_json(timing) if timing else None,
        cost_usd=reported_cost(usage),
        scheduled_at_utc=_utc(exchange, "scheduled_ns") or planned_at_utc.astimezone(UTC),
        sent_at_utc=_utc(exchange, "sent_ns"),
    )


def _usage(stream: Stream) -> dict[str, Any]:
    return {**stream.x_groq_usage, **stream.usage}


def _count_tokens(stream: Stream) -> tuple[Tokens, TokenSource | None]:
    """Return the counts and where that of the completion is from.

    A usage that states no tokens, or none although text came, is no count.
    """
    tokens = read_tokens(_usage(stream))
    if read_tokens(stream.usage).completion:
        return tokens, "usage"
    if tokens.completion:
        return tokens, "x_groq"
    if stream.chunk_ns:
        return replace(tokens, completion=len(stream.chunk_ns)), "chunks"
    return tokens, None


def _utc(exchange: Exchange | None, name: str) -> datetime | None:
    at_ns: int | None = getattr(exchange, name, None)
    if exchange is None or at_ns is None:
        return None
    return _EPOCH + timedelta(microseconds=(at_ns + exchange.offset_to_utc_ns) // 1000)
