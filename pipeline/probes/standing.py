"""What a run has learned of a target: whether to ask it, when, and how."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from pipeline.probes.metrics import metrics_of
from pipeline.probes.planning import PlannedBatch
from pipeline.probes.sample import Sample

# Asking again does not help: the key, the credit, the access or the model is missing.
LASTING_REFUSALS = {401, 402, 403, 404, 410}
REFUSALS_BELIEVED = 2
LONGEST_WAIT_S = 30.0


@dataclass
class Standing:
    """State of one target in a run.

    ``refusal`` says why nothing more is sent, None as long as it may be asked.
    ``asks_for_usage`` tells whether ``stream_options`` go with a request; some refuse them.
    ``mean_latency_s`` is that of the last batch which had an answer.
    """

    refusal: str | None = None
    asks_for_usage: bool = True
    mean_latency_s: float | None = None
    monotonic: Callable[[], float] = time.monotonic
    _is_usage_settled: bool = False
    _refused: list[int] = field(default_factory=list)
    _not_before_s: float = 0.0

    @property
    def is_doubtful(self) -> bool:
        """Whether the last answer was a lasting refusal, so that one request is enough to ask."""
        return bool(self._refused)

    @property
    def wait_s(self) -> float:
        """How long the target wants to be left alone, seconds."""
        return max(0.0, self._not_before_s - self.monotonic())

    def heed(self, batch: PlannedBatch, samples: Sequence[Sample]) -> None:
        """Learn from the answers to ``batch``."""
        self._heed_refusals(batch, samples)
        asked_waits = [
            sample.retry_after_s
            for sample in samples
            if sample.outcome in ("rate_limited", "overloaded") and sample.retry_after_s is not None
        ]
        if asked_waits:
            wait_s = min(max(asked_waits), LONGEST_WAIT_S)
            self._not_before_s = self.monotonic() + wait_s
        latencies_ms = [metrics_of(sample).e2e_ms for sample in samples if sample.outcome == "ok"]
        known_ms = [latency for latency in latencies_ms if latency is not None]
        if known_ms:
            self.mean_latency_s = fmean(known_ms) / 1000

    def refuses_usage(self, statuses: Sequence[int | None]) -> bool:
        """Learn from the HTTP statuses of a batch whether ``stream_options`` are refused.

        Return whether the batch is to be sent once more, without them: all of it was a bad request,
        and none with them has gone well so far. Where that does not help they were not the reason,
        and go with later requests again.
        """
        if self._is_usage_settled:
            return False
        is_bad_request = all(status == 400 for status in statuses)
        if is_bad_request and self.asks_for_usage:
            self.asks_for_usage = False
            return True
        if is_bad_request:
            self.asks_for_usage = self._is_usage_settled = True
        elif 200 in statuses:
            self._is_usage_settled = True
        return False

    def _heed_refusals(self, batch: PlannedBatch, samples: Sequence[Sample]) -> None:
        for sample in samples:
            status = sample.http_status
            if status not in LASTING_REFUSALS:
                self._refused = []
                continue
            if status not in self._refused:
                self._refused = []
            self._refused.append(status)
            # After a warm-up alone there would be no measured request that tells of it.
            if batch.phase != "warm_up" and len(self._refused) >= REFUSALS_BELIEVED:
                self.refusal = f"refused {REFUSALS_BELIEVED} times in a row: {sample.reason}"
                return
