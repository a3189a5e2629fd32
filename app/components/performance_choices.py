"""What a reader can choose in the performance section: only what was measured."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from app.components import formatting

WINDOWS = {"24h": 24, "72h": 72, "14d": 336}
DEFAULT_WINDOW = "72h"
# The built-in sets, the usual one first; sets of one's own follow by name.
PROMPT_SETS = {
    "short_chat": "Short chat",
    "1k_in_1k_out": "1k in, 1k out",
    "10k_in": "10k in",
    "cached_prefix": "Cached prefix, 2k in",
}


@dataclass(frozen=True)
class Metric:
    """A figure of a request: its name, unit, and its columns in the marts."""

    label: str
    unit: str
    sample_column: str
    median_column: str
    is_speed: bool = False  # more is better

    def text(self, value: float | None) -> str:
        """Write a value with its unit."""
        return formatting.MISSING if value is None else f"{formatting.rate_text(value)} {self.unit}"


METRICS = {
    "ttft": Metric("TTFT", "ms", "ttft_ms", "ttft_p50_ms"),
    "answer": Metric("Answer TTFT", "ms", "answer_ttft_ms", "answer_ttft_p50_ms"),
    "speed": Metric(
        "Decode speed", "tok/s", "decode_tokens_per_s", "decode_tokens_per_s_p50", is_speed=True
    ),
    "e2e": Metric("End-to-end", "ms", "e2e_ms", "e2e_p50_ms"),
}


@dataclass(frozen=True)
class Load:
    """How requests arrived: so many streams one after the other, or at a rate."""

    loop: str
    concurrency: int
    offered_rate_per_s: float | None

    @property
    def key(self) -> str:
        """Return it as a short word for the URL."""
        if self.loop == "closed":
            return str(self.concurrency)
        return f"{self.offered_rate_per_s:g}-a-second-{self.concurrency}"

    @property
    def label(self) -> str:
        """Return it for a reader."""
        streams = formatting.plural(self.concurrency, "stream")
        if self.loop == "closed":
            return streams
        return f"{self.offered_rate_per_s:g} a second, at most {streams}"


def warm(summary: pl.DataFrame) -> pl.DataFrame:
    """Keep the rows of ``marts.probe_summary`` that are no cold starts."""
    return summary.filter(phase="measure")


def windows(summary: pl.DataFrame) -> list[str]:
    """Return the windows with rows of ``marts.probe_summary``, shortest first."""
    present = set(summary["window_hours"])
    return [name for name, hours in WINDOWS.items() if hours in present]


def prompt_sets(summary: pl.DataFrame) -> dict[str, str]:
    """Return the prompt sets of rows of ``marts.probe_summary`` by name, with their labels."""
    present = set(summary["prompt_set"])
    built_in = {name: label for name, label in PROMPT_SETS.items() if name in present}
    return built_in | {name: name for name in sorted(present - built_in.keys())}


def loads(summary: pl.DataFrame) -> dict[str, Load]:
    """Return the loads of rows of ``marts.probe_summary`` by key, closed loops first."""
    rows = summary.select("loop", "concurrency", "offered_rate_per_s").unique().rows()
    ordered = sorted(
        (Load(*row) for row in rows),
        key=lambda load: (load.loop != "closed", load.offered_rate_per_s or 0, load.concurrency),
    )
    return {load.key: load for load in ordered}


def metrics(summary: pl.DataFrame) -> dict[str, str]:
    """Return the labels of the metrics that some row of ``marts.probe_summary`` has, by key."""
    return {
        key: metric.label
        for key, metric in METRICS.items()
        if summary[metric.median_column].count() > 0
    }


def of_load(rows: pl.DataFrame, load: Load) -> pl.DataFrame:
    """Keep the rows of a mart of probes that were measured under ``load``."""
    return rows.filter(
        pl.col("loop") == load.loop,
        pl.col("concurrency") == load.concurrency,
        pl.col("offered_rate_per_s").eq_missing(load.offered_rate_per_s),
    )
