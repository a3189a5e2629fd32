"""How a plan is played: batch by batch, each recorded at once, until its end or the budget's."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime

from pipeline.probes.asking import Asker
from pipeline.probes.budget import RunBudget
from pipeline.probes.exchange import Engine, EngineReport
from pipeline.probes.metrics import metrics_of
from pipeline.probes.planning import PlannedBatch
from pipeline.probes.quantiles import quantile
from pipeline.probes.reading import read_sample
from pipeline.probes.recorder import Recorder
from pipeline.probes.records import BatchRecord, SelfCheck
from pipeline.probes.sample import Sample
from pipeline.probes.self_check import InstrumentCheck, SelfCheckError
from pipeline.probes.standing import Standing
from pipeline.probes.transcript import NotSent, Transcript
from pipeline.probes.trust import is_overloaded, is_trusted
from pipeline.progress import Progress
from pipeline.sandbox.provider.process import ProviderError


@dataclass(frozen=True)
class PlayedBatch:
    """A batch and its samples; ``record`` is None when nothing of it was sent.

    ``is_trusted`` says that the self-check at its concurrency was good enough for its figures,
    and that the probe was not overloaded.
    """

    record: BatchRecord | None
    samples: tuple[Sample, ...]
    self_check_ttft_error_p99_ms: float | None
    is_trusted: bool


@dataclass
class Playing:
    """A run under way: what it needs, and what has come of it."""

    run_id: str
    recorder: Recorder
    asker: Asker
    budget: RunBudget
    standings: Mapping[str, Standing]
    clock: Callable[[], datetime]
    progress: Progress
    stop: threading.Event
    on_batch: Callable[[PlayedBatch], None]
    played: list[PlayedBatch] = field(default_factory=list)
    checks: list[SelfCheck] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def check_instrument(self, engine: Engine, plan: Sequence[PlannedBatch]) -> None:
        """Check the engine at every concurrency of ``plan``; failing to is a problem of the run."""
        is_tls = any(batch.target.base_url.startswith("https:") for batch in plan)
        try:
            with InstrumentCheck(engine, is_tls=is_tls) as instrument:
                for level in sorted({batch.concurrency for batch in plan}):
                    if self.stop.is_set():
                        break
                    self.checks.append(instrument.check(level))
        except (SelfCheckError, ProviderError, OSError) as error:
            if not self.stop.is_set():
                self.problems.append(f"the self-check failed, so no figure is trusted: {error}")
        for check in self.checks:
            self.recorder.add_self_check(check)

    def play(self, engine: Engine, plan: Sequence[PlannedBatch]) -> None:
        """Play ``plan`` until it ends or the run is stopped."""
        queue, number = deque(plan), 0
        while queue and not self.stop.is_set():
            batch = queue.popleft()
            number += 1
            standing = self.standings[batch.target.name]
            if standing.refusal is not None:
                self._leave_out(batch, number, "refused_config", standing.refusal)
                continue
            if standing.is_doubtful and len(batch.requests) > 1:
                queue.appendleft(batch.part(1))
                batch = batch.part(0, 1)
            # Never idly: a signal whose handler sets the event while we enter `wait` is a deadlock.
            wait_s = standing.wait_s
            if wait_s and self.stop.wait(wait_s):
                return
            fitting, limit = self.budget.reserve(batch)
            if fitting:
                is_asked_again = self._send(engine, batch.part(0, fitting), number, standing)
                if is_asked_again:
                    queue.appendleft(batch.part(0, fitting))
            if fitting < len(batch.requests):
                self._leave_out(
                    batch.part(fitting), number, "cancelled_budget", f"{limit} has no room for it"
                )

    def _send(self, engine: Engine, batch: PlannedBatch, number: int, standing: Standing) -> bool:
        """Send ``batch``; return whether it is to be sent once more."""
        asks = self.asker.asks_of(batch, number)
        started_at_utc, started = self.clock(), time.monotonic()
        result = engine.run(self.asker.engine_batch(batch, asks, standing))
        seconds = time.monotonic() - started
        is_asked_again = standing.refuses_usage([each.http_status for each in result.exchanges])
        if is_asked_again:
            # What was refused is our own manner of asking, so it stands in no figure.
            batch = replace(batch, phase="warm_up")
            asks = [replace(ask, phase="warm_up") for ask in asks]
            self.warnings.append(
                f"target {batch.target.name} refused a request with stream_options; "
                "asked without, so its tokens may be counted by chunks"
            )
        transcripts = [
            Transcript(self.run_id, ask, self.asker.without_key(exchange, ask.target))
            for ask, exchange in zip(asks, result.exchanges, strict=True)
        ]
        self.recorder.add_transcripts(transcripts)
        samples = tuple(map(read_sample, transcripts))
        self.budget.settle(batch, samples)
        record = _record(
            batch,
            number,
            samples,
            result.report,
            started_at_utc=started_at_utc,
            seconds=seconds,
        )
        self.recorder.add_batch(record)
        self._tell(record, samples)
        standing.heed(batch, samples)
        return is_asked_again

    def _leave_out(self, batch: PlannedBatch, number: int, why: NotSent, reason: str) -> None:
        transcripts = [
            Transcript(self.run_id, ask, None, why, reason)
            for ask in self.asker.asks_of(batch, number)
        ]
        self.recorder.add_transcripts(transcripts)
        self._tell(None, tuple(map(read_sample, transcripts)))

    def _tell(self, record: BatchRecord | None, samples: Sequence[Sample]) -> None:
        played = played_batch(record, samples, self.checks)
        self.played.append(played)
        self.on_batch(played)
        for sample in samples:
            self.progress.advance(has_failed=sample.outcome != "ok")


def played_batch(
    record: BatchRecord | None, samples: Sequence[Sample], checks: Iterable[SelfCheck]
) -> PlayedBatch:
    """Put together what is known of a batch; ``checks`` are all self-checks of the run."""
    level = samples[0].concurrency
    errors_ms = [check.ttft_error_p99_ms for check in checks if check.concurrency == level]
    error_ms = max(errors_ms, default=None)
    is_fit = record is not None and not record.is_overloaded
    return PlayedBatch(
        record,
        tuple(samples),
        error_ms,
        is_trusted=is_fit and is_trusted(_median_ttft_ms(samples), error_ms),
    )


def _record(
    batch: PlannedBatch,
    number: int,
    samples: Sequence[Sample],
    report: EngineReport,
    *,
    started_at_utc: datetime,
    seconds: float,
) -> BatchRecord:
    return BatchRecord(
        batch=number,
        target=batch.target.name,
        prompt_set=batch.prompt_set,
        phase=batch.phase,
        loop=batch.loop,
        concurrency=batch.concurrency,
        offered_rate_per_s=batch.offered_rate_per_s,
        round=batch.round,
        requests=len(samples),
        started_at_utc=started_at_utc.isoformat(),
        seconds=seconds,
        **asdict(report),
        is_overloaded=is_overloaded(report.send_lag_p99_ms, _median_ttft_ms(samples)),
    )


def _median_ttft_ms(samples: Sequence[Sample]) -> float | None:
    ttfts_ms = [metrics_of(sample).ttft_ms for sample in samples if sample.outcome == "ok"]
    return quantile([ttft_ms for ttft_ms in ttfts_ms if ttft_ms is not None], 0.5)
