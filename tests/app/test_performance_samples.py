"""The requests behind a row of the summary: those of its window that count."""

from __future__ import annotations

from datetime import timedelta

import polars as pl
from probe_marts import T0, sample, sample_frame, summary_frame, summary_row

from app.components.performance_samples import samples_behind

SUMMARY = summary_frame(
    summary_row(first_sent_utc=T0 - timedelta(hours=2), last_sent_utc=T0)
).with_columns(label=pl.lit("Groq"))


def behind(*rows: dict[str, object]) -> list[str]:
    named = [row | {"request_id": str(number)} for number, row in enumerate(rows)]
    return samples_behind(SUMMARY, sample_frame(*named))["request_id"].sort().to_list()


def test_requests_of_another_time_load_or_target_are_left_out() -> None:
    assert behind(
        sample(),
        sample(sent_at_utc=T0 - timedelta(hours=3)),
        sample(concurrency=4),
        sample("novita"),
        sample(phase="cold_start"),
        sample(sent_at_utc=T0 - timedelta(hours=2)),
    ) == ["0", "5"]


def test_what_was_never_sent_or_stopped_by_ourselves_is_no_failure() -> None:
    assert behind(
        sample(outcome="timeout"),
        sample(outcome="cancelled_budget"),
        sample(outcome="refused_config", sent_at_utc=None),
    ) == ["0"]


def test_a_batch_that_enters_no_figure_enters_no_failure_rate_either() -> None:
    late = {"batch": 7, "is_in_figures": False}

    assert behind(
        sample(),
        sample(**late),
        sample(**late, outcome="timeout"),
        sample(batch=8, outcome="timeout"),
        sample(run_id="other", batch=7),
    ) == ["0", "3", "4"]
