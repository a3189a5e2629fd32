"""What prompt caching saves: pairs of requests with one long prefix."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from pipeline.probes.metrics import metrics_of
from pipeline.probes.quantiles import quantile
from pipeline.probes.sample import Sample


class CachedPrefixSaving(NamedTuple):
    """What the second request of a pair saved, over pairs whose both requests were ``ok``.

    ``saving_ms`` is the median of the TTFT of the first minus that of the second, ``cached_pct``
    the share of pairs for whose second request the provider reported cached tokens.
    """

    pairs: int
    saving_ms: float | None
    cached_pct: float | None


def cached_prefix_saving(samples: Iterable[Sample]) -> CachedPrefixSaving:
    """Compare the two requests of each pair in ``samples``; others are passed over."""
    turns: dict[tuple[str, str], dict[int, Sample]] = defaultdict(dict)
    for sample in samples:
        if sample.pair_id is not None and sample.outcome == "ok":
            turns[sample.run_id, sample.pair_id][sample.turn] = sample
    pairs = [(pair[1], pair[2]) for pair in turns.values() if pair.keys() == {1, 2}]
    if not pairs:
        return CachedPrefixSaving(0, None, None)
    ttfts = ((metrics_of(first).ttft_ms, metrics_of(second).ttft_ms) for first, second in pairs)
    return CachedPrefixSaving(
        pairs=len(pairs),
        saving_ms=quantile([a - b for a, b in ttfts if a is not None and b is not None], 0.5),
        cached_pct=100 * sum(bool(second.cached_tokens) for _, second in pairs) / len(pairs),
    )
