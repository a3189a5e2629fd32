"""What is known of an endpoint's speed and uptime, and whose figure each one is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

import polars as pl

from pipeline.workload.quotes import Quote

Source = Literal["ours", "openrouter"]
SOURCES: dict[Source, str] = {"ours": "measured by us", "openrouter": "reported by OpenRouter"}
WINDOW_HOURS = 72
UPTIME_DAYS = 30
FEWEST_DAYS = 7  # below, a mean of days says less than the last day itself


@dataclass(frozen=True)
class Speed:
    """TTFT in ms and tokens a second from one source; None where it gives none.

    Ours are warm requests at the lowest concurrency; tokens a second are the decode speed.
    OpenRouter's are of 30 minutes of its traffic; tokens a second are over the whole request.
    """

    source: Source
    ttft_p50_ms: float | None = None
    ttft_p90_ms: float | None = None
    ttft_p95_ms: float | None = None
    ttft_p99_ms: float | None = None
    tokens_per_s_p50: float | None = None
    n: int | None = None
    prompt_set: str | None = None

    @property
    def whose(self) -> str:
        """Say whose figures these are, and of ours on which prompts and how many."""
        if self.n is None or self.prompt_set is None:
            return SOURCES[self.source]
        prompts = self.prompt_set.replace("_", " ")
        return f"{SOURCES[self.source]} ({prompts}, {self.n:,} requests)"

    def answer_ms(self, output_tokens: int) -> float | None:
        """Return the time of a whole answer: ours adds the wait, OpenRouter's rate contains it."""
        if not self.tokens_per_s_p50 or self.ttft_p50_ms is None:
            return None
        writing_ms = 1000 * output_tokens / self.tokens_per_s_p50
        return writing_ms + self.ttft_p50_ms if self.source == "ours" else writing_ms


@dataclass(frozen=True)
class Uptime:
    """Percent of requests answered: the mean of ``days`` daily figures, or that of the last day."""

    percent: float
    days: int


@dataclass(frozen=True)
class Candidate:
    """An endpoint with its cost and everything that is known of its service."""

    quote: Quote
    ours: Speed | None
    reported: Speed
    uptime: Uptime | None

    @property
    def record(self) -> Mapping[str, Any]:
        """Return its row of ``marts.provider_table``."""
        return self.quote.record

    def speed(self, source: Source) -> Speed | None:
        """Return its speed from one source."""
        return self.ours if source == "ours" else self.reported


def candidates(
    quotes: Sequence[Quote],
    summary: pl.DataFrame,
    history: pl.DataFrame,
    prompt_sets: Sequence[str],
) -> list[Candidate]:
    """Join quotes to rows of ``marts.probe_summary`` and ``marts.uptime_history`` of the model.

    Of our figures only trusted ones count, of the first of ``prompt_sets`` that has some.
    """
    measured = _measured(summary, prompt_sets)
    uptimes = _uptimes(history)
    return [
        Candidate(
            quote,
            measured.get(quote.record["endpoint_id"]),
            _reported(quote.record),
            uptimes.get(quote.record["endpoint_id"]) or _last_day(quote.record),
        )
        for quote in quotes
    ]


def _measured(summary: pl.DataFrame, prompt_sets: Sequence[str]) -> dict[str, Speed]:
    wanted = {name: place for place, name in enumerate(prompt_sets)}
    rows = summary.filter(
        pl.col("endpoint_id").is_not_null(),
        pl.col("is_trusted"),
        pl.col("n") > 0,
        pl.col("prompt_set").is_in(list(wanted)),
        window_hours=WINDOW_HOURS,
        phase="measure",
        loop="closed",
    ).to_dicts()
    rows.sort(key=lambda row: (wanted[row["prompt_set"]], row["concurrency"], -row["n"]))
    found: dict[str, Speed] = {}
    for row in rows:
        found.setdefault(
            row["endpoint_id"],
            Speed(
                "ours",
                ttft_p50_ms=row["ttft_p50_ms"],
                ttft_p90_ms=row["ttft_p90_ms"],
                ttft_p95_ms=row["ttft_p95_ms"],
                ttft_p99_ms=row["ttft_p99_ms"],
                tokens_per_s_p50=row["decode_tokens_per_s_p50"],
                n=row["n"],
                prompt_set=row["prompt_set"],
            ),
        )
    return found


def _reported(record: Mapping[str, Any]) -> Speed:
    return Speed(
        "openrouter",
        ttft_p50_ms=record["reported_ttft_p50_ms"],
        ttft_p90_ms=record["reported_ttft_p90_ms"],
        ttft_p99_ms=record["reported_ttft_p99_ms"],
        tokens_per_s_p50=record["reported_tokens_per_s_p50"],
    )


def _uptimes(history: pl.DataFrame) -> dict[str, Uptime]:
    if history.is_empty():
        return {}
    newest = history["partition_date"].max()
    means = (
        history.drop_nulls("uptime_1d_pct")
        .filter(pl.col("partition_date") > pl.lit(newest) - timedelta(days=UPTIME_DAYS))
        .group_by("endpoint_id", "partition_date")
        .agg(pl.col("uptime_1d_pct").sort_by("observed_at_utc").last())
        .group_by("endpoint_id")
        .agg(percent=pl.col("uptime_1d_pct").mean(), days=pl.len())
        .filter(pl.col("days") >= FEWEST_DAYS)
    )
    return {row["endpoint_id"]: Uptime(row["percent"], row["days"]) for row in means.to_dicts()}


def _last_day(record: Mapping[str, Any]) -> Uptime | None:
    percent = record["uptime_1d_pct"]
    return None if percent is None else Uptime(percent, 1)
