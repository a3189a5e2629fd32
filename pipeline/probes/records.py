"""What a run records beside its transcripts: how each batch went, and what the self-check found."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.probes.transcript import Loop, Phase


@dataclass(frozen=True)
class BatchRecord:
    """How a batch went: what ran together, and how well the engine kept up.

    The shares and lags are those of ``EngineReport``. ``is_overloaded`` says that requests went
    out so late that the figures are refused.
    """

    batch: int
    target: str
    prompt_set: str
    phase: Phase
    loop: Loop
    concurrency: int
    offered_rate_per_s: float | None
    round: int
    requests: int
    started_at_utc: str
    seconds: float
    send_lag_p99_ms: float | None
    read_lag_p99_ms: float | None
    busy_share: float
    machine_busy_share: float | None
    steal_share: float | None
    is_overloaded: bool


@dataclass(frozen=True)
class SelfCheck:
    """The instrument's error against a loopback server that logs its own times.

    Errors are absolute differences, ms: of the TTFT, and of the gaps between chunks.
    ``tokens_per_s`` is the rate of each stream.
    """

    concurrency: int
    tokens_per_s: float
    is_tls: bool
    requests: int
    seconds: float
    ttft_error_p50_ms: float
    ttft_error_p99_ms: float
    gap_error_p50_ms: float
    gap_error_p99_ms: float
    stamp_source: str
