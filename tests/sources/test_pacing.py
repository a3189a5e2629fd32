from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from pipeline.sources.pacing import Clock, Pace


def test_starts_are_spread_evenly() -> None:
    pace = Pace(requests_per_s=4)

    assert [pace.reserve(10.0) for _ in range(4)] == [10.0, 10.25, 10.5, 10.75]


def test_time_that_nobody_used_is_not_made_up_for() -> None:
    pace = Pace(requests_per_s=4)
    pace.reserve(10.0)

    assert [pace.reserve(60.0), pace.reserve(60.0)] == [60.0, 60.25]


def test_threads_share_one_pace() -> None:
    pace = Pace(requests_per_s=8)

    with ThreadPoolExecutor(4) as pool:
        starts = list(pool.map(pace.reserve, [0.0] * 40))

    assert sorted(starts) == [number * 0.125 for number in range(40)]


def test_nothing_starts_within_a_pause_and_the_rate_holds_after_it() -> None:
    pace = Pace(requests_per_s=2)
    pace.pause_until(30.0)

    assert pace.pause_left(10.0) == 20.0
    assert [pace.reserve(10.0), pace.reserve(10.0)] == [30.0, 30.5]
    assert pace.pause_left(31.0) == 0.0


def test_a_shorter_pause_does_not_cut_a_longer_one() -> None:
    pace = Pace(requests_per_s=2)
    pace.pause_until(30.0)
    pace.pause_until(12.0)

    assert pace.reserve(10.0) == 30.0


@pytest.mark.timeout(10)
def test_stop_ends_a_wait() -> None:
    clock = Clock()

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(clock.wait, 3600.0)
        clock.stop()

        assert waiting.result()
    assert not Clock().wait(0.0)
