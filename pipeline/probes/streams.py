"""What the body of an answer says as a whole, and when each part of it came."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from pipeline.exact_json import NotJson, read_json
from pipeline.probes.chunks import Chunk, read_chunk
from pipeline.probes.content_coding import ContentCodingError, decoded_pieces
from pipeline.probes.exchange import Exchange
from pipeline.probes.provider_errors import ProviderError, error_in, error_of_body, excerpt
from pipeline.probes.sse import SseEvent, SseParser
from pipeline.probes.usage import merged


@dataclass
class Stream:
    """A streamed completion; times are the stamps of the reads that completed their events.

    ``events`` counts events with data but the closing ``[DONE]``; ``first_event_ns`` is of the
    first. ``chunk_ns`` and ``chunk_bytes`` are of the chunks with generated text. Of names and
    errors the first counts, of finish reasons and usage the last that is not null.
    """

    events: int = 0
    first_event_ns: int | None = None
    first_reasoning_ns: int | None = None
    first_answer_ns: int | None = None
    chunk_ns: list[int] = field(default_factory=list)
    chunk_bytes: list[int] = field(default_factory=list)
    is_done_seen: bool = False
    finish_reason: str | None = None
    generation_id: str | None = None
    model: str | None = None
    provider: str | None = None
    usage: dict[str, Any] = field(default_factory=dict)
    x_groq_usage: dict[str, Any] = field(default_factory=dict)
    server_timing: dict[str, Any] = field(default_factory=dict)
    error: ProviderError | None = None

    def take(self, event: SseEvent) -> None:
        """Take in the next event; what follows ``[DONE]`` is no part of the answer."""
        if event.data is None or self.is_done_seen:
            return
        data = event.data.strip()
        if data == "[DONE]":
            self.is_done_seen = True
            return
        document = _json(data.encode())
        is_chunk = isinstance(document, dict)
        if event.is_cut and not is_chunk:
            return  # the rest of it never came
        self.events += 1
        if self.first_event_ns is None:
            self.first_event_ns = event.completed_ns
        if is_chunk:
            self._take_chunk(event.completed_ns, read_chunk(document))
        if event.name == "error":
            self._fail(error_of_body(data.encode()))
        elif event.name == "message" and data and not is_chunk:
            self._fail(ProviderError(excerpt(f"event {self.events} is no JSON object: {data}")))

    def _take_chunk(self, arrived_ns: int, chunk: Chunk) -> None:
        if chunk.reasoning and self.first_reasoning_ns is None:
            self.first_reasoning_ns = arrived_ns
        if (chunk.answer or chunk.tool_call) and self.first_answer_ns is None:
            self.first_answer_ns = arrived_ns
        if chunk.text:
            self.chunk_ns.append(arrived_ns)
            self.chunk_bytes.append(len(chunk.text.encode()))
        self.finish_reason = chunk.finish_reason or self.finish_reason
        self.generation_id = self.generation_id or chunk.generation_id
        self.model = self.model or chunk.model
        self.provider = self.provider or chunk.provider
        self.usage = merged(self.usage, chunk.usage)
        self.x_groq_usage = merged(self.x_groq_usage, chunk.x_groq_usage)
        self.server_timing = merged(self.server_timing, chunk.server_timing)
        if chunk.error is not None:
            self._fail(chunk.error)

    def _fail(self, error: ProviderError) -> None:
        self.error = self.error or error


def read_stream(exchange: Exchange) -> Stream:
    """Read the body of an answer, whatever it holds; never raises.

    An answer with another status than 2xx, or whose body is something else than a stream (a page
    of HTML, one JSON document), gives a stream without events and with an ``error``.
    """
    headers = exchange.headers or {}
    stream, parser = Stream(), SseParser()
    parts: list[bytes] = []
    events: list[SseEvent] = []
    try:
        for arrived_ns, data in decoded_pieces(
            exchange.body, exchange.pieces, headers.get("content-encoding")
        ):
            parts.append(data)
            events += parser.feed(arrived_ns, data)
    except ContentCodingError as problem:
        stream.error = ProviderError(str(problem))
    body = b"".join(parts)
    if not is_success(exchange.http_status):
        stream.error = stream.error or error_of_body(body)
        return stream
    events += parser.close()
    for event in events:
        stream.take(event)
    if not events and stream.error is None:
        stream.error = _not_a_stream(body, headers.get("content-type", ""))
    return stream


def is_success(http_status: int | None) -> bool:
    """Is this a status under which a stream may come?"""
    return http_status is not None and 200 <= http_status < 300


def is_buffered(chunk_ns: list[int], tokens: int) -> bool:
    """Did the answer come in blocks, so that its gaps say nothing of the decode speed?

    Yes, if eight tokens or more came within a millisecond, or if at least 90 % of nine gaps or
    more are about zero: below 0.1 ms and below a twentieth of the mean gap. So a gateway with a
    buffer of 16 KB is found, and a stream that only stalled or is only fast is not.
    """
    if not chunk_ns or max(tokens, len(chunk_ns)) < 8:
        return False
    span, gaps = chunk_ns[-1] - chunk_ns[0], len(chunk_ns) - 1
    if span < 1_000_000:
        return True
    zero_ns = min(100_000, span / gaps / 20)
    zeros = sum(after - before < zero_ns for before, after in pairwise(chunk_ns))
    return gaps >= 9 and zeros >= 0.9 * gaps


def _not_a_stream(body: bytes, content_type: str) -> ProviderError | None:
    document = _json(body)
    if document is not None:
        return error_in(document) or ProviderError("one JSON document came instead of a stream")
    if not content_type or "event-stream" in content_type.lower() or not body.strip():
        return None
    kind = content_type.partition(";")[0]
    return ProviderError(excerpt(f"{kind} came instead of a stream: {error_of_body(body).message}"))


def _json(data: bytes) -> Any:
    """Return the JSON value, None for what is none."""
    try:
        return read_json(data)
    except NotJson:
        return None
