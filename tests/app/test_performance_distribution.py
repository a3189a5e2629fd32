"""The distribution over all requests: a provider that fails does not look fast."""

from __future__ import annotations

from typing import Any

import polars as pl
from probe_marts import sample, sample_frame

from app.components.chart_lines import line_at
from app.components.performance_choices import METRICS
from app.components.performance_distribution import (
    POINTS_PER_LINE,
    distribution_chart,
    distribution_legend,
    distribution_table,
    reached,
)

TTFT, SPEED = METRICS["ttft"], METRICS["speed"]
LINES = {"Groq": line_at("Groq", 0)}


def behind(*rows: dict[str, Any]) -> pl.DataFrame:
    frame = sample_frame(*rows)
    return frame.with_columns(label=pl.lit("Groq"), is_failure=pl.col("outcome") != "ok")


def failed() -> dict[str, Any]:
    return sample(outcome="timeout")


def test_the_share_of_a_time_counts_requests_that_took_no_longer() -> None:
    points = reached(
        behind(*(sample(ttft_ms=ms) for ms in (300.0, 100.0, 200.0, 200.0)), failed()), TTFT
    )

    assert points.select("value", "share_pct").rows() == [(100.0, 20.0), (200.0, 60.0), (300.0, 80)]
    assert points["success_pct"].unique().to_list() == [80.0]


def test_the_share_of_a_speed_counts_requests_that_were_no_slower() -> None:
    points = reached(
        behind(
            *(sample(decode_tokens_per_s=rate) for rate in (50.0, 100.0, 100.0, 200.0)), failed()
        ),
        SPEED,
    )

    assert points.select("value", "share_pct").rows() == [(50.0, 80.0), (100.0, 60.0), (200.0, 20)]


def test_a_request_without_the_figure_is_neither_slow_nor_failed() -> None:
    points = reached(behind(sample(ttft_ms=100.0), sample(ttft_ms=None)), TTFT)

    assert points.select("value", "share_pct").rows() == [(100.0, 100.0)]


def test_a_curve_of_times_ends_at_the_success_rate() -> None:
    points = reached(behind(sample(ttft_ms=100.0), failed()), TTFT)

    spec = distribution_chart(points, LINES, TTFT)

    corners = [(point["value"], point["share"]) for point in spec["data"]["values"]]
    assert corners == [(100.0, 0.0), (100.0, 50.0), (110.0, 50.0)]
    assert spec["layer"][0]["mark"]["interpolate"] == "step-after"
    assert spec["description"] == (
        "Curves of the share of requests by TTFT, failed requests included; "
        "they end at the success rate: Groq 50.0%."
    )


def test_a_curve_of_speeds_begins_at_the_success_rate_and_falls_to_none() -> None:
    points = reached(behind(sample(decode_tokens_per_s=100.0), failed()), SPEED)

    spec = distribution_chart(points, LINES, SPEED)

    corners = [(point["value"], point["share"]) for point in spec["data"]["values"]]
    assert corners == [(0, 50.0), (100.0, 50.0), (100.0, 0.0)]
    assert spec["layer"][0]["mark"]["interpolate"] == "step-before"


def test_many_requests_are_drawn_with_few_corners_but_both_ends() -> None:
    points = reached(behind(*(sample(ttft_ms=float(ms)) for ms in range(1, 1001))), TTFT)

    assert points.height <= POINTS_PER_LINE + 2
    assert (points["value"].min(), points["value"].max()) == (1.0, 1000.0)
    assert (points["value"] / 10 - points["share_pct"]).abs().max() < 1e-9


def test_where_all_failed_there_is_no_curve() -> None:
    assert reached(behind(failed()), TTFT).is_empty()


def test_the_legend_and_the_table_twin_tell_the_same() -> None:
    points = reached(behind(sample(ttft_ms=100.04), failed(), failed()), TTFT)

    assert "<b>33.3%</b>" in distribution_legend(points, LINES)
    table = distribution_table(points, TTFT)
    assert table.columns == ["Provider", "TTFT, ms", "Requests at most this long, %"]
    assert table.rows() == [("Groq", 100.0, 33.3)]
