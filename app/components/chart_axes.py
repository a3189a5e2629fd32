"""Axes of the charts: time in UTC, and numbers whose scale fits how far apart they are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

# Above this ratio of the largest to the smallest, equal steps stand for equal factors.
LOG_SCALE_RATIO = 12
HEIGHT_PX = 320


def time_axis(first: datetime, last: datetime) -> dict[str, Any]:
    """Return the axis from ``first`` to ``last``, both UTC, with about six ticks."""
    length = last - first
    if length > timedelta(days=370):
        form = "%b %Y"
    elif length >= timedelta(days=6):
        form = "%-d %b"
    else:
        form = "%-d %b %H:%M"
    return {
        "title": None,
        "scale": {"type": "utc", "domain": [iso(first), iso(last)]},
        "axis": {
            "grid": False,
            "format": form,
            "labelOverlap": "greedy",
            "labelFlush": True,
            "values": [iso(tick) for tick in _ticks(first, last)],
        },
    }


def number_axis(numbers: Sequence[float], title: str) -> dict[str, Any]:
    """Return an axis for ``numbers``, none of them negative: from zero, or logarithmic."""
    low, high = min(numbers), max(numbers)
    if low > 0 and high / low > LOG_SCALE_RATIO:
        return log_axis(numbers, title)
    return {
        "title": title,
        "scale": {"domain": [0, high * 1.1 or 1], "nice": False},
        "axis": {"tickCount": 5, "format": ",~f"},
    }


def log_axis(numbers: Sequence[float], title: str) -> dict[str, Any]:
    """Return a logarithmic axis for ``numbers``, all of them above zero."""
    low, high = min(numbers), max(numbers)
    return {
        "title": f"{title}, log scale",
        "scale": {"type": "log", "domain": [low * 0.8, high * 1.2], "nice": False},
        "axis": {"values": _log_ticks(low, high), "format": ",~r"},
    }


def iso(moment: datetime) -> str:
    """Write a UTC instant as Vega reads it."""
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def _ticks(first: datetime, last: datetime) -> list[datetime]:
    """Return about six UTC midnights, or full hours where the axis is shorter than six days."""
    length = last - first
    if length >= timedelta(days=6):
        step = timedelta(days=max(round(length.days / 6), 1))
        newest = last.replace(hour=0, minute=0, second=0, microsecond=0)
    else:
        hours = length / timedelta(hours=6)
        step = timedelta(hours=next(hour for hour in (1, 2, 4, 6, 12, 24) if hour >= hours))
        midnight = last.replace(hour=0, minute=0, second=0, microsecond=0)
        newest = midnight + (last - midnight) // step * step
    count = (newest - first) // step + 1
    return [newest - step * back for back in range(count)][::-1]


def _log_ticks(low: float, high: float) -> list[float]:
    """Return 1, 2 and 5 of every power of ten that the axis reaches."""
    powers = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
    ticks = [float(f"{digit}e{power}") for power in powers for digit in (1, 2, 5)]
    return [tick for tick in ticks if low * 0.8 <= tick <= high * 1.2]
