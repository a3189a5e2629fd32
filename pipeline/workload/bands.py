"""The chosen time cut where prices change: parts of UTC days with one set of prices each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from pipeline.workload.tariff import Tariff

_A_MONDAY = datetime(2024, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Band:
    """From minute ``start`` up to ``end`` of the UTC day; ``weekday`` (0 is Monday) as a sample.

    ``weekday`` stands for every chosen day where the days do not matter.
    """

    weekday: int
    start: int
    end: int

    @property
    def minutes(self) -> int:
        """Length of the band."""
        return self.end - self.start

    @property
    def at(self) -> datetime:
        """Return an instant of the band."""
        return _A_MONDAY + timedelta(days=self.weekday, minutes=self.start)


def bands(tariff: Tariff, hours: Iterable[int], weekdays: Iterable[int]) -> list[Band]:
    """Cut the chosen time at its edges and at those of the price windows, in order of time."""
    days = sorted(weekdays) if tariff.has_days else sorted(weekdays)[:1]
    chosen = _runs(hours)
    edges = {
        edge
        for override in tariff.overrides
        for edge in (override.condition.start, override.condition.end)
        if edge is not None
    }
    return [
        Band(day, start, end)
        for day in days
        for first, last in chosen
        for start, end in pairwise(sorted({first, last} | {e for e in edges if first < e < last}))
    ]


def clock_text(minute: int) -> str:
    """Write a minute of the day: 990 is 16:30, the last one 24:00."""
    return f"{minute // 60:02}:{minute % 60:02}"


def _runs(hours: Iterable[int]) -> list[tuple[int, int]]:
    """Join hours that follow each other: (first minute, minute after the last)."""
    runs: list[tuple[int, int]] = []
    for hour in sorted(hours):
        start, end = hour * 60, (hour + 1) * 60
        if runs and runs[-1][1] == start:
            runs[-1] = (runs[-1][0], end)
        else:
            runs.append((start, end))
    return runs
