"""A second endpoint for when the first one is out: outages that did not come at the same time.

An hour is one of outage when a sweep in it saw an uptime of the last 30 minutes below 95 %. Hours
without a sweep, or with too little traffic for a figure, say nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import polars as pl

from pipeline.workload.choosing import Choice, Judged

OUT_BELOW_PCT = 95.0
# With fewer hours in which both were seen, none in common says nothing.
FEWEST_HOURS = 30


@dataclass(frozen=True)
class Watched:
    """The hours in which an endpoint was seen, and those of them in which it was out."""

    seen: frozenset[datetime]
    out: frozenset[datetime]


@dataclass(frozen=True)
class Pair:
    """Two endpoints over the hours in which both were seen."""

    first: Judged
    second: Judged
    hours: int
    first_out: int
    second_out: int
    both_out: int

    @property
    def is_enough(self) -> bool:
        """Whether both were seen long enough to say something."""
        return self.hours >= FEWEST_HOURS

    @property
    def is_apart(self) -> bool:
        """Whether they were never out in the same hour, as far as was seen."""
        return self.is_enough and self.both_out == 0


def watched(history: pl.DataFrame) -> dict[str, Watched]:
    """Read rows of ``marts.uptime_history``, by endpoint id."""
    hours = (
        history.drop_nulls("uptime_30m_pct")
        .with_columns(hour=pl.col("observed_at_utc").dt.truncate("1h"))
        .group_by("endpoint_id", "hour")
        .agg(is_out=(pl.col("uptime_30m_pct") < OUT_BELOW_PCT).any())
        .group_by("endpoint_id")
        .agg(seen=pl.col("hour"), out=pl.col("hour").filter(pl.col("is_out")))
    )
    return {
        row["endpoint_id"]: Watched(frozenset(row["seen"]), frozenset(row["out"]))
        for row in hours.iter_rows(named=True)
    }


def pairs(choice: Choice, history: pl.DataFrame) -> list[Pair]:
    """Pair the best endpoint with every other one of another provider, in their order.

    Those not known to meet the needs come last; those that miss them do not come.
    """
    ordered = [*choice.met, *choice.open]
    if not ordered:
        return []
    seen = watched(history)
    return [
        _pair(ordered[0], other, seen)
        for other in ordered[1:]
        if _provider(other) != _provider(ordered[0])
    ]


def best_pair(found: Sequence[Pair]) -> Pair | None:
    """Return the first pair whose outages never came together; None without one."""
    return next((pair for pair in found if pair.is_apart), None)


def _pair(first: Judged, second: Judged, seen: dict[str, Watched]) -> Pair:
    nothing = Watched(frozenset(), frozenset())
    one, other = (
        seen.get(item.candidate.record["endpoint_id"], nothing) for item in (first, second)
    )
    common = one.seen & other.seen
    return Pair(
        first,
        second,
        hours=len(common),
        first_out=len(one.out & common),
        second_out=len(other.out & common),
        both_out=len(one.out & other.out),
    )


def _provider(judged: Judged) -> str:
    name: str = judged.candidate.record["provider_name"]
    return name
