"""What prompt caching saves: pairs of requests with one long prefix."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from pipeline.probes.metrics import metrics_of
from pipeline.probes.quantiles import quantile
from pipeline.probes.sample import Sample


def cached_prefix_saving_ms(samples: Iterable[Sample]) -> float | None:
    """Return what the second request of a pair saved: the median of first TTFT minus second.

    Over the pairs in ``samples`` whose both requests were ``ok``; None without any. Requests that
    are no part of a pair are passed over.
    """
    turns: dict[tuple[str, str], dict[int, Sample]] = defaultdict(dict)
    for sample in samples:
        if sample.pair_id is not None and sample.outcome == "ok":
            turns[sample.run_id, sample.pair_id][sample.turn] = sample
    pairs = [(pair[1], pair[2]) for pair in turns.values() if pair.keys() == {1, 2}]
    ttfts = ((metrics_of(first).ttft_ms, metrics_of(second).ttft_ms) for first, second in pairs)
    return quantile([a - b for a, b in ttfts if a is not None and b is not None], 0.5)
