"""The ranks of the values that hold a percentile between them, held against exact arithmetic."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import comb

import pytest

from pipeline.duck import Database
from pipeline.probes.quantiles import interval_ranks
from pipeline.sql_models import load_sql_models

(MODEL,) = (model for model in load_sql_models() if model.name == "int_probe_interval_ranks")
PERCENTILES = (50, 95, 99)
Ranks = tuple[int, int] | None


def ranks_of(sizes: Iterable[int]) -> dict[tuple[int, int], Ranks]:
    """Return what the model says, by number of values and percentile."""
    database = Database.in_memory()
    database.execute("create schema intermediate")
    database.execute(
        "create table intermediate.int_probe_pooled as select "
        "range(unnest($sizes)) as ttft_values, null::bigint[] as e2e_values, [1] as decode_values",
        {"sizes": list(sizes)},
    )
    rows = database.records(MODEL.sql)
    database.close()
    return {
        (row["n"], percent): None
        if row[f"p{percent}_low_rank"] is None
        else (row[f"p{percent}_low_rank"], row[f"p{percent}_high_rank"])
        for row in rows
        for percent in PERCENTILES
    }


def surety(n: int, percent: int, low: int, high: int) -> Fraction:
    """Return the exact probability that at least ``low`` and fewer than ``high`` lie below."""
    share = Fraction(percent, 100)
    return sum(
        (comb(n, k) * share**k * (1 - share) ** (n - k) for k in range(low, high)), Fraction(0)
    )


@pytest.mark.parametrize(
    ("n", "percent", "ranks"),
    [
        pytest.param(5, 50, None, id="five have no median to speak of"),
        pytest.param(6, 50, (1, 6), id="six have one between the first and the last"),
        pytest.param(100, 50, (40, 60), id="100"),
        pytest.param(58, 95, None, id="58 are too few for p95"),
        pytest.param(59, 95, (50, 59), id="59 are enough, up to the last"),
        pytest.param(298, 99, None, id="298 are too few for p99"),
        pytest.param(299, 99, (289, 299), id="299 are enough, up to the last"),
    ],
)
def test_the_ranks_are_the_closest_that_reach_95_percent(
    n: int, percent: int, ranks: Ranks
) -> None:
    found = ranks_of([n])[n, percent]
    assert found == ranks
    if ranks is None:
        assert surety(n, percent, 1, n) < Fraction(95, 100)
        return
    low, high = ranks
    assert surety(n, percent, low, high) >= Fraction(95, 100)
    closer = high - low - 1
    assert all(
        surety(n, percent, start, start + closer) < Fraction(95, 100)
        for start in range(1, n - closer + 1)
    )


def test_they_are_those_of_the_command_line() -> None:
    sizes = [*range(1, 130), 298, 299, 300, 477, 1000, 2240, 10_000]
    assert ranks_of(sizes) == {
        (n, percent): interval_ranks(n, percent / 100) for n in sizes for percent in PERCENTILES
    }
