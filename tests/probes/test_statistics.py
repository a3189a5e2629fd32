"""Summaries: what enters the figures, what is counted beside them, and what is believed."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from probe_samples import failed, sample, timed

from pipeline.probes.config import Price
from pipeline.probes.prompt_caching import cached_prefix_saving_ms
from pipeline.probes.records import BatchRecord, SelfCheck
from pipeline.probes.sample import Sample
from pipeline.probes.statistics import Summary, summarise
from pipeline.probes.trust import is_in_figures, is_overloaded, is_trusted

PRICE = Price(input_usd_per_mtok=Decimal("0.1"), output_usd_per_mtok=Decimal("0.5"))


def batch(number: int, *, overloaded: bool = False) -> BatchRecord:
    return BatchRecord(
        batch=number,
        target="a",
        prompt_set="short_chat",
        phase="measure",
        loop="closed",
        concurrency=1,
        offered_rate_per_s=None,
        round=1,
        requests=1,
        started_at_utc="2026-11-30T00:00:00+00:00",
        seconds=1.0,
        send_lag_p99_ms=None,
        read_lag_p99_ms=None,
        busy_share=0.1,
        machine_busy_share=None,
        steal_share=None,
        is_overloaded=overloaded,
    )


def self_check(concurrency: int, error_p99_ms: float, *, is_tls: bool = True) -> SelfCheck:
    return SelfCheck(
        concurrency=concurrency,
        tokens_per_s=100.0,
        is_tls=is_tls,
        requests=4,
        seconds=2.0,
        ttft_error_p50_ms=0.1,
        ttft_error_p99_ms=error_p99_ms,
        gap_error_p50_ms=0.1,
        gap_error_p99_ms=0.1,
        stamp_source="kernel",
    )


def only(samples: list[Sample], **options: Any) -> Summary:
    (summary,) = summarise(samples, **options)
    return summary


def test_each_target_set_phase_loop_and_concurrency_is_a_group_of_its_own() -> None:
    kinds = [
        {},
        {"target": "b"},
        {"prompt_set": "10k_in"},
        {"phase": "cold_start"},
        {"loop": "open", "offered_rate_per_s": 2.0},
        {"loop": "open", "offered_rate_per_s": 4.0},
        {"concurrency": 10},
    ]
    samples = [sample(**kind) for kind in kinds for _ in range(2)]

    summaries = summarise(samples)

    assert [summary.counts["n"] for summary in summaries] == [2] * 7
    assert len({summary.group for summary in summaries}) == 7


def test_warm_ups_are_in_no_figure_and_no_count() -> None:
    assert summarise([sample(phase="warm_up")]) == []
    assert only([sample(), sample(phase="warm_up")]).counts["requests"] == 1


def test_failures_never_enter_latencies_and_are_counted_beside_them() -> None:
    slow_failures = [
        timed(9_000, 9_100, outcome=outcome)
        for outcome in ("truncated", "wrong_provider", "stream_error", "timeout")
    ]
    others = [failed("rate_limited"), failed("overloaded"), failed("http_error")]

    summary = only([sample(), *slow_failures, *others])

    assert summary.figures["ttft_p50_ms"] == 200
    assert summary.figures["e2e_p50_ms"] == 500
    counts = {name: count for name, count in summary.counts.items() if name.startswith("n_")}
    assert (summary.counts["requests"], summary.counts["n"]) == (8, 1)
    assert counts == {
        "n_ok": 1,
        "n_rate_limited": 1,
        "n_overloaded": 1,
        "n_timeout": 1,
        "n_http_error": 1,
        "n_stream_error": 1,
        "n_truncated": 1,
        "n_wrong_provider": 1,
        "n_refused_config": 0,
        "n_cancelled_budget": 0,
        "n_probe_overloaded": 0,
    }
    assert summary.figures["ok_pct"] == 12.5
    assert summary.figures["rate_limited_pct"] == 12.5


def test_what_we_held_back_ourselves_is_no_failure_of_the_provider() -> None:
    summary = only([sample(), failed("refused_config"), failed("cancelled_budget")])

    assert summary.figures["ok_pct"] == 100
    assert summary.figures["ttft_p50_with_failures_ms"] == 200
    assert summary.counts["requests"] == 3


def test_failures_are_also_taken_as_endless_waits() -> None:
    ok = [timed(ms, ms + 100) for ms in (100, 200, 300)]

    # 100, 200, 300, endless: the median is 250; without failures 200.
    figures = only([*ok, failed("timeout")]).figures
    assert figures["ttft_p50_with_failures_ms"] == 250
    assert figures["ttft_p50_ms"] == 200
    # 100, 200, 300 and four endless ones: more than half failed.
    figures = only([*ok, *[failed("rate_limited")] * 4]).figures
    assert figures["ttft_p50_with_failures_ms"] is None
    assert figures["ttft_p50_ms"] == 200


def test_percentiles_are_of_the_raw_samples_with_what_they_can_bear() -> None:
    # TTFT 1 to 59 ms, the last token 100 ms later.
    figures = only([timed(ms, ms + 100) for ms in range(1, 60)]).figures

    assert figures["ttft_p50_ms"] == 30
    assert figures["ttft_p90_ms"] == pytest.approx(53.2)
    assert figures["ttft_p95_ms"] == pytest.approx(56.1)
    assert figures["ttft_p99_ms"] is None
    # Ranks of the median of 59: 22 and 38 (96.4 %); of p95: 50 and 59 (95.1 %).
    assert (figures["ttft_p50_low_ms"], figures["ttft_p50_high_ms"]) == (22, 38)
    assert (figures["ttft_p95_low_ms"], figures["ttft_p95_high_ms"]) == (50, 59)
    assert (figures["ttft_p99_low_ms"], figures["ttft_p99_high_ms"]) == (None, None)
    assert figures["e2e_p50_ms"] == 130
    assert figures["answer_ttft_p50_ms"] == 30


def test_too_few_samples_give_no_tail() -> None:
    figures = only([timed(ms, ms + 100) for ms in range(1, 59)]).figures

    assert figures["ttft_p95_ms"] is None
    assert figures["decode_tokens_per_s_p05"] is None
    assert figures["ttft_p50_ms"] == 29.5


def test_speeds_and_gaps_are_summarised_apart() -> None:
    # One token each 100 ms, and three tokens each 50 ms.
    slow, fast = timed(100, 200, 300), timed(100, 150, 200, completion_tokens=9)

    figures = only([slow, fast]).figures

    assert figures["decode_tokens_per_s_p50"] == pytest.approx((10 + 60) / 2)
    assert figures["e2e_tokens_per_s_p50"] == pytest.approx((3 / 0.3 + 9 / 0.2) / 2)
    assert figures["inter_token_p50_ms"] == pytest.approx((100 + 50 / 3) / 2)
    assert figures["chunk_gap_p50_ms"] == 75
    assert figures["tokens_per_chunk"] == 12 / 6


def test_gaps_are_pooled_over_requests() -> None:
    # 300 gaps, of which 3 are long: enough for a p99, though three requests are not.
    stream = timed(*range(0, 1000, 10), 1990)

    figures = only([stream] * 3).figures

    # (300 - 1) x 0.99 = 296.01: a hundredth of the way from 10 (rank 297) to 1000 (rank 298).
    assert figures["chunk_gap_p99_ms"] == pytest.approx(10 + 0.01 * 990)
    assert figures["inter_token_p99_ms"] is None


def test_aggregate_throughput_adds_the_windows_of_batches_not_their_rates() -> None:
    first = timed(100, 200, 300, batch=1)
    second = timed(*range(1000, 1401, 50), batch=2)

    # 2 tokens in 0.2 s and 8 in 0.4 s: 10 in 0.6 s.
    assert only([first, second]).figures["aggregate_tokens_per_s"] == pytest.approx(10 / 0.6)


def test_batches_the_probe_was_too_late_for_are_counted_but_in_no_figure() -> None:
    good, late = timed(100, 200, 300), timed(900, 1800, 2700, batch=2)

    summary = only([good, late], batches=[batch(1), batch(2, overloaded=True)])

    assert summary.counts["n"] == 1
    assert summary.counts["n_ok"] == 2
    assert summary.counts["n_probe_overloaded"] == 1
    assert summary.figures["ok_pct"] == 100
    assert summary.figures["ttft_p50_ms"] == 100
    assert summary.figures["ttft_p50_with_failures_ms"] == 100
    assert summary.figures["aggregate_tokens_per_s"] == pytest.approx(10)


def test_money_is_summed_over_all_that_was_paid_and_told_per_output_token() -> None:
    samples = [
        sample(prompt_tokens=1000, completion_tokens=100, cost_usd=Decimal("0.0002")),
        sample(prompt_tokens=1000, completion_tokens=100),
        sample(prompt_tokens=1000, completion_tokens=0, outcome="truncated"),
        failed("rate_limited"),
    ]

    figures = only(samples, prices={"a": PRICE}).figures

    assert figures["cost_usd"] == Decimal("0.0002")
    # 1,000 x 0.1 + 100 x 0.5 = 150 millionths, twice, and 100 for the one without an answer.
    assert figures["cost_listed_usd"] == Decimal("0.0004")
    # (200 + 150 + 100) millionths for 200 tokens.
    assert figures["output_usd_per_mtok_paid"] == Decimal("2.25")


def test_money_nobody_stated_is_unknown_not_zero() -> None:
    figures = only([sample()]).figures

    assert figures["cost_usd"] is None
    assert figures["cost_listed_usd"] is None
    assert figures["output_usd_per_mtok_paid"] is None


def test_connections_and_coalesced_chunks_are_told_as_shares() -> None:
    new = sample(is_new_connection=True, dns_ms=1.0, connect_ms=20.0, tls_ms=30.0)
    samples = [new, sample(), sample(coalesced_chunks=3), sample(cached_tokens=16)]

    figures = only(samples).figures

    assert figures["new_connection_pct"] == 25
    assert figures["connect_p50_ms"] == 51
    assert figures["coalesced_pct"] == 100 * 3 / 16
    assert figures["cached_prompt_pct"] == 25


def pair(pair_id: str, first_ms: float, second_ms: float, **of_second: Any) -> list[Sample]:
    changes = {"pair_id": pair_id, "prompt_set": "cached_prefix"}
    return [
        timed(first_ms, first_ms + 100, **changes),
        timed(second_ms, second_ms + 100, **{**changes, "turn": 2, **of_second}),
    ]


def test_prompt_caching_is_what_the_second_request_of_a_pair_saves() -> None:
    samples = [
        *pair("p1", 500, 200, cached_tokens=2_000),
        *pair("p2", 400, 300, cached_tokens=1_900),
        *pair("p3", 300, 310, cached_tokens=0),
        *pair("p4", 9_000, 100, outcome="rate_limited"),
    ]

    # The median of 300, 100 and -10.
    assert cached_prefix_saving_ms([*samples, sample()]) == 100


def test_pairs_of_different_runs_are_not_mixed() -> None:
    first, second = pair("p1", 500, 200)

    assert cached_prefix_saving_ms([first, replace(second, run_id="other")]) is None


def test_the_second_request_of_a_pair_enters_no_other_figure() -> None:
    summary = only(pair("p1", 500, 200, cached_tokens=2_000))

    assert (summary.counts["requests"], summary.counts["n"]) == (2, 1)
    assert summary.figures["ttft_p50_ms"] == 500
    assert summary.figures["cached_prefix_saving_ms"] == 300
    assert summary.figures["cached_prompt_pct"] == 0
    assert summary.figures["ok_pct"] == 100
    assert [is_in_figures(each) for each in pair("p1", 500, 200)] == [True, False]


def test_a_sample_with_cached_tokens_stays_in_the_figures_and_is_counted() -> None:
    summary = only([sample(), sample(cached_tokens=16)])

    assert summary.counts["n"] == 2
    assert summary.figures["cached_prompt_pct"] == 50


@pytest.mark.parametrize(
    ("median_ttft_ms", "error_p99_ms", "trusted"),
    [
        (20.0, 1.0, True),
        (20.0, 1.01, False),
        (200.0, 4.0, True),
        (200.0, 4.01, False),
        (None, 1.0, True),
        (None, 1.01, False),
        (200.0, None, False),
    ],
)
def test_an_instrument_is_trusted_up_to_a_millisecond_or_two_percent(
    median_ttft_ms: float | None, error_p99_ms: float | None, trusted: bool
) -> None:
    assert is_trusted(median_ttft_ms, error_p99_ms) is trusted


@pytest.mark.parametrize(
    ("lag_p99_ms", "median_ttft_ms", "overloaded"),
    [
        (2.0, 20.0, False),
        (2.01, 20.0, True),
        (10.0, 200.0, False),
        (10.01, 200.0, True),
        (2.01, None, True),
        (None, 200.0, False),
    ],
)
def test_a_probe_is_overloaded_beyond_two_milliseconds_and_five_percent(
    lag_p99_ms: float | None, median_ttft_ms: float | None, overloaded: bool
) -> None:
    assert is_overloaded(lag_p99_ms, median_ttft_ms) is overloaded


def test_a_summary_is_as_trusted_as_the_worst_check_at_its_concurrency() -> None:
    checks = [self_check(1, 0.3), self_check(10, 0.4), self_check(10, 4.1, is_tls=False)]

    one, ten = summarise([sample(), sample(concurrency=10)], self_checks=checks)
    (unchecked,) = summarise([sample()])

    assert one.figures["self_check_ttft_error_p99_ms"] == 0.3
    assert one.figures["is_trusted"] is True
    # The median TTFT is 200 ms, of which two percent are 4 ms.
    assert ten.figures["self_check_ttft_error_p99_ms"] == 4.1
    assert ten.figures["is_trusted"] is False
    assert unchecked.figures["is_trusted"] is False


def test_a_summary_is_one_flat_json_object() -> None:
    record = only([sample(cost_usd=Decimal("0.0001"))]).to_record()

    assert json.loads(json.dumps(record)) == record
    assert (record["target"], record["n"], record["ttft_p50_ms"]) == ("a", 1, 200)
    assert record["cost_usd"] == 0.0001


def test_a_group_without_any_answer_has_counts_and_no_figures() -> None:
    summary = only([failed("http_error"), failed("timeout")])

    assert summary.counts["requests"] == 2
    assert summary.figures["ok_pct"] == 0
    named = {name: figure for name, figure in summary.figures.items() if figure is not None}
    assert named == {"ok_pct": 0, "rate_limited_pct": 0, "is_trusted": False}
