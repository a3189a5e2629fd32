"""Our figures in a table: how many requests, how sure, how far to be trusted."""

from __future__ import annotations

from typing import Any

import polars as pl
from html_tables import cells
from probe_marts import summary_frame, summary_row

from app.components.performance_choices import METRICS
from app.components.performance_table import performance_table, untrusted_notes

HOSTILE = '<img src=x onerror="alert(1)">'
FIGURES = {
    "requests": 64,
    "n": 60,
    "ok_pct": 93.75,
    "rate_limited_pct": 3.125,
    "ttft_p50_ms": 164.2,
    "ttft_p50_low_ms": 157.4,
    "ttft_p50_high_ms": 182.0,
    "answer_ttft_p50_ms": 164.2,
    "ttft_p95_ms": 354.0,
    "decode_tokens_per_s_p50": 486.0,
    "decode_tokens_per_s_p05": 401.0,
    "e2e_tokens_per_s_p50": 386.0,
    "aggregate_tokens_per_s": 472.0,
    "output_usd_per_mtok_paid": 0.08361,
    "connect_p50_ms": 41.3,
    "tokens_per_chunk": 1.02,
    "self_check_ttft_error_p99_ms": 0.14,
}


def rows(*records: dict[str, Any]) -> pl.DataFrame:
    frame = summary_frame(*records)
    return frame.with_columns(label=pl.col("provider_name").fill_null(pl.col("target")))


def shown(*records: dict[str, Any], metric: str = "ttft") -> list[list[str]]:
    table = cells(performance_table(rows(*records), METRICS[metric]))
    return [[" ".join(cell.split()) for cell in row] for row in table]


def test_each_figure_stands_with_what_it_rests_on() -> None:
    assert shown(summary_row("groq", region="eu", **FIGURES)) == [
        [
            "Groq groq \u00b7 from eu",
            "60 of 64",
            "93.8% 3.1% limited",
            "164 157\u2013182",
            "354",
            "n too small",
            "486 p5 401",
            "386",
            "472",
            "0.0836",
            "41",
            "1.02",
            "0.140",
        ]
    ]


def test_a_percentile_that_too_few_requests_support_says_how_many_it_needs() -> None:
    table = performance_table(rows(summary_row(n=58, requests=58)), METRICS["ttft"])

    assert 'title="p95 needs 59 requests; there are 58"' in table
    assert 'title="p99 needs 299 requests; there are 58"' in table


def test_figures_that_do_not_exist_are_dashes_and_no_zeros() -> None:
    row = shown(summary_row(requests=4, n_timeout=4, ok_pct=0.0))[0]

    assert row[1:4] == ["0 of 4", "0%", "\u2013"]
    assert set(row[4:]) <= {"\u2013", "p5 \u2013", "\u2013 p5 \u2013"}


def test_untrusted_figures_carry_a_badge_and_the_reason() -> None:
    table = rows(
        summary_row("a"),
        summary_row("b", is_trusted=False, self_check_ttft_error_p99_ms=9.371),
        summary_row("c", is_trusted=False),
    )

    assert performance_table(table, METRICS["ttft"]).count(">untrusted<") == 2
    notes = untrusted_notes(table)
    assert notes is not None
    assert "B is untrusted: the instrument&#x27;s own TTFT error was 9.37 ms at p99." in notes
    assert "C is untrusted: the instrument was not checked." in notes
    assert untrusted_notes(table.filter("is_trusted")) is None


def test_cached_prompts_are_pointed_out() -> None:
    table = performance_table(rows(summary_row(cached_prompt_pct=25.0)), METRICS["ttft"])

    assert ">cached prompts<" in table
    assert "25.0% of the requests read cached prompt tokens" in table


def test_the_best_of_the_chosen_metric_comes_first_and_the_unknown_last() -> None:
    records = [
        summary_row("a", ttft_p50_ms=100.0, decode_tokens_per_s_p50=50.0),
        summary_row("b", ttft_p50_ms=300.0, decode_tokens_per_s_p50=400.0),
        summary_row("c"),
    ]

    assert [row[0][0] for row in shown(*records)] == ["A", "B", "C"]
    assert [row[0][0] for row in shown(*records, metric="speed")] == ["B", "A", "C"]


def test_the_answer_has_a_column_only_where_it_comes_after_the_reasoning() -> None:
    plain = performance_table(rows(summary_row(**FIGURES)), METRICS["ttft"])
    thinking = FIGURES | {"answer_ttft_p50_ms": 812.0}

    assert "Answer TTFT" not in plain
    assert shown(summary_row(**thinking))[0][6] == "812"


def test_hostile_names_are_shown_as_text() -> None:
    table = performance_table(
        rows(summary_row(HOSTILE, provider_name=HOSTILE, region=HOSTILE)), METRICS["ttft"]
    )

    assert "<img" not in table
    assert table.count("&lt;img") == 3
