"""What the summary of probes says: what counts, what does not, and from how many requests on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal
from itertools import count
from typing import Any, get_args

import pytest
from probe_samples import MS, failed, sample, timed
from raw_market import RawMarket

from pipeline.building import build_all
from pipeline.probes.sample import Outcome, Sample
from pipeline.sql_models import load_sql_models

MODELS = load_sql_models()
THREE = (timed(100, 200, 300), timed(300, 400, 500), timed(200, 300, 1200))


def answers(n: int) -> list[Sample]:
    """Return answers with a TTFT of 1, 2, ... n ms, then three tokens, 10 ms apart."""
    return [timed(k, k + 10, k + 20, k + 30) for k in range(1, n + 1)]


PAIRS = [
    # Saved 100, 300 and 150 ms; then a pair whose second request failed, and half a pair.
    *(timed(400, 500, pair_id="p1", turn=1), timed(300, 400, pair_id="p1", turn=2)),
    *(timed(500, 600, pair_id="p2", turn=1), timed(200, 300, pair_id="p2", turn=2)),
    *(timed(300, 400, pair_id="p3", turn=1), timed(150, 250, pair_id="p3", turn=2)),
    *(timed(900, 999, pair_id="p4", turn=1), failed("timeout", pair_id="p4", turn=2)),
    timed(800, 900, pair_id="p5", turn=2),
]
# Two streams, three requests: all are busy from 200 ms on, one has nothing more to do from 500 ms.
STREAMS = [
    timed(100, 300, 500, sent_ms=0, concurrency=2),
    timed(200, 400, 600, 800, sent_ms=0, concurrency=2),
]
TARGETS: dict[str, Iterable[Sample]] = {
    "three": THREE,
    **{f"{n} answers": answers(n) for n in (5, 6, 58, 59, 298, 299)},
    "every outcome": [
        failed(outcome, http_status=None) if outcome != "ok" else timed(100, 200)
        for outcome in get_args(Outcome)
    ],
    "warmed up": [timed(9000, 9100, phase="warm_up"), *THREE],
    "half failed": [timed(100, 200), timed(200, 300), failed("timeout"), failed("http_error")],
    "mostly ok": [timed(100, 200), timed(200, 300), failed("timeout")],
    "pairs": PAIRS,
    "thinking": [
        # 2 tokens a chunk: 4 after the first chunk, in 0.2 s.
        timed(100, 200, 300, first_answer_ns=300 * MS, completion_tokens=6),
        # What was spent on hidden reasoning is no speed of decoding.
        timed(100, 200, is_reasoning_hidden=True, completion_tokens=90),
        timed(100, 200, is_buffered=True, completion_tokens=20),
        timed(100, completion_tokens=7),
    ],
    "uncounted": [timed(100, 200, 300, completion_tokens=None)],
    "gaps": [timed(100, 110, 130), timed(100, 105)],
    "coalesced": [timed(100, 100, 200, 200, coalesced_chunks=2), timed(100, 200)],
    "connections": [
        timed(100, 200, is_new_connection=True, dns_ms=1.0, connect_ms=10.0, tls_ms=20.0),
        timed(100, 200, is_new_connection=True, connect_ms=11.0),
        timed(100, 200, is_new_connection=False),
        timed(100, 200, is_new_connection=None, cached_tokens=16),
    ],
    "streams": STREAMS,
    "costs": [
        timed(100, 200, completion_tokens=1000, cost_usd=Decimal("0.002")),
        failed("truncated", cost_usd=Decimal("0.001")),
        timed(100, 200, completion_tokens=500),
    ],
    "slow instrument": [replace(each, concurrency=16) for each in THREE],
    "fair instrument": [replace(each, concurrency=8) for each in THREE],
    "unchecked": [replace(each, concurrency=32) for each in THREE],
}


@pytest.fixture(scope="module")
def market() -> RawMarket:
    """One run: each target in a batch of its own, "late" in two, of which one is overloaded."""
    market = RawMarket()
    numbers = count(1)
    samples = [
        replace(
            each,
            target=target,
            batch=batch + 100 * (each.phase == "warm_up"),
            request_id=f"r{next(numbers):04}",
        )
        for batch, (target, members) in enumerate(TARGETS.items(), start=10)
        for each in members
    ]
    for batch, members in ((1, THREE), (2, (*answers(6), failed("timeout")))):
        samples += [
            replace(each, target="late", batch=batch, request_id=f"r{next(numbers):04}")
            for each in members
        ]
    for batch, phase in ((3, "cold_start"), (4, "measure")):
        samples.append(sample(target="cold", phase=phase, batch=batch, request_id=phase))
    market.probe_run(
        "2026-11-30T09:00",
        samples,
        overloaded=[2],
        # The medians are 200 ms: 2 % of that are 4 ms.
        self_checks={1: 0.9, 2: 0.9, 8: 4.0, 16: 4.1},
    )
    build_all(market.database, MODELS)
    return market


def row(market: RawMarket, target: str, **where: object) -> dict[str, Any]:
    """Return the one row of a target in the window of 72 hours."""
    wanted = {"target": target, "window_hours": 72, **where}
    conditions = " and ".join(f"{name} = ${name}" for name in wanted)
    (found,) = market.database.records(
        f"select * from marts.probe_summary where {conditions}", wanted
    )
    return found


def some(market: RawMarket, target: str, *names: str) -> tuple[Any, ...]:
    found = row(market, target)
    return tuple(found[name] for name in names)


def test_latencies_are_exact_percentiles_of_single_requests(market: RawMarket) -> None:
    found = row(market, "three")
    assert (found["requests"], found["n"], found["runs"], found["ok_pct"]) == (3, 3, 1, 100)
    assert (found["ttft_p50_ms"], found["e2e_p50_ms"]) == (200, 500)
    # 300, 500 and 1200: four fifths of the way from the second to the third.
    assert found["e2e_p90_ms"] == pytest.approx(500 + 0.8 * 700)
    # 2 tokens after the first in 200 ms, 200 ms, 1000 ms; 3 tokens in 300, 500 and 1200 ms.
    assert found["decode_tokens_per_s_p50"] == 10
    assert found["e2e_tokens_per_s_p50"] == 6
    assert found["inter_token_p50_ms"] == 100


@pytest.mark.parametrize(
    ("target", "p95", "p99"),
    [
        pytest.param("58 answers", None, None, id="58"),
        pytest.param("59 answers", 56.1, None, id="59"),
        pytest.param("298 answers", 283.15, None, id="298"),
        pytest.param("299 answers", 284.1, 296.02, id="299"),
    ],
)
def test_a_percentile_stands_only_where_there_are_enough_requests(
    market: RawMarket, target: str, p95: float | None, p99: float | None
) -> None:
    found = row(market, target)
    for name, offset in (("ttft", 0), ("answer_ttft", 0), ("e2e", 30)):
        for percent, wanted in ((95, p95), (99, p99)):
            shown = None if wanted is None else pytest.approx(wanted + offset)
            assert found[f"{name}_p{percent}_ms"] == shown
    assert (found["decode_tokens_per_s_p05"] is None) == (p95 is None)
    assert (found["inter_token_p99_ms"] is None) == (p99 is None)
    # An interval stands where its percentile does.
    assert (found["ttft_p95_low_ms"] is None) == (found["ttft_p95_high_ms"] is None)
    assert (found["ttft_p95_low_ms"] is None) == (p95 is None)
    assert (found["ttft_p99_high_ms"] is None) == (p99 is None)


def test_the_median_has_an_interval_from_six_requests_on(market: RawMarket) -> None:
    names = ("ttft_p50_ms", "ttft_p50_low_ms", "ttft_p50_high_ms")
    assert some(market, "5 answers", *names) == (3, None, None)
    # The chance that all six lie on one side of the median is 2/64: 96.9 % for the range of all.
    assert some(market, "6 answers", *names) == (3.5, 1, 6)


def test_each_outcome_is_counted_and_only_ok_has_times(market: RawMarket) -> None:
    found = row(market, "every outcome")
    kinds = set(get_args(Outcome)) - {"ok"}
    assert {found[f"n_{kind}"] for kind in kinds} == {1}
    assert (found["requests"], found["n"]) == (10, 1)
    # Of the ten, two were never sent or stopped by ourselves.
    assert (found["ok_pct"], found["rate_limited_pct"]) == (12.5, 12.5)
    assert (found["ttft_p50_ms"], found["ttft_p50_with_failures_ms"]) == (100, None)


def test_warm_ups_are_nowhere(market: RawMarket) -> None:
    warmed, plain = row(market, "warmed up"), row(market, "three")
    assert warmed | {"target": "three"} == plain
    assert market.database.rows(
        "select count(*) from marts.probe_samples where target = 'warmed up'"
    ) == [(3,)]


def test_failures_are_endless_in_the_median_that_includes_them(market: RawMarket) -> None:
    # 100, 200, endless: the second. 100, 200 and two endless: halfway to the end of time.
    assert some(market, "mostly ok", "ttft_p50_ms", "ttft_p50_with_failures_ms") == (150, 200)
    assert some(market, "half failed", "ttft_p50_ms", "ttft_p50_with_failures_ms") == (150, None)


def test_a_batch_that_the_probe_was_too_late_for_is_counted_and_not_used(
    market: RawMarket,
) -> None:
    late = row(market, "late")
    assert (late["requests"], late["n"], late["n_probe_overloaded"]) == (10, 3, 7)
    # Its failures are failures all the same.
    assert (late["n_timeout"], late["ok_pct"]) == (1, 90)
    figures = ("ttft_p50_ms", "e2e_p90_ms", "decode_tokens_per_s_p50", "chunk_gap_p50_ms")
    plain = row(market, "three")
    assert [late[name] for name in figures] == [plain[name] for name in figures]
    assert late["ttft_p50_with_failures_ms"] == 200


def test_a_cold_start_has_a_row_of_its_own(market: RawMarket) -> None:
    assert row(market, "cold", phase="cold_start")["n"] == 1
    assert row(market, "cold", phase="measure")["n"] == 1


def test_the_second_request_of_a_pair_is_compared_with_the_first_and_in_no_other_figure(
    market: RawMarket,
) -> None:
    found = row(market, "pairs")
    assert (found["requests"], found["n"]) == (9, 4)
    assert found["cached_prefix_saving_ms"] == 150
    # 300, 400, 500, 900.
    assert found["ttft_p50_ms"] == 450


def test_speed_is_of_tokens_that_the_stream_shows(market: RawMarket) -> None:
    found = row(market, "thinking")
    assert (found["n"], found["decode_tokens_per_s_p50"]) == (4, 20)
    assert (found["ttft_p50_ms"], found["answer_ttft_p50_ms"], found["answer_ttft_p90_ms"]) == (
        100,
        100,
        pytest.approx(240),
    )
    # 6 in 3 chunks, 20 in 2, 7 in 1; that of hidden reasoning is left out.
    assert found["tokens_per_chunk"] == 33 / 6


def test_without_a_count_of_tokens_chunks_are_counted(market: RawMarket) -> None:
    assert some(market, "uncounted", "decode_tokens_per_s_p50", "e2e_tokens_per_s_p50") == (10, 10)


def test_gaps_of_all_requests_are_pooled(market: RawMarket) -> None:
    assert some(market, "gaps", "chunk_gap_p50_ms", "chunk_gap_p99_ms") == (10, None)
    # 299 answers have 897 gaps of 10 ms.
    assert some(market, "299 answers", "chunk_gap_p50_ms", "chunk_gap_p99_ms") == (10, 10)
    assert some(market, "58 answers", "chunk_gap_p99_ms") == (None,)


def test_shares_are_of_the_requests_in_the_figures(market: RawMarket) -> None:
    assert some(market, "coalesced", "coalesced_pct") == (pytest.approx(100 / 3),)
    names = ("new_connection_pct", "connect_p50_ms", "cached_prompt_pct")
    # 31 and 11 ms to connect.
    assert some(market, "connections", *names) == (50, 21, 25)


def test_throughput_of_all_streams_is_of_the_time_in_which_all_are_busy(
    market: RawMarket,
) -> None:
    # From 200 ms to 500 ms: 300 and 500 of the first, 400 of the second; 3 tokens in 0.3 s.
    assert some(market, "streams", "aggregate_tokens_per_s") == (pytest.approx(10),)


def test_what_was_paid_includes_failures_and_leaves_out_what_has_no_price(
    market: RawMarket,
) -> None:
    names = ("cost_usd", "cost_listed_usd", "output_usd_per_mtok_paid")
    # 0.003 USD for 1000 tokens; nothing is known of what the other 500 cost.
    assert some(market, "costs", *names) == (Decimal("0.003"), None, pytest.approx(3))
    assert some(market, "three", *names) == (None, None, None)


def test_figures_are_trusted_when_the_instrument_was_good_enough_for_them(
    market: RawMarket,
) -> None:
    names = ("self_check_ttft_error_p99_ms", "is_trusted")
    assert some(market, "fair instrument", *names) == (4.0, True)
    assert some(market, "slow instrument", *names) == (4.1, False)
    assert some(market, "unchecked", *names) == (None, False)
    # An error of 1 ms is always good enough, even of a TTFT of 3 ms.
    assert some(market, "5 answers", *names) == (0.9, True)
