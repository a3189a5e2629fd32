"""Quantiles against numpy, and intervals that hold what they promise."""

from __future__ import annotations

from math import comb, inf

import numpy as np
import pytest

from pipeline.probes.quantiles import interval, interval_ranks, quantile, shown_quantile

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)


def test_quantiles_are_those_of_numpy_over_a_thousand_random_samples() -> None:
    rng = np.random.default_rng(3)
    for turn in range(1000):
        size = int(rng.integers(1, 400))
        # Every third sample has many ties, as times in whole milliseconds do.
        values = rng.lognormal(5, 1, size) if turn % 3 else rng.integers(0, 9, size).astype(float)
        q = QUANTILES[turn % len(QUANTILES)]
        assert quantile(values.tolist(), q) == pytest.approx(np.quantile(values, q), rel=1e-12)


def test_a_quantile_lies_between_its_neighbours() -> None:
    # (4 - 1) x 0.9 = 2.7: seven tenths of the way from 30 to 70.
    assert quantile([70.0, 10.0, 30.0, 20.0], 0.9) == pytest.approx(58.0)
    assert quantile([5.0], 0.99) == 5.0
    assert quantile([], 0.5) is None


def test_an_endless_value_enters_only_where_it_has_a_share() -> None:
    assert quantile([1.0, 2.0, inf], 0.5) == 2.0
    assert quantile([1.0, inf, inf, inf], 0.5) == inf
    assert quantile([1.0, 2.0, inf, inf], 0.5) == inf


@pytest.mark.parametrize(("q", "fewest"), [(0.05, 59), (0.95, 59), (0.99, 299)])
def test_a_tail_is_shown_from_as_many_samples_as_can_speak_of_it(q: float, fewest: int) -> None:
    assert shown_quantile([1.0] * (fewest - 1), q) is None
    assert shown_quantile([1.0] * fewest, q) == 1.0
    # From there on, and not before, there is an interval of 95 %.
    assert interval_ranks(fewest - 1, q) is None
    assert interval_ranks(fewest, q) is not None


def test_medians_and_quartiles_are_shown_of_any_number_of_samples() -> None:
    assert [shown_quantile([1.0, 2.0], q) for q in (0.25, 0.5, 0.9)] == [1.25, 1.5, 1.9]


@pytest.mark.parametrize(
    ("n", "ranks"),
    [
        (5, None),  # 1 - 2/32 = 93.75 %
        (6, (1, 6)),  # 1 - 2/64 = 96.9 %
        (8, (1, 7)),  # 1 - (1 + 1 + 8)/256 = 96.1 %, as sure as (2, 8)
        (9, (2, 8)),  # 1 - 2 x 10/512 = 96.1 %
        (20, (6, 15)),  # of the tables of order statistics: 95.9 %
    ],
)
def test_the_ranks_of_a_median_are_those_worked_out_by_hand(
    n: int, ranks: tuple[int, int] | None
) -> None:
    assert interval_ranks(n, 0.5) == ranks


def test_an_interval_is_made_of_two_of_the_values() -> None:
    values = [float(value) for value in range(20, 0, -1)]

    assert interval(values, 0.5) == (6.0, 15.0)
    # P(9 <= B < 12) is 49.7 %, P(8 <= B < 12) 61.7 %.
    assert interval(values, 0.5, level=0.5) == (8.0, 12.0)
    assert interval(values[:5], 0.5) is None


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("q", QUANTILES)
def test_ranks_reach_their_level_exactly_and_no_closer_pair_does(q: float, level: float) -> None:
    for n in (1, 7, 30, 72, 240, 500):
        hits = [comb(n, k) * q**k * (1 - q) ** (n - k) for k in range(n + 1)]
        below = np.concatenate([[0.0], np.cumsum(hits)])  # below[k] = P(B < k)
        sure = {
            upper - lower
            for lower in range(1, n + 1)
            for upper in range(lower, n + 1)
            if below[upper] - below[lower] >= level
        }
        ranks = interval_ranks(n, q, level)
        if ranks is None:
            assert not sure
        else:
            lower, upper = ranks
            assert upper - lower == min(sure)
            assert below[upper] - below[lower] >= level - 1e-12


@pytest.mark.parametrize(
    ("n", "q"), [(6, 0.5), (10, 0.5), (100, 0.5), (59, 0.05), (59, 0.95), (240, 0.95), (299, 0.99)]
)
def test_intervals_hold_the_true_quantile_as_often_as_they_say(n: int, q: float) -> None:
    # Exponential waits, whose quantile is -log(1 - q); the order of values is all that matters.
    turns = 20_000
    waits = np.sort(np.random.default_rng(n).exponential(1.0, (turns, n)), axis=1)
    ranks = interval_ranks(n, q)
    assert ranks is not None
    truth = -np.log1p(-q)

    holds = (waits[:, ranks[0] - 1] <= truth) & (truth <= waits[:, ranks[1] - 1])

    # Three standard errors of 20,000 draws are 0.46 %.
    assert holds.mean() >= 0.95 - 0.0046


def test_ranks_of_many_samples_are_found() -> None:
    # The normal approximation: 10,000 -+ 1.96 x sqrt(20,000)/2 = 9,861 to 10,139.
    ranks = interval_ranks(20_000, 0.5)
    assert ranks is not None
    assert ranks == pytest.approx((9_861, 10_139), abs=1)
