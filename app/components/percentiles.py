"""Percentiles of our own measurements as text: one that too few requests support is no number."""

from __future__ import annotations

from app.components import formatting
from app.components.markup import Markup, element, joined
from pipeline.probes.quantiles import FEWEST_SAMPLES

TOO_SMALL = "n too small"


def percentile(name: str, value: float | None, n: int) -> Markup:
    """Write percentile ``name`` ("p95") over ``n`` requests: its value, or why it has none."""
    needed = FEWEST_SAMPLES.get(int(name.removeprefix("p")) / 100, 1)
    if value is not None or not 0 < n < needed:
        return joined([formatting.rate_text(value)])
    title = f"{name} needs {needed} requests; there {'is' if n == 1 else 'are'} {n}"
    return element("span", TOO_SMALL, class_="tt-small-n", title=title)


def interval(low: float | None, high: float | None) -> Markup | None:
    """Write a 95 % interval beneath its figure; None where there are too few requests for one."""
    if low is None or high is None:
        return None
    return element(
        "small",
        f"{formatting.rate_text(low)}\u2013{formatting.rate_text(high)}",
        title="Holds the true value with 95 % confidence",
    )
