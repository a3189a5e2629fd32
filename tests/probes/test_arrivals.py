"""Due times of open loops."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from statistics import fmean

import pytest

from pipeline.probes.arrivals import due_times
from pipeline.probes.config import Arrival

RNG = Random(1)  # noqa: S311 - chance of a test


def test_a_closed_loop_has_no_due_times() -> None:
    assert due_times(Arrival(), 5, RNG) is None


def test_a_constant_rate_is_even_from_the_start() -> None:
    arrival = Arrival(kind="constant", rate_per_s=4.0)

    assert due_times(arrival, 5, RNG) == [0.0, 0.25, 0.5, 0.75, 1.0]


def test_poisson_gaps_are_exponential_and_follow_from_the_seed() -> None:
    arrival = Arrival(kind="poisson", rate_per_s=50.0)
    due, again = (due_times(arrival, 20_000, Random(7)) for _ in range(2))  # noqa: S311
    assert due is not None
    gaps = [due[0], *(after - before for before, after in pairwise(due))]

    assert due == again
    assert min(gaps) >= 0
    # Mean and standard deviation are both 1/50 s; of 20,000 gaps they are within 1 %, mostly.
    assert fmean(gaps) == pytest.approx(0.02, rel=0.03)
    assert fmean((gap - 0.02) ** 2 for gap in gaps) ** 0.5 == pytest.approx(0.02, rel=0.03)
    # exp(-1) of the gaps are longer than the mean.
    assert sum(gap > 0.02 for gap in gaps) / len(gaps) == pytest.approx(0.368, abs=0.015)
