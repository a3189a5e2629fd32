"""Quantiles of raw samples, exact, and how sure they are; they are never averaged."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from math import exp, lgamma, log

LEVEL = 0.95
# From so many samples on, an interval of 95 % exists: before, the sample may well hold no value
# beyond the quantile at all, and its largest one says little.
FEWEST_SAMPLES = {0.05: 59, 0.95: 59, 0.99: 299}


def quantile(values: Sequence[float], q: float) -> float | None:
    """Return the ``q`` quantile, interpolated linearly (numpy's default); None of no values."""
    if not values:
        return None
    ordered = sorted(values)
    place = (len(ordered) - 1) * q
    share = place - int(place)
    lower, upper = ordered[int(place)], ordered[min(int(place) + 1, len(ordered) - 1)]
    # Infinite values stand for failures; beside one, no arithmetic that gives NaN.
    return lower if share == 0 or lower == upper else lower + (upper - lower) * share


def shown_quantile(values: Sequence[float], q: float) -> float | None:
    """Return the ``q`` quantile; None also where there are too few values to speak of it."""
    return quantile(values, q) if len(values) >= FEWEST_SAMPLES.get(q, 1) else None


def interval(values: Sequence[float], q: float, level: float = LEVEL) -> tuple[float, float] | None:
    """Return two of ``values`` that hold the true ``q`` quantile between them.

    With a probability of at least ``level``, whatever the distribution. None when there are too
    few values for that: fewer than 6 for a median, 59 for p95 and 299 for p99, at 95 %.
    """
    ranks = interval_ranks(len(values), q, level)
    if ranks is None:
        return None
    ordered = sorted(values)
    return ordered[ranks[0] - 1], ordered[ranks[1] - 1]


@lru_cache(maxsize=4096)
def interval_ranks(n: int, q: float, level: float = LEVEL) -> tuple[int, int] | None:
    """Return the ranks (from 1) of the values that bound the ``q`` quantile of ``n`` samples.

    The number of samples below the quantile is binomial, so the probability that it lies between
    the values of ranks l and u is P(l <= B < u), exactly. Of all pairs that reach ``level`` the
    closest one is taken, of equally close ones the surest.
    """
    # below[k] = P(B < k)
    below = [0.0, *accumulate(_binomial(k, n, q) for k in range(n + 1))]
    best: tuple[int, float, int] | None = None
    upper = 1
    for lower in range(1, n + 1):
        upper = max(upper, lower)
        while upper < n and below[upper] - below[lower] < level:
            upper += 1
        surety = below[upper] - below[lower]
        if surety < level:
            break
        # Rounded, so that pairs which mirror each other are equally sure.
        best = min(best or (n, 0.0, 0), (upper - lower, -round(surety, 12), lower))
    return None if best is None else (best[2], best[2] + best[0])


def _binomial(k: int, n: int, q: float) -> float:
    """Return the probability of ``k`` hits in ``n`` draws."""
    ways = lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
    return exp(ways + k * log(q) + (n - k) * log(1 - q))
