"""A probe's engine in time-lapse: plays a provider's answers without a socket and without waiting.

It is for the demo, whose market has a past that nobody could have measured. What it returns is
made up, byte for byte as the provider would have sent it and as the engine would have seen it.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

import h11

from pipeline.probes.engine.answer import Answer as ReceivedAnswer
from pipeline.probes.exchange import (
    Batch,
    BatchResult,
    EngineReport,
    EngineRequest,
    Exchange,
    Fault,
)
from pipeline.sandbox.provider.answers import Answer, Completions
from pipeline.sandbox.provider.http_requests import HttpRequest
from pipeline.sandbox.provider.truth import TrueRequest

_NS_PER_MS = 1_000_000
_WAY_NS = 15 * _NS_PER_MS  # from the probe to the provider, and back again
_CONNECT_MS, _TLS_MS = 30.0, 45.0
_KEPT_HEADERS = ("content-type", "retry-after", "server", "x-generation-id")


@dataclass
class _Open:
    """An answer that is being played; ordered by its end."""

    end_ns: int
    record: TrueRequest

    def __lt__(self, other: _Open) -> bool:
        return self.end_ns < other.end_ns


class TimeLapse:
    """Stands in for the engine's process; its clock begins at ``start`` and moves by playing."""

    def __init__(self, completions: Completions, start: datetime) -> None:
        self._completions = completions
        self._start = start
        self._now_ns = 0
        self._asked = 0
        self._connections = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        return None

    def now(self) -> datetime:
        """Return the time that it is in the time-lapse."""
        return self._start + timedelta(microseconds=self._now_ns / 1000)

    def stop(self) -> None:
        """There is nothing that takes any time."""

    def run(self, batch: Batch) -> BatchResult:
        """Play a closed loop of ``batch``; each stream keeps its connection."""
        streams = min(batch.concurrency, len(batch.requests))
        ramp_ns = round(batch.ramp_s * 1e9)
        free = [(self._now_ns + ramp_ns * number // streams, number) for number in range(streams)]
        heapq.heapify(free)
        under_way: list[_Open] = []
        exchanges = []
        for request in batch.requests:
            free_ns, stream = heapq.heappop(free)
            while under_way and under_way[0].end_ns <= free_ns:
                self._completions.ended(heapq.heappop(under_way).record)
            is_new = batch.uses_new_connections or stream >= self._connections
            self._connections = max(self._connections, stream + 1)
            exchange, played = self._play(request, free_ns, is_new=is_new)
            heapq.heappush(under_way, played)
            heapq.heappush(free, (played.end_ns, stream))
            exchanges.append(exchange)
        for played in under_way:
            self._completions.ended(played.record)
        self._now_ns = max(end_ns for end_ns, _ in free)
        return BatchResult(tuple(exchanges), EngineReport(0.0, 0.0, 0.0, None, None))

    def _play(
        self, request: EngineRequest, free_ns: int, *, is_new: bool
    ) -> tuple[Exchange, _Open]:
        is_tls = request.url.startswith("https:")
        set_up_ms = (_CONNECT_MS + (_TLS_MS if is_tls else 0.0)) if is_new else 0.0
        sent_ns = free_ns + round(set_up_ms * _NS_PER_MS)
        arrived_ns = sent_ns + _WAY_NS
        record = TrueRequest(
            seq=self._asked,
            connection=0,
            nth=1,
            accepted_ns=arrived_ns,
            arrived_ns=arrived_ns,
            stamp_source="kernel",
        )
        self._asked += 1
        answer = self._completions.answer(_http(request), record)
        received = _received(answer, arrived_ns + _WAY_NS)
        times_ns = [user_ns for _, user_ns, _ in received.reads]
        end_ns = times_ns[-1] if times_ns else arrived_ns
        body = received.read_body()
        head = received.head
        is_whole = answer.ending == "whole"
        return Exchange(
            request_id=request.request_id,
            scheduled_ns=free_ns,
            offset_to_utc_ns=_epoch_ns(self._start),
            is_new_connection=is_new,
            dns_ms=0.0 if is_new else None,
            connect_ms=_CONNECT_MS if is_new else None,
            tls_ms=_TLS_MS if is_new and is_tls else None,
            sent_ns=sent_ns,
            first_byte_ns=times_ns[0] if head is not None else None,
            end_ns=end_ns,
            http_status=None if head is None else head.status_code,
            headers=None if head is None else _kept(head),
            pieces=tuple((times_ns[read], length) for read, length in body.pieces),
            body=body.data,
            stamp_source="kernel",
            fault=None if is_whole else Fault("cut", "the provider ended the connection"),
        ), _Open(end_ns, record)


def _http(request: EngineRequest) -> HttpRequest:
    place = urlsplit(request.url)
    headers = {name.lower(): value for name, value in request.headers.items()}
    return HttpRequest("POST", place.path, place.query, headers, request.body)


def _received(answer: Answer, start_ns: int) -> ReceivedAnswer:
    client = h11.Connection(h11.CLIENT)
    client.send(h11.Request(method="POST", target="/", headers=[("Host", "sandbox")]))
    client.send(h11.EndOfMessage())
    received = ReceivedAnswer(client)
    for step in answer.steps:
        at_ns = start_ns + round(step.at_ms * _NS_PER_MS)
        received.add(at_ns, at_ns, step.data)
    return received


def _kept(head: h11.Response) -> dict[str, str]:
    named = {name.decode("ascii"): value.decode("latin-1") for name, value in head.headers}
    return {name: named[name] for name in _KEPT_HEADERS if name in named}


def _epoch_ns(instant: datetime) -> int:
    since = instant.astimezone(UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    return (since // timedelta(microseconds=1)) * 1000
