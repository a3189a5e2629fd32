"""Failures by kind, and what stands apart: cold starts and cached prefixes."""

from __future__ import annotations

import re
from typing import Any

import polars as pl
from html_tables import cells
from probe_marts import summary_frame, summary_row

from app.components.performance_apart import cached_prefixes, cold_starts
from app.components.performance_failures import failure_table


def rows(*records: dict[str, Any]) -> pl.DataFrame:
    return summary_frame(*records).with_columns(label=pl.col("provider_name"))


def test_kinds_that_occurred_are_counted_beside_what_was_answered() -> None:
    table = failure_table(
        rows(
            summary_row("a", requests=10, n_rate_limited=2, n_timeout=1),
            summary_row("b", requests=5, n_cancelled_budget=1),
        )
    )

    heads = re.findall(r"<th[^>]*>([^<]+)</th>", table)[:6]
    assert heads == ["Provider", "Requests", "Outcomes", "Answered", "Rate-limited", "Timed out"]
    assert [[*row[:2], *row[3:]] for row in cells(table)] == [
        ["A", "10", "7", "2", "1", "0"],
        ["B", "5", "4", "0", "0", "1"],
    ]


def test_the_bar_holds_the_same_shares() -> None:
    table = failure_table(rows(summary_row(requests=8, n_rate_limited=1, n_http_error=1)))

    assert re.findall(r"tt-part-(\w+)\" style=\"width: ([\d.]+)%", table) == [
        ("good", "75.00"),
        ("warn", "12.50"),
        ("bad", "12.50"),
    ]


def test_requests_that_the_probe_sent_late_are_named() -> None:
    late = failure_table(rows(summary_row(requests=8, n_probe_overloaded=3)))

    assert cells(late)[0][-1] == "3"
    assert "Late probe" in late
    assert "Late probe" not in failure_table(rows(summary_row(requests=8)))


def test_a_cold_start_stands_beside_the_warm_ttft_of_the_same_target() -> None:
    cold = {"prompt_set": "cold_start", "phase": "cold_start"}
    table = cold_starts(
        rows(
            summary_row(**cold, n=3, connect_p50_ms=41.3, ttft_p50_ms=361.0),
            summary_row("other", ttft_p50_ms=1.0),
            summary_row(concurrency=4, ttft_p50_ms=300.0),
            summary_row(concurrency=1, ttft_p50_ms=164.0),
        )
    )

    assert table is not None
    assert cells(table) == [["Groq", "3", "41", "361", "164"]]


def test_without_cold_starts_there_is_no_table() -> None:
    assert cold_starts(rows(summary_row(n=3))) is None
    assert cold_starts(rows(summary_row(prompt_set="cold_start", phase="cold_start"))) is None


def test_a_cached_prefix_saves_time_or_costs_some() -> None:
    pair = {"prompt_set": "cached_prefix", "n": 12, "ttft_p50_ms": 400.0}
    table = cached_prefixes(
        rows(
            summary_row("a", **pair, cached_prefix_saving_ms=100.0),
            summary_row("b", **pair, cached_prefix_saving_ms=-20.0),
            summary_row("c", n=12, ttft_p50_ms=400.0),
        )
    )

    assert table is not None
    shown = [[" ".join(cell.split()) for cell in row] for row in cells(table)]
    assert shown == [
        ["A", "12", "400", "100 \u221225%"],
        ["B", "12", "400", "\u221220 +5.0%"],
    ]
    assert cached_prefixes(rows(summary_row(n=3))) is None
