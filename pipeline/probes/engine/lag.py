"""How well the engine kept up: what it made wait, and what the machine left it."""

from __future__ import annotations

import time
from collections.abc import Iterable
from math import ceil
from pathlib import Path
from typing import NamedTuple

from pipeline.probes.engine.attempt import Attempt
from pipeline.probes.exchange import EngineReport

_PROC_STAT = Path("/proc/stat")


class Load(NamedTuple):
    """Processor time used so far: our own, and the machine's in ticks (None where not told)."""

    wall_s: float
    own_s: float
    machine_ticks: tuple[int, ...] | None

    @classmethod
    def now(cls) -> Load:
        """Read the counters."""
        try:
            fields = _PROC_STAT.read_text("ascii").partition("\n")[0].split()[1:9]
        except OSError:
            fields = []
        ticks = tuple(map(int, fields)) if fields else None
        return cls(time.monotonic(), time.process_time(), ticks)


def report(
    before: Load, after: Load, send_lags_ms: Iterable[float], read_lags_ms: Iterable[float]
) -> EngineReport:
    """Return the report of a batch that ran from ``before`` to ``after``."""
    machine_busy_share = steal_share = None
    if before.machine_ticks is not None and after.machine_ticks is not None:
        pairs = zip(before.machine_ticks, after.machine_ticks, strict=True)
        _, _, _, idle, io_wait, _, _, steal = ticks = [late - early for early, late in pairs]
        total = max(sum(ticks), 1)
        machine_busy_share = 1.0 - (idle + io_wait) / total
        steal_share = steal / total
    return EngineReport(
        send_lag_p99_ms=p99(send_lags_ms),
        read_lag_p99_ms=p99(read_lags_ms),
        busy_share=(after.own_s - before.own_s) / max(after.wall_s - before.wall_s, 1e-9),
        machine_busy_share=machine_busy_share,
        steal_share=steal_share,
    )


def send_lag_ms(attempt: Attempt) -> float | None:
    """Return how long a request waited for us: from its due time on, connecting left out.

    In an open loop the wait for a free stream is part of it. None if nothing was sent.
    """
    if attempt.began_sending_ns is None:
        return None
    ready_ns = attempt.tls_done_ns or attempt.connected_ns or attempt.began_ns
    connecting_ns = ready_ns - attempt.began_ns
    return (attempt.began_sending_ns - attempt.scheduled_ns - connecting_ns) / 1e6


def p99(values: Iterable[float]) -> float | None:
    """Return the smallest value that 99 % do not exceed, None without values."""
    ordered = sorted(values)
    return ordered[ceil(0.99 * len(ordered)) - 1] if ordered else None
