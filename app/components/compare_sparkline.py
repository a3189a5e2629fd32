"""A price's course in the last 90 days as a line the size of a word, with its ends in figures."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal

import polars as pl

from app.components import formatting
from app.components.markup import Markup, element, joined

SPAN = timedelta(days=90)
_WIDTH, _HEIGHT, _EDGE = 120, 28, 3


def daily_prices(
    history: pl.DataFrame, now: datetime, *, column: str = "input_usd_per_mtok"
) -> list[Decimal | None]:
    """Return the lowest price of each of the last 90 days, oldest first, USD per million tokens.

    Of rows of ``marts.price_history``, those of the standard tier that cost something; None on a
    day without any.
    """
    spans = history.filter(pl.col("tier") == "standard", pl.col(column) > 0).select(
        "valid_from_utc", pl.col("valid_to_utc").fill_null(pl.lit(now)), column
    )
    rows = spans.rows()
    days = [now - timedelta(days=back) for back in range(SPAN.days, -1, -1)]
    return [
        min((price for first, last, price in rows if first <= day <= last), default=None)
        for day in days
    ]


def sparkline(prices: Sequence[Decimal | None]) -> Markup | None:
    """Return the line; None where no day has a price. The axis begins at zero."""
    known = [price for price in prices if price is not None]
    if not known:
        return None
    first, last = formatting.price_texts([known[0], known[-1]])
    low, high = formatting.price_texts([min(known), max(known)])
    said = f"{first} to {last} $/M in 90 days; lowest {low}, highest {high}"
    steps = _steps(prices, max(known))
    drawing = element(
        "svg",
        element("path", d=steps, fill="none", stroke="currentColor", stroke_width=2),
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        class_="tt-spark",
        role="img",
        aria_label=said,
    )
    change = first if first == last else f"{first} \u2192 {last}"
    return joined([drawing, element("small", change, title=said)])


def _steps(prices: Sequence[Decimal | None], top: Decimal) -> str:
    step = _WIDTH / max(len(prices), 1)
    parts = []
    drawn = False
    for index, price in enumerate(prices):
        if price is None:
            drawn = False
            continue
        height = _HEIGHT - _EDGE - float(price / top) * (_HEIGHT - 2 * _EDGE)
        x = index * step
        parts.append(f"{'L' if drawn else 'M'}{x:.1f} {height:.1f}H{x + step:.1f}")
        drawn = True
    return "".join(parts)
