"""Landed probe runs made by hand, for tests."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from probe_transcripts import DONE, MS, ROLE, STOP, answered, delta, usage

from pipeline.landing.probe_records import LandedProbeRun, ProbeRunStart
from pipeline.landing.probe_runs import ProbeLanding
from pipeline.landing.probe_writer import ProbeRunWriter
from pipeline.probes.reading import read_sample
from pipeline.probes.records import BatchRecord, SelfCheck
from pipeline.probes.transcript import Transcript

STARTED = datetime(2026, 6, 1, tzinfo=UTC)
SELF_CHECK = SelfCheck(
    concurrency=4,
    tokens_per_s=100.0,
    is_tls=True,
    requests=16,
    seconds=2.0,
    ttft_error_p50_ms=0.04,
    ttft_error_p99_ms=0.21,
    gap_error_p50_ms=0.01,
    gap_error_p99_ms=0.09,
    stamp_source="kernel",
)
BATCH = BatchRecord(
    batch=2,
    target="novita",
    prompt_set="short_chat",
    phase="measure",
    loop="closed",
    concurrency=4,
    offered_rate_per_s=None,
    round=1,
    requests=2,
    started_at_utc="2026-06-01T00:00:00+00:00",
    seconds=0.5,
    send_lag_p99_ms=0.1,
    read_lag_p99_ms=0.2,
    busy_share=0.1,
    machine_busy_share=0.4,
    steal_share=0.0,
    is_overloaded=False,
)


def transcript(request_id: str = "r1") -> Transcript:
    """Return a request sent at 1 ms: tokens at 20, 30 and 40 ms, the end at 60 ms, 0.00002 USD."""
    made = answered(
        (10 * MS, ROLE),
        (20 * MS, delta(content="one")),
        (30 * MS, delta(content=" two")),
        (40 * MS, delta(content=" three")),
        (50 * MS, STOP + usage(prompt_tokens=9, completion_tokens=3, cost=0.00002)),
        (60 * MS, DONE),
    )
    return replace(made, ask=replace(made.ask, request_id=request_id))


def begin(root: Path, run_id: str = "20260601T000000Z-00000001", day: int = 1) -> ProbeRunWriter:
    """Begin a run at midnight of a day in June 2026."""
    started = STARTED + timedelta(days=day - 1)
    return ProbeLanding(root).begin(
        ProbeRunStart(
            run_id=run_id,
            partition_date=started.date(),
            started_at_utc=started,
            market="live",
            region="eu",
            config_json="{}",
            engine_json="{}",
        )
    )


def land(
    root: Path,
    run_id: str = "20260601T000000Z-00000001",
    day: int = 1,
    transcripts: Iterable[Transcript] = (),
    problems: Iterable[str] = (),
) -> LandedProbeRun:
    """Land a run of ``transcripts``, by default two good requests."""
    with begin(root, run_id, day) as writer:
        writer.add_self_check(SELF_CHECK)
        made = list(transcripts) or [transcript("r1"), transcript("r2")]
        writer.add_transcripts(made)
        writer.add_batch(BATCH)
        finished = STARTED + timedelta(days=day - 1, minutes=1)
        return writer.seal(finished, map(read_sample, made), problems)
