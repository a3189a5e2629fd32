"""From attempts to exchanges, when the batch is over and time no longer matters."""

from __future__ import annotations

import re
from typing import NamedTuple

import h11

from pipeline.probes.engine.attempt import Attempt
from pipeline.probes.exchange import Exchange, Fault, StampSource

# Nothing else leaves the engine; others may be secrets, as cookies are.
_KEPT_HEADER = re.compile(
    "content-type|content-encoding|transfer-encoding|retry-after|server|date|via|cf-ray"
    "|x-request-id|x-request-seq|x-generation-id|openai-processing-ms"
    "|fireworks-server-time-to-first-token"
    "|(x-openrouter|x-ratelimit|ratelimit|x-tokenlimit|anthropic-ratelimit)-.+"
)
# If the offset between the clocks moved by more, one of them was set.
_STEADY_NS = 500_000


class Arrivals(NamedTuple):
    """When each read's last byte arrived, and how long it then waited to be read."""

    times_ns: list[int]
    lags_ms: list[float]
    source: StampSource | None


def arrivals_of(attempt: Attempt, offset_to_utc_ns: int) -> Arrivals:
    """Return the arrivals by the kernel's stamps, or by our own clock if they cannot be used.

    ``offset_to_utc_ns`` is that of the end of the batch.
    """
    reads, offset_ns = attempt.answer.reads, attempt.offset_to_utc_ns
    if not reads:
        return Arrivals([], [], None)
    is_steady = abs(offset_to_utc_ns - offset_ns) < _STEADY_NS
    if not is_steady or not all(stamp_utc_ns for stamp_utc_ns, _, _ in reads):
        return Arrivals([user_ns for _, user_ns, _ in reads], [], "user")
    times_ns = [stamp_utc_ns - offset_ns for stamp_utc_ns, _, _ in reads]
    lags_ms = [
        (user_ns - time_ns) / 1e6 for time_ns, (_, user_ns, _) in zip(times_ns, reads, strict=True)
    ]
    return Arrivals(times_ns, lags_ms, "kernel")


def exchange_of(attempt: Attempt, arrivals: Arrivals) -> Exchange:
    """Return what came of ``attempt``."""
    answer, head, times_ns = attempt.answer, attempt.answer.head, arrivals.times_ns
    body = answer.read_body()
    fault, end_ns = attempt.fault, attempt.end_ns
    if fault is None and body.problem is not None:
        fault = Fault("protocol", f"the answer is no HTTP: {body.problem}")
    if fault is None and not answer.is_ended_by_close:
        end_ns = times_ns[-1]
    return Exchange(
        request_id=attempt.request.request_id,
        scheduled_ns=attempt.scheduled_ns,
        offset_to_utc_ns=attempt.offset_to_utc_ns,
        is_new_connection=attempt.is_new_connection,
        peer=attempt.peer,
        dns_ms=attempt.dns_ms,
        connect_ms=_ms_between(attempt.began_ns, attempt.connected_ns),
        tls_ms=_ms_between(attempt.connected_ns, attempt.tls_done_ns),
        connected_ns=attempt.connected_ns,
        tls_done_ns=attempt.tls_done_ns,
        sent_ns=attempt.sent_ns,
        first_byte_ns=None if answer.head_read is None else times_ns[answer.head_read],
        end_ns=end_ns,
        http_status=None if head is None else head.status_code,
        headers=None if head is None else _kept_headers(head),
        pieces=tuple((times_ns[read], length) for read, length in body.pieces),
        body=body.data,
        stamp_source=arrivals.source,
        read_lag_max_ms=max(arrivals.lags_ms, default=None),
        fault=fault,
    )


def _ms_between(began_ns: int | None, ended_ns: int | None) -> float | None:
    return None if began_ns is None or ended_ns is None else (ended_ns - began_ns) / 1e6


def _kept_headers(head: h11.Response) -> dict[str, str]:
    kept: dict[str, str] = {}
    for raw_name, raw_value in head.headers:
        name, value = raw_name.decode("latin-1"), raw_value.decode("latin-1")
        if _KEPT_HEADER.fullmatch(name):
            kept[name] = f"{kept[name]}, {value}" if name in kept else value
    return kept
