"""The figures of one request, by their definitions."""

from __future__ import annotations

from typing import Any

import pytest
from probe_samples import MS, failed, sample, timed

from pipeline.probes.metrics import metrics_of


def test_the_figures_of_a_plain_answer() -> None:
    # Sent at 0, tokens at 200 (reasoning), 300, 400 and 500 ms.
    metrics = metrics_of(sample())

    assert metrics.ttft_ms == 200
    assert metrics.answer_ttft_ms == 300
    assert metrics.e2e_ms == 500
    assert metrics.chunk_gaps_ms == (100, 100, 100)
    assert metrics.decode_tokens_per_s == pytest.approx(3 / 0.3)
    assert metrics.inter_token_ms == pytest.approx(100)
    assert metrics.e2e_tokens_per_s == pytest.approx(4 / 0.5)
    assert (metrics.tokens, metrics.tokens_per_chunk) == (4, 1)
    assert metrics.cold_ttft_ms is None


def test_several_tokens_in_a_chunk_do_not_stretch_the_time_between_tokens() -> None:
    # 12 tokens in 4 chunks: the 3 of the first were made before the 300 ms began.
    metrics = metrics_of(sample(completion_tokens=12))

    assert metrics.tokens_per_chunk == 3
    assert metrics.decode_tokens_per_s == pytest.approx((12 - 3) / 0.3)
    assert metrics.inter_token_ms == pytest.approx(300 / 9)
    assert metrics.chunk_gaps_ms == (100, 100, 100)


def test_every_gap_is_kept() -> None:
    assert metrics_of(timed(10, 20, 20, 500)).chunk_gaps_ms == (10, 0, 480)


def test_a_speed_never_includes_the_ttft() -> None:
    late, early = timed(9_000, 9_100, 9_200), timed(10, 110, 210)

    assert metrics_of(late).decode_tokens_per_s == metrics_of(early).decode_tokens_per_s == 10


@pytest.mark.parametrize(
    "changes",
    [
        {"is_buffered": True},
        {"is_reasoning_hidden": True},
        {"chunk_ns": (1_200 * MS,)},
        {"chunk_ns": (1_200 * MS, 1_200 * MS)},
    ],
)
def test_a_stream_that_shows_no_speed_has_none(changes: dict[str, Any]) -> None:
    metrics = metrics_of(sample(**changes))

    assert metrics.decode_tokens_per_s is None
    assert metrics.inter_token_ms is None
    assert metrics.ttft_ms == 200
    assert metrics.e2e_tokens_per_s == pytest.approx(4 / 0.5)


def test_tokens_that_came_in_no_chunk_are_not_spread_over_chunks() -> None:
    assert metrics_of(sample(is_reasoning_hidden=True)).tokens_per_chunk is None


def test_tokens_nobody_counted_are_chunks() -> None:
    metrics = metrics_of(sample(completion_tokens=None))

    assert metrics.tokens == 4
    assert metrics.e2e_tokens_per_s == pytest.approx(8)


@pytest.mark.parametrize(
    ("dns_ms", "connect_ms", "tls_ms", "cold_ttft_ms"),
    [(5.0, 20.0, 30.0, 255.0), (None, 20.0, None, 220.0), (5.0, None, None, None)],
)
def test_connecting_is_in_the_cold_ttft_only(
    dns_ms: float | None, connect_ms: float | None, tls_ms: float | None, cold_ttft_ms: float | None
) -> None:
    times = {"dns_ms": dns_ms, "connect_ms": connect_ms, "tls_ms": tls_ms}

    metrics = metrics_of(sample(is_new_connection=True, **times))

    assert (metrics.ttft_ms, metrics.cold_ttft_ms) == (200, cold_ttft_ms)
    assert metrics_of(sample(is_new_connection=False, **times)).cold_ttft_ms is None


def test_what_never_came_is_none_not_zero() -> None:
    metrics = metrics_of(failed("timeout"))

    assert metrics.ttft_ms is None
    assert metrics.e2e_ms is None
    assert metrics.tokens is None
    assert metrics.e2e_tokens_per_s is None
    assert metrics.chunk_gaps_ms == ()
