"""A fallback is an endpoint of another provider whose outages never came with the first one's."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import polars as pl
from workload_rows import endpoint

from pipeline.workload.choosing import Choice, Judged
from pipeline.workload.evidence import Candidate, Speed
from pipeline.workload.fallback import FEWEST_HOURS, Pair, best_pair, pairs
from pipeline.workload.quotes import quote_endpoint
from pipeline.workload.shape import Workload

BEGAN = datetime(2026, 11, 1, 6, 17, tzinfo=UTC)


def judged(name: str, provider: str | None = None) -> Judged:
    row = endpoint(input="1", output="1", endpoint_id=name, provider_name=provider or name)
    quote = quote_endpoint(row, Workload(1, 1))
    return Judged(Candidate(quote, None, Speed("openrouter"), None), ())


def seen(name: str, hours: Iterable[int], out: Iterable[int] = ()) -> list[dict[str, Any]]:
    lost = set(out)
    return [
        {
            "endpoint_id": name,
            "observed_at_utc": BEGAN + timedelta(hours=hour),
            "uptime_30m_pct": 94.9 if hour in lost else 95.0,
        }
        for hour in hours
    ]


def paired(choice: Choice, *rows: list[dict[str, Any]]) -> list[Pair]:
    return pairs(choice, pl.DataFrame([row for group in rows for row in group]))


A, B, C = judged("a"), judged("b"), judged("c")


def test_the_first_whose_outages_never_came_together_is_the_fallback() -> None:
    found = paired(
        Choice((A, B, C), (), ()),
        seen("a", range(40), out=[3, 4]),
        seen("b", range(40), out=[4]),
        seen("c", range(40), out=[5, 6, 7]),
    )
    assert [(pair.hours, pair.first_out, pair.second_out, pair.both_out) for pair in found] == [
        (40, 2, 1, 1),
        (40, 2, 3, 0),
    ]
    best = best_pair(found)
    assert best is not None
    assert best.second == C


def test_only_hours_in_which_both_were_seen_count() -> None:
    (pair,) = paired(
        Choice((A, B), (), ()),
        seen("a", range(0, 50), out=[2, 45]),
        seen("b", range(10, 60), out=[45, 55]),
    )
    assert (pair.hours, pair.first_out, pair.second_out, pair.both_out) == (40, 1, 1, 1)


def test_too_few_hours_say_nothing() -> None:
    few = FEWEST_HOURS - 1
    found = paired(Choice((A, B), (), ()), seen("a", range(few)), seen("b", range(few)))
    assert not found[0].is_enough
    assert best_pair(found) is None
    enough = FEWEST_HOURS
    assert best_pair(
        paired(Choice((A, B), (), ()), seen("a", range(enough)), seen("b", range(enough)))
    )


def test_an_uptime_that_is_not_known_is_no_hour_seen() -> None:
    rows = [row | {"uptime_30m_pct": None} for row in seen("b", range(5))]
    (pair,) = paired(Choice((A, B), (), ()), seen("a", range(40)), rows + seen("b", range(5, 40)))
    assert pair.hours == 35


def test_one_bad_sweep_makes_the_hour_one_of_outage() -> None:
    later = [
        row | {"observed_at_utc": row["observed_at_utc"] + timedelta(minutes=20)}
        for row in seen("b", range(40), out=[7])
    ]
    (pair,) = paired(Choice((A, B), (), ()), seen("a", range(40)), seen("b", range(40)), later)
    assert (pair.hours, pair.second_out) == (40, 1)


def test_the_same_provider_is_no_fallback_and_those_who_miss_the_needs_are_none() -> None:
    twin = judged("a2", provider="a")
    choice = Choice((A, twin), (C,), (B,))
    found = paired(choice, *(seen(name, range(40)) for name in ("a", "a2", "b", "c")))
    assert [pair.second for pair in found] == [C]


def test_without_anyone_there_is_no_pair() -> None:
    assert paired(Choice((), (), (A,)), seen("a", range(40))) == []
