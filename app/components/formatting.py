"""Numbers, prices and ages as text: null is a dash, and no difference is hidden."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from decimal import ROUND_HALF_UP, Context, Decimal

MISSING = "\u2013"  # en dash
MIN_DECIMALS = 2
# A longer price is shown rounded, to at least this many digits; its exact value is a tooltip.
ROUNDED_DIGITS = 6
FIGURE_SPACE = "\u2007"  # as wide as a digit

_WIDE = Context(prec=60, rounding=ROUND_HALF_UP)


def price_texts(prices: Sequence[Decimal | None]) -> list[str]:
    """Write prices so that two which differ are never written the same.

    Values: USD per million tokens. A price is written exactly, with at least two decimals; one
    with more than ``ROUNDED_DIGITS`` significant digits is rounded to as many digits as set it
    apart from the others in ``prices``. None is ``MISSING``.
    """
    texts = {price: _shortest(price, ROUNDED_DIGITS) for price in prices if price is not None}
    digits = ROUNDED_DIGITS
    while clashes := [text for text, count in Counter(texts.values()).items() if count > 1]:
        digits += 1
        for price, text in texts.items():
            if text in clashes:
                texts[price] = _shortest(price, digits)
    return [MISSING if price is None else texts[price] for price in prices]


def price_text(price: Decimal | None) -> str:
    """Write one price; see ``price_texts``."""
    return price_texts([price])[0]


def exact(number: Decimal) -> str:
    """Write a decimal in full, without exponent and trailing zeros, with at least two decimals."""
    plain = f"{number:f}"
    whole, _, decimals = plain.partition(".")
    return f"{whole}.{decimals.rstrip('0').ljust(MIN_DECIMALS, '0')}"


def aligned(texts: Sequence[str]) -> list[str]:
    """Pad numbers on the right so that the points of a right-aligned column stand in a line."""
    widest = max((_decimals(text) for text in texts), default=0)
    return [
        text + FIGURE_SPACE * (widest - _decimals(text)) if "." in text else text for text in texts
    ]


def uptime_text(percent: float | None) -> str:
    """Write an uptime with two decimals, cut: only a full 100 is written "100.00%"."""
    return MISSING if percent is None else f"{math.floor(percent * 100 + 1e-9) / 100:.2f}%"


def change_text(percent: float | None) -> str:
    """Write a relative change with its sign; one below 0.1 % keeps its first digit."""
    if percent is None:
        return ""
    decimals = 0 if abs(percent) >= 10 else 1 if abs(percent) >= 0.1 else 3
    return f"{percent:+.{decimals}f}%".replace("-", "\u2212")


def count_text(count: float | None) -> str:
    """Write a whole number with thousands separators."""
    return MISSING if count is None else f"{count:,.0f}"


def rate_text(rate: float | None) -> str:
    """Write tokens per second: one decimal below 10, none above."""
    return MISSING if rate is None else f"{rate:,.{1 if rate < 10 else 0}f}"


def ms_text(ms: float | None) -> str:
    """Write milliseconds: one decimal below 10, none above."""
    return rate_text(ms)


def share_text(percent: float | None) -> str:
    """Write a share with one decimal: only none of it is "0%", only all of it "100%"."""
    if percent is None:
        return MISSING
    return f"{percent:.0f}%" if percent in (0, 100) else f"{min(max(percent, 0.1), 99.9):.1f}%"


def three_digits(number: float | None) -> str:
    """Write a measured number with three significant digits, without an exponent."""
    return MISSING if number is None else f"{Decimal(f'{number:#.3g}'):,f}"


def bytes_text(size: int) -> str:
    """Write a file size in the unit that leaves one to four digits."""
    number = float(size)
    for unit in ("B", "kB", "MB"):
        if number < 1000:
            return f"{number:,.0f} {unit}" if unit == "B" else f"{number:,.1f} {unit}"
        number /= 1000
    return f"{number:,.1f} GB"


def age_text(then: datetime | None, now: datetime) -> str:
    """Write how long ago ``then`` was, both UTC, in the largest fitting unit."""
    if then is None:
        return "never"
    seconds = (now - then).total_seconds()
    if seconds < 60:
        return "just now"
    for unit, length, limit in (("minute", 60, 3600), ("hour", 3600, 172_800)):
        if seconds < limit:
            return plural(int(seconds // length), unit) + " ago"
    return plural(int(seconds // 86_400), "day") + " ago"


def duration_text(seconds: float | None) -> str:
    """Write a duration: "0.4 s", "41 s", "3 min 5 s"."""
    if seconds is None:
        return MISSING
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def day_text(moment: datetime | None) -> str:
    """Write a UTC instant as its day, ISO style."""
    return MISSING if moment is None else f"{moment:%Y-%m-%d}"


def moment_text(moment: datetime | None) -> str:
    """Write a UTC instant to the minute."""
    return MISSING if moment is None else f"{moment:%Y-%m-%d %H:%M} UTC"


def plural(count: int, noun: str) -> str:
    """Write a count and its noun: "1 endpoint", "2 endpoints"."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _shortest(price: Decimal, digits: int) -> str:
    return exact(
        price
        if _significant(price) <= digits
        else _WIDE.create_decimal(price).normalize(Context(prec=digits, rounding=ROUND_HALF_UP))
    )


def _significant(price: Decimal) -> int:
    return len(price.normalize(_WIDE).as_tuple().digits)


def _decimals(text: str) -> int:
    return len(text.partition(".")[2])
