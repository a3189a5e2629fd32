"""Who meets what is asked for: by which figure, ranked how, and why the others do not."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import polars as pl
import pytest
from workload_rows import endpoint

from pipeline.workload.choosing import best_source, choose, frontier, latency_ms
from pipeline.workload.evidence import Candidate, Speed, Uptime, candidates
from pipeline.workload.quotes import quote_endpoint
from pipeline.workload.shape import Workload
from pipeline.workload.verdicts import Needs, Verdict, judge

USUAL = Workload(1000, 500, requests_per_month=1000)
NOTHING = Needs(USUAL)


def candidate(
    name: str = "acme",
    *,
    ours: Speed | None = None,
    reported: Speed | None = None,
    uptime: Uptime | None = None,
    **values: Any,
) -> Candidate:
    row = endpoint(endpoint_id=name, provider_name=name, **{"input": "1", "output": "2"} | values)
    quote = quote_endpoint(row, USUAL)
    return Candidate(quote, ours, reported or Speed("openrouter"), uptime)


def verdict(subject: Candidate, needs: Needs, criterion: str) -> Verdict:
    return next(item for item in judge(subject, needs) if item.criterion == criterion)


@pytest.mark.parametrize(
    ("ours", "reported", "outcome", "said"),
    [
        # A p95 of ours decides, whatever OpenRouter reports.
        ({"p95": 900}, {"p99": 5000}, "met", "TTFT p95 900 ms, measured by us"),
        ({"p95": 1100}, {"p99": 500}, "missed", "TTFT p95 1,100 ms, measured by us"),
        # A p99 is at least the p95; a p90 and a median are at most the p95.
        ({}, {"p90": 500, "p99": 1000}, "met", "TTFT p99 1,000 ms, reported by OpenRouter"),
        ({}, {"p90": 1001, "p99": 3000}, "missed", "TTFT p90 1,001 ms, reported by OpenRouter"),
        ({}, {"p90": 900, "p99": 3000}, "open", "p95 not known; TTFT p90 900 ms, reported"),
        ({}, {"p50": 1200}, "missed", "TTFT p50 1,200 ms, reported by OpenRouter"),
        ({}, {"p50": 200}, "open", "p95 not known; TTFT p50 200 ms, reported"),
        # Too few of ours for a p95: the median alone can only rule out.
        ({"p50": 1500}, {"p90": 900}, "missed", "TTFT p50 1,500 ms, measured by us"),
        ({"p50": 300}, {}, "open", "p95 not known; TTFT p50 300 ms, measured by us"),
        ({}, {}, "open", "TTFT not known"),
    ],
)
def test_a_limit_of_ttft_p95_is_judged_by_the_best_figure_there_is(
    ours: dict[str, float], reported: dict[str, float], outcome: str, said: str
) -> None:
    needs = replace(NOTHING, max_ttft_p95_ms=1000)
    speeds = [
        Speed(source, **{f"ttft_{name}_ms": value for name, value in given.items()})  # type: ignore[arg-type]
        for source, given in (("ours", ours), ("openrouter", reported))
    ]
    subject = candidate(ours=speeds[0] if ours else None, reported=speeds[1])
    found = verdict(subject, needs, "TTFT p95")
    assert found.outcome == outcome
    assert found.text.startswith(said)


def test_a_speed_of_openrouter_stands_in_for_ours_and_is_named() -> None:
    needs = replace(NOTHING, min_tokens_per_s=50)
    ours = Speed("ours", tokens_per_s_p50=61.0, n=60, prompt_set="short_chat")
    reported = Speed("openrouter", tokens_per_s_p50=40.0)
    measured = verdict(candidate(ours=ours, reported=reported), needs, "tok/s p50")
    said = "61 tok/s, decode, measured by us (short chat, 60 requests)"
    assert measured == Verdict("tok/s p50", "met", said)
    stand_in = verdict(candidate(reported=reported), needs, "tok/s p50")
    assert stand_in.outcome == "missed"
    assert stand_in.text == "40 tok/s, over the whole request, reported by OpenRouter"
    assert verdict(candidate(), needs, "tok/s p50").outcome == "open"


@pytest.mark.parametrize(
    ("percent", "said"), [(98.996, "98.996"), (98.99, "98.99"), (99.0, "99.00"), (99.004, "99.004")]
)
def test_a_figure_is_never_rounded_onto_its_limit(percent: float, said: str) -> None:
    found = verdict(
        candidate(uptime=Uptime(percent, 1)), replace(NOTHING, min_uptime_pct=99), "uptime"
    )
    assert found.text == f"uptime {said} %, last day only"


def test_uptime_says_over_how_many_days() -> None:
    needs = replace(NOTHING, min_uptime_pct=99)
    assert verdict(candidate(uptime=Uptime(99.0, 30)), needs, "uptime") == Verdict(
        "uptime", "met", "uptime 99.00 %, mean of 30 days"
    )
    assert verdict(candidate(uptime=Uptime(98.9, 1)), needs, "uptime") == Verdict(
        "uptime", "missed", "uptime 98.90 %, last day only"
    )
    assert verdict(candidate(), needs, "uptime").outcome == "open"


@pytest.mark.parametrize(
    ("asked", "values", "outcome"),
    [
        # 1,000 requests of 1,000 x 1/M + 500 x 2/M: 2 dollars
        ({"max_usd_per_month": Decimal("2")}, {}, "met"),
        ({"max_usd_per_month": Decimal("1.99")}, {}, "missed"),
        ({"max_usd_per_month": Decimal("2")}, {"output": None}, "open"),
        ({}, {"output": None}, "open"),
        ({"min_bits": 8}, {"quantization": "fp8"}, "met"),
        ({"min_bits": 8}, {"quantization": "mxfp4"}, "missed"),
        ({"min_bits": 8}, {"quantization": "unknown"}, "open"),
        ({"min_bits": 8}, {"quantization": None}, "open"),
        ({"min_context": 131_072}, {}, "met"),
        ({"min_context": 131_073}, {}, "missed"),
        ({"min_context": 1}, {"context_length": None}, "open"),
        ({"region": frozenset({"DE", "FR"})}, {"headquarters": "FR"}, "met"),
        ({"region": frozenset({"DE", "FR"})}, {"headquarters": "US"}, "missed"),
        ({"region": frozenset({"DE", "FR"})}, {"headquarters": None}, "open"),
        ({"region": frozenset({"US"})}, {"datacenters": ["US"]}, "met"),
        ({"region": frozenset({"US"})}, {"datacenters": ["US", "SG"]}, "open"),
        ({"region": frozenset({"US"})}, {"datacenters": ["SG"]}, "missed"),
        ({}, {"is_stale": True}, "missed"),
        ({}, {"tier": "flex"}, "missed"),
        ({"allows_tiers": True}, {"tier": "flex"}, "met"),
        ({}, {"context_length": 1499}, "missed"),
    ],
)
def test_what_is_not_known_is_open_and_never_met(
    asked: dict[str, Any], values: dict[str, Any], outcome: str
) -> None:
    needs = replace(NOTHING, **asked)
    choice = choose([candidate(**values)], needs, "cost", "ours")
    groups = {"met": choice.met, "open": choice.open, "missed": choice.missed}
    assert [name for name, group in groups.items() if group] == [outcome]


def names(group: tuple[Any, ...]) -> list[str]:
    return [judged.candidate.record["endpoint_id"] for judged in group]


def ours(ttft: float, speed: float) -> Speed:
    return Speed("ours", ttft_p50_ms=ttft, tokens_per_s_p50=speed)


FAST = candidate("fast", ours=ours(100, 100), output="9")  # an answer in 100 + 5,000 ms
QUICK = candidate("quick", ours=ours(900, 500), output="5")  # in 900 + 1,000 ms
CHEAP = candidate("cheap", ours=ours(950, 50))
UNMEASURED = candidate(
    "unmeasured", reported=Speed("openrouter", ttft_p50_ms=50, tokens_per_s_p50=400), input="0.5"
)
ALL = [CHEAP, UNMEASURED, QUICK, FAST]


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("ttft", ["fast", "quick", "cheap", "unmeasured"]),
        ("answer", ["quick", "fast", "cheap", "unmeasured"]),
        ("cost", ["unmeasured", "cheap", "quick", "fast"]),
    ],
)
def test_the_rank_follows_the_shape_and_never_mixes_two_kinds_of_latency(
    order: Any, expected: list[str]
) -> None:
    assert names(choose(ALL, NOTHING, order, "ours").met) == expected


def test_the_time_of_an_answer_counts_the_wait_once() -> None:
    assert latency_ms(QUICK, NOTHING, "answer", "ours") == 900 + 1000
    # OpenRouter's 400 tok/s contain the wait: 500 tokens take 1,250 ms.
    assert latency_ms(UNMEASURED, NOTHING, "answer", "openrouter") == 1250
    assert latency_ms(UNMEASURED, NOTHING, "answer", "ours") is None


def test_ours_is_ranked_by_only_where_we_have_measured_something() -> None:
    assert best_source(ALL) == "ours"
    assert best_source([UNMEASURED]) == "openrouter"


def test_what_ruled_the_others_out_is_counted() -> None:
    needs = replace(NOTHING, max_usd_per_month=Decimal("3"), min_bits=8)
    rows = [
        candidate("good"),
        candidate("dear", input="9"),
        candidate("both", input="9", quantization="int4"),
        candidate("stale", is_stale=True),
    ]
    choice = choose(rows, needs, "cost", "ours")
    assert names(choice.met) == ["good"]
    assert choice.missed_counts == {"cost": 2, "listing": 1, "quantization": 1}


def test_the_frontier_holds_what_nothing_beats() -> None:
    points = [(3.0, 1.0), (1.0, 9.0), (2.0, 4.0), (2.5, 4.0), (4.0, 1.0), (2.0, 4.0)]
    assert frontier(points) == [1, 2, 5, 0]
    assert frontier([]) == []


# ---- joined to what was measured and reported


def summary(**values: Any) -> dict[str, Any]:
    return {
        "endpoint_id": "acme",
        "is_trusted": True,
        "n": 60,
        "prompt_set": "short_chat",
        "window_hours": 72,
        "phase": "measure",
        "loop": "closed",
        "concurrency": 1,
        "ttft_p50_ms": 200.0,
        "ttft_p90_ms": 250.0,
        "ttft_p95_ms": 300.0,
        "ttft_p99_ms": None,
        "decode_tokens_per_s_p50": 80.0,
    } | values


def uptimes(percents: list[float | None]) -> pl.DataFrame:
    rows = [
        {
            "endpoint_id": "acme",
            "partition_date": date(2026, 11, 30) - timedelta(days=back),
            "observed_at_utc": datetime(2026, 11, 30, 6, tzinfo=UTC) - timedelta(days=back),
            "uptime_1d_pct": percent,
        }
        for back, percent in enumerate(percents)
    ]
    return pl.DataFrame(rows, schema_overrides={"uptime_1d_pct": pl.Float64})


def joined_with(
    measured: list[dict[str, Any]], history: pl.DataFrame, sets: tuple[str, ...] = ("short_chat",)
) -> Candidate:
    quote = quote_endpoint(endpoint(input="1", output="2", uptime_1d_pct=97.0), USUAL)
    frame = pl.DataFrame(measured or [summary(endpoint_id=None)], infer_schema_length=None)
    return candidates([quote], frame, history, sets)[0]


def test_our_figures_are_of_the_first_prompt_set_that_fits_at_the_lowest_concurrency() -> None:
    rows = [
        summary(concurrency=16, ttft_p50_ms=900.0),
        summary(),
        summary(prompt_set="10k_in", ttft_p50_ms=700.0),
    ]
    found = joined_with(rows, uptimes([99.0])).ours
    assert found is not None
    assert found.ttft_p50_ms == 200
    longer = joined_with(rows, uptimes([99.0]), ("10k_in", "short_chat")).ours
    assert longer is not None
    assert (longer.ttft_p50_ms, longer.prompt_set) == (700, "10k_in")


@pytest.mark.parametrize(
    "unfit",
    [
        {"is_trusted": False},
        {"phase": "cold_start"},
        {"window_hours": 336},
        {"loop": "open"},
        {"n": 0},
        {"prompt_set": "10k_in"},
    ],
)
def test_figures_that_are_not_comparable_are_not_ours(unfit: dict[str, Any]) -> None:
    assert joined_with([summary(**unfit)], uptimes([99.0])).ours is None


def test_uptime_is_the_mean_of_days_where_there_are_enough() -> None:
    assert joined_with([], uptimes([100.0, 93.0] * 4)).uptime == Uptime(96.5, 8)
    assert joined_with([], uptimes([100.0] * 30 + [0.0])).uptime == Uptime(100.0, 30)
    assert joined_with([], uptimes([100.0] * 6 + [None] * 5)).uptime == Uptime(97.0, 1)
