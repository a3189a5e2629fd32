"""A batch from its requests to its result."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from math import inf

from pipeline.probes.engine.attempt import Attempt
from pipeline.probes.engine.clocks import offset_to_utc_ns
from pipeline.probes.engine.lag import Load, report, send_lag_ms
from pipeline.probes.engine.loop import Loop
from pipeline.probes.engine.message import MessageError, message_of
from pipeline.probes.engine.network import Network
from pipeline.probes.engine.records import arrivals_of, exchange_of
from pipeline.probes.exchange import Batch, BatchResult, EngineRequest, Exchange, Fault


def run_batch(batch: Batch, network: Network, is_stopped: Callable[[], bool]) -> BatchResult:
    """Run the requests of ``batch``; when ``is_stopped`` says so, all that is left is stopped."""
    written = [_attempt_or_fault(request, batch, network) for request in batch.requests]
    attempts = [attempt for attempt in written if isinstance(attempt, Attempt)]
    _prepare(batch, attempts, network, is_stopped)
    streams = max(1, min(batch.concurrency, len(attempts)))
    before = Load.now()
    Loop(attempts, streams, batch.ramp_s, network, is_stopped).run()
    after = Load.now()
    offset_ns = offset_to_utc_ns()
    exchanges: list[Exchange] = []
    read_lags_ms: list[float] = []
    for attempt in written:
        if isinstance(attempt, Exchange):
            exchanges.append(attempt)
            continue
        arrivals = arrivals_of(attempt, offset_ns)
        read_lags_ms += arrivals.lags_ms
        exchanges.append(exchange_of(attempt, arrivals))
    send_lags_ms = [lag_ms for lag_ms in map(send_lag_ms, attempts) if lag_ms is not None]
    return BatchResult(tuple(exchanges), report(before, after, send_lags_ms, read_lags_ms))


def _attempt_or_fault(request: EngineRequest, batch: Batch, network: Network) -> Attempt | Exchange:
    try:
        message = message_of(request)
    except MessageError as error:
        return Exchange(
            request_id=request.request_id,
            scheduled_ns=time.monotonic_ns(),
            offset_to_utc_ns=offset_to_utc_ns(),
            fault=Fault("protocol", str(error)),
        )
    return Attempt(request, message, network, is_alone=batch.uses_new_connections)


def _prepare(
    batch: Batch, attempts: list[Attempt], network: Network, is_stopped: Callable[[], bool]
) -> None:
    requests = Counter(attempt.origin for attempt in attempts)
    wanted = {
        origin: (inf if batch.uses_new_connections else min(n, batch.concurrency))
        for origin, n in requests.items()
    }
    longest_s = max((attempt.request.deadlines.connect_s for attempt in attempts), default=0.0)
    network.prepare(wanted, longest_s, is_stopped)
