"""Aggregate throughput: tokens that arrive per second while all streams of a batch are busy."""

from __future__ import annotations

import heapq
from bisect import bisect_right
from collections.abc import Sequence

from pipeline.probes.metrics import tokens_of
from pipeline.probes.sample import Sample

_NS_PER_S = 1e9


def steady_window(samples: Sequence[Sample]) -> tuple[float, float] | None:
    """Return tokens that arrived in the steady window of a batch, and its length in seconds.

    The window opens when the last stream has its first token and closes with the last token of
    the first stream that finds no more requests; start-up and tail are no throughput. Tokens are
    those of ``ok`` samples, spread evenly over their chunks. None for an open loop, which has no
    streams, and for a batch that never ran steadily.
    """
    run = sorted(
        (s for s in samples if s.scheduled_ns is not None and s.end_ns is not None),
        key=_taken_ns,
    )
    if not run or run[0].loop == "open":
        return None
    opens_ns, closes_ns = _opens_ns(run), _closes_ns(run)
    if opens_ns is None or closes_ns <= opens_ns:
        return None
    tokens = sum(_tokens_between(s, opens_ns, closes_ns) for s in run if s.outcome == "ok")
    return tokens, (closes_ns - opens_ns) / _NS_PER_S


def _opens_ns(run: Sequence[Sample]) -> int | None:
    """Return when every request of the first moment in which all streams are busy has a token."""
    streams = min(run[0].concurrency, len(run))
    busy: list[tuple[int, int]] = []
    for number, sample in enumerate(run):
        while busy and busy[0][0] <= _taken_ns(sample):
            heapq.heappop(busy)
        heapq.heappush(busy, (_freed_ns(sample), number))
        if len(busy) == streams:
            firsts = (run[n].first_token_ns for _, n in busy)
            return max((first for first in firsts if first is not None), default=None)
    return None


def _closes_ns(run: Sequence[Sample]) -> int:
    """Return the last token of the first stream that came free after the last request was taken."""
    no_more_ns = _taken_ns(run[-1])
    first = min((s for s in run if _freed_ns(s) > no_more_ns), key=_freed_ns, default=run[-1])
    return _freed_ns(first) if first.last_token_ns is None else first.last_token_ns


def _tokens_between(sample: Sample, after_ns: int, until_ns: int) -> float:
    chunks = bisect_right(sample.chunk_ns, until_ns) - bisect_right(sample.chunk_ns, after_ns)
    return chunks * (tokens_of(sample) or 0) / len(sample.chunk_ns) if chunks else 0.0


def _taken_ns(sample: Sample) -> int:
    return sample.scheduled_ns or 0


def _freed_ns(sample: Sample) -> int:
    return sample.end_ns or 0
