"""Under load: throughput and TTFT against concurrency, never two percentiles in one curve."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from probe_marts import summary_frame, summary_row

from app.components.chart_lines import line_at
from app.components.performance_load import (
    load_legend,
    load_rows,
    load_table,
    percentile_of,
    throughput_chart,
    ttft_chart,
)

LINES = {"Groq": line_at("Groq", 0)}


def level(streams: int, **values: Any) -> dict[str, Any]:
    return summary_row(concurrency=streams, n=9, **values)


def rows(*records: dict[str, Any]) -> pl.DataFrame:
    return load_rows(summary_frame(*records).with_columns(label=pl.lit("Groq")))


def test_one_concurrency_is_no_curve() -> None:
    assert rows(level(1), level(1)).is_empty()
    assert rows(level(1), summary_row(concurrency=4, n=0)).is_empty()
    assert rows(level(1), level(4, loop="open")).is_empty()


@pytest.mark.parametrize(
    ("p95", "p99", "name"),
    [(5.0, 9.0, "p99"), (5.0, None, "p95"), (None, None, "p50")],
)
def test_the_curve_shows_the_highest_percentile_that_all_points_have(
    p95: float | None, p99: float | None, name: str
) -> None:
    known = {"ttft_p50_ms": 1.0, "ttft_p95_ms": 5.0, "ttft_p99_ms": 9.0}
    levels = rows(level(4, **known), level(1, **known | {"ttft_p95_ms": p95, "ttft_p99_ms": p99}))

    spec = ttft_chart(levels, LINES)

    assert percentile_of(levels) == name
    assert spec["layer"][0]["encoding"]["y"]["title"] == f"TTFT {name}, ms"


def test_throughput_is_drawn_against_the_streams_that_were_measured() -> None:
    levels = rows(
        level(16, aggregate_tokens_per_s=900.0),
        level(1, aggregate_tokens_per_s=100.0),
        level(4, aggregate_tokens_per_s=None),
    )

    spec = throughput_chart(levels, LINES)

    points = [(point["concurrency"], point["value"]) for point in spec["data"]["values"]]
    assert points == [(1, 100.0), (16, 900.0)]
    assert spec["layer"][0]["encoding"]["x"]["axis"]["values"] == [1, 16]
    assert spec["description"] == (
        "All streams, tok/s against streams at a time: Groq 900 tok/s at 16."
    )
    assert "<b>900 tok/s</b>" in load_legend(levels, LINES)


def test_the_table_twin_names_the_percentile() -> None:
    table = load_table(rows(level(1, ttft_p50_ms=100.0), level(4, ttft_p50_ms=150.0)))

    assert table.columns[-1] == "TTFT p50, ms"
    assert table.rows() == [("Groq", 1, 9, None, 100.0), ("Groq", 4, 9, None, 150.0)]
