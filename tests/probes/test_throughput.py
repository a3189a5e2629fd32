"""Aggregate throughput: only what arrived while all streams were busy."""

from __future__ import annotations

import pytest
from probe_samples import MS, failed, timed

from pipeline.probes.throughput import steady_window


def every(step_ms: int, first_ms: int, last_ms: int) -> list[int]:
    return list(range(first_ms, last_ms + 1, step_ms))


def test_one_stream_counts_from_its_first_token_to_its_last() -> None:
    # First token at 100 ms; the other 4 in the 400 ms to the last.
    assert steady_window([timed(100, 200, 300, 400, 500)]) == (4, 0.4)


def test_one_stream_with_two_requests_includes_the_wait_between_them() -> None:
    first = timed(100, 200, 300)
    second = timed(600, 700, 800, sent_ms=300)

    # From 100 to 800 ms: 2 tokens of the first, 3 of the second.
    assert steady_window([second, first]) == (5, 0.7)


def test_the_window_opens_with_the_last_stream_and_closes_with_the_first() -> None:
    streams = [
        timed(*every(10, 100, 500), concurrency=3),
        timed(*every(10, 205, 805), sent_ms=100, concurrency=3),
        timed(*every(10, 302, 902), sent_ms=200, concurrency=3),
    ]

    # From 302 to 500 ms: 310..500, 305..495 and 312..492.
    assert steady_window(streams) == (20 + 20 + 19, 0.198)


def test_a_stream_that_goes_on_with_a_next_request_does_not_close_the_window() -> None:
    requests = [
        timed(*every(100, 100, 300), concurrency=2),
        timed(*every(100, 400, 900), sent_ms=300, concurrency=2),
        timed(*every(100, 150, 1050), concurrency=2),
    ]

    # From 150 ms until the first stream found no more requests, at 900 ms:
    # 200 and 300; 400 to 900; 250 to 850.
    assert steady_window(requests) == (2 + 6 + 7, 0.75)


def test_streams_that_ramp_up_are_no_throughput() -> None:
    quick = [timed(10 + at, 20 + at, 30 + at, sent_ms=at, concurrency=2) for at in (0, 30, 60, 90)]
    slow = timed(*every(10, 85, 185), sent_ms=80, concurrency=2)

    # Both streams are busy from 80 ms on, the later first token (of the third quick one) is at 85.
    # The quick stream ends at 120 ms: 90, 100, 110, 120 of it, and 95, 105, 115.
    assert steady_window([*quick, slow]) == (4 + 3, 0.035)


def test_tokens_are_spread_evenly_over_their_chunks() -> None:
    assert steady_window([timed(100, 200, 300, 400, completion_tokens=12)]) == (9, 0.3)


def test_failed_requests_keep_a_stream_busy_but_give_no_tokens() -> None:
    requests = [
        timed(100, 200, 300, 400, concurrency=2),
        timed(150, 250, 350, 450, outcome="truncated", concurrency=2),
    ]

    # From 150 to 400 ms, of the first one only.
    assert steady_window(requests) == (3, 0.25)


def test_a_refused_stream_leaves_the_window_to_the_others() -> None:
    refused = failed(
        "rate_limited", scheduled_ns=0, sent_ns=0, end_ns=50 * MS, concurrency=2, request_id="r2"
    )
    answered = [
        timed(100, 200, 300, concurrency=2),
        timed(150, 250, 350, sent_ms=50, concurrency=2),
    ]

    # Opens at 100 (the refused one has no token), closes at 300 ms.
    assert steady_window([refused, *answered]) == (2 + 2, 0.2)


def test_fewer_requests_than_streams_are_that_many_streams() -> None:
    assert steady_window([timed(100, 200, concurrency=10)]) == (1, 0.1)


@pytest.mark.parametrize(
    "samples",
    [
        [],
        [timed(100, 200, loop="open", offered_rate_per_s=1.0)],
        [failed("timeout")],
        [failed("refused_config", scheduled_ns=None, end_ns=None)],
        [timed(100)],
        # The first stream is done before the second has a token.
        [timed(100, 200, concurrency=2), timed(300, 400, sent_ms=150, concurrency=2)],
    ],
)
def test_a_batch_that_never_ran_steadily_has_no_window(samples: list) -> None:
    assert steady_window(samples) is None
