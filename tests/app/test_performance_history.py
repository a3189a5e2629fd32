"""From run to run: the quartiles of each, gaps where nothing came, trust."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import polars as pl
from probe_marts import T0, history_frame, history_row, sample, sample_frame

from app.components.chart_lines import line_at
from app.components.performance_choices import METRICS
from app.components.performance_history import (
    history_chart,
    history_legend,
    history_table,
    run_figures,
)

TTFT = METRICS["ttft"]
LINES = {"Groq": line_at("Groq", 0)}


def runs(*values_of_runs: list[float | None], untrusted: int | None = None) -> pl.DataFrame:
    """Make runs an hour apart; a request without a value has failed."""
    samples: list[dict[str, Any]] = []
    history = []
    for number, values in enumerate(values_of_runs):
        run = {"run_id": str(number)}
        samples += [
            sample(**run, ttft_ms=value, outcome="timeout" if value is None else "ok")
            for value in values
        ]
        started = {"started_at_utc": T0 + timedelta(hours=number)}
        history.append(history_row(**run, **started, is_trusted=number != untrusted))
    frame = sample_frame(*samples).with_columns(
        label=pl.lit("Groq"), is_failure=pl.col("outcome") != "ok"
    )
    return run_figures(frame, history_frame(*history), TTFT)


def test_a_run_has_the_quartiles_of_its_own_requests() -> None:
    figures = runs([400.0, 100.0, 300.0, 200.0, None])

    row = figures.row(0, named=True)
    assert (row["low"], row["middle"], row["high"]) == (175.0, 250.0, 325.0)
    assert (row["n"], row["failures"], row["started_at_utc"]) == (4, 1, T0)


def test_runs_are_told_apart_by_load_too() -> None:
    both = [sample(ttft_ms=1.0), sample(ttft_ms=9.0, concurrency=4)]
    frame = sample_frame(*both).with_columns(label=pl.lit("Groq"), is_failure=pl.lit(False))

    figures = run_figures(frame, history_frame(history_row(), history_row(concurrency=8)), TTFT)

    assert figures["middle"].to_list() == [1.0]


def test_a_run_in_which_all_failed_is_a_gap_in_the_line() -> None:
    spec = history_chart(runs([100.0], [None, None], [120.0]), LINES, TTFT)

    points = spec["data"]["values"]
    assert [(point["middle"], point["stretch"]) for point in points] == [(100.0, 0), (120.0, 1)]
    assert points[0]["at"] == "2026-11-30T12:00:00Z"


def test_an_untrusted_run_is_marked() -> None:
    spec = history_chart(runs([100.0], [110.0], untrusted=1), LINES, TTFT)

    assert [point["trust"] for point in spec["data"]["values"]] == ["trusted", "untrusted"]


def test_the_chart_says_in_words_what_it_shows() -> None:
    figures = runs([100.0], [120.0, 140.0])

    assert history_chart(figures, LINES, TTFT)["description"] == (
        "Line chart of the median TTFT of each run, with the range from p25 to p75. "
        "Newest run: Groq 130 ms."
    )
    assert "<b>130 ms</b>" in history_legend(figures, LINES, TTFT)


def test_the_table_twin_tells_the_same_newest_first() -> None:
    table = history_table(runs([100.0], [120.0, None]), TTFT)

    assert table.columns[2:5] == ["p25, ms", "p50, ms", "p75, ms"]
    assert table.rows() == [
        ("Groq", "2026-11-30 13:00", 120.0, 120.0, 120.0, 1, 1, "yes"),
        ("Groq", "2026-11-30 12:00", 100.0, 100.0, 100.0, 1, 0, "yes"),
    ]
