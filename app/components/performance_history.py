"""How a figure of ours went from run to run: its median as a line, the middle half as a band."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import polars as pl

from app.components import formatting
from app.components.chart_axes import HEIGHT_PX, iso, number_axis, time_axis
from app.components.chart_lines import POINTED_AT, Line, by_label, faded, legend
from app.components.markup import Markup
from app.components.performance_choices import Metric
from app.components.performance_samples import IDENTITY

# From so many runs on, their dots would hide the lines.
MANY_RUNS = 40
# One run is a dot in the middle of the axis, not at its edge.
MARGIN = timedelta(hours=1)


def run_figures(samples: pl.DataFrame, history: pl.DataFrame, metric: Metric) -> pl.DataFrame:
    """Return a row for each line and run: quartiles of ``metric`` over its own requests.

    Takes ``samples_behind`` and the rows of ``marts.performance_history``, which date a run and
    say whether the instrument was to be trusted. Columns: label, started_at_utc, n (requests with
    the figure), failures, low, middle, high (p25, p50, p75), is_trusted. The quartiles are null
    where no request of the run has the figure.
    """
    values = pl.col(metric.sample_column).filter("is_in_figures")
    return (
        samples.group_by(*IDENTITY, "label", "run_id")
        .agg(
            n=values.count(),
            failures=pl.col("is_failure").sum(),
            low=values.quantile(0.25, "linear"),
            middle=values.quantile(0.5, "linear"),
            high=values.quantile(0.75, "linear"),
        )
        .join(
            history.select(*IDENTITY, "run_id", "started_at_utc", "is_trusted"),
            on=[*IDENTITY, "run_id"],
            nulls_equal=True,
        )
        .sort("label", "started_at_utc")
        .select("label", "started_at_utc", "n", "failures", "low", "middle", "high", "is_trusted")
    )


def history_chart(runs: pl.DataFrame, lines: Mapping[str, Line], metric: Metric) -> dict[str, Any]:
    """Return the Vega-Lite spec for ``run_figures``; ``lines`` by label."""
    points = _points(runs, metric)
    drawn = [lines[label] for label in runs["label"].unique(maintain_order=True)]
    moments: list[datetime] = runs["started_at_utc"].to_list()
    at = {
        "field": "at",
        "type": "temporal",
        **time_axis(min(moments) - MARGIN, max(moments) + MARGIN),
    }
    ends = [value for point in points for value in (point["low"], point["high"])]
    axis = number_axis(ends, f"{metric.label}, {metric.unit}")
    middle = {"field": "middle", "type": "quantitative", **axis}
    color = by_label("color", drawn)
    dot = 8 if runs["started_at_utc"].n_unique() > MANY_RUNS else 30
    return {
        "description": _description(runs, metric),
        "height": HEIGHT_PX,
        "data": {"values": points},
        "layer": [
            {
                "mark": {"type": "area"},
                "encoding": {
                    "x": at,
                    "y": {**middle, "field": "low"},
                    "y2": {"field": "high"},
                    "color": color,
                    "detail": {"field": "stretch", "type": "nominal"},
                    "opacity": faded(0.16, 0.03),
                },
            },
            {
                "mark": {"type": "line", "strokeWidth": 2},
                "encoding": {
                    "x": at,
                    "y": middle,
                    "color": color,
                    "strokeDash": by_label("dash", drawn),
                    "detail": {"field": "stretch", "type": "nominal"},
                    "opacity": faded(),
                },
            },
            {
                "mark": {"type": "point", "filled": True},
                "encoding": {
                    "x": at,
                    "y": middle,
                    "color": color,
                    "shape": {
                        "field": "trust",
                        "type": "nominal",
                        "legend": None,
                        "scale": {"domain": ["trusted", "untrusted"], "range": ["circle", "cross"]},
                    },
                    "size": {
                        "condition": {"test": "datum.trust == 'untrusted'", "value": 4 * dot},
                        "value": dot,
                    },
                    "opacity": faded(),
                },
            },
            {
                # Unseen discs around the points: wide enough to point at.
                "params": [POINTED_AT],
                "mark": {"type": "point", "filled": True, "size": 260, "opacity": 0},
                "encoding": {
                    "x": at,
                    "y": middle,
                    "color": color,
                    "tooltip": [
                        {"field": "label", "type": "nominal", "title": "Provider"},
                        {"field": "run", "type": "nominal", "title": "Run"},
                        {"field": "shown", "type": "nominal", "title": f"{metric.label}, p50"},
                        {"field": "band", "type": "nominal", "title": "p25 to p75"},
                        {"field": "requests", "type": "nominal", "title": "Requests"},
                        {"field": "trust", "type": "nominal", "title": "Instrument"},
                    ],
                },
            },
        ],
    }


def history_legend(runs: pl.DataFrame, lines: Mapping[str, Line], metric: Metric) -> Markup:
    """Return the legend: each line and its median in the newest run."""
    return legend([(lines[label], metric.text(value)) for label, value in _newest(runs)])


def history_table(runs: pl.DataFrame, metric: Metric) -> pl.DataFrame:
    """Return the chart as a table, newest run first."""
    ordered = runs.sort("started_at_utc", "label", descending=[True, False])
    return ordered.select(
        pl.col("label").alias("Provider"),
        pl.col("started_at_utc").dt.strftime("%Y-%m-%d %H:%M").alias("Run (UTC)"),
        pl.col("low").round(1).alias(f"p25, {metric.unit}"),
        pl.col("middle").round(1).alias(f"p50, {metric.unit}"),
        pl.col("high").round(1).alias(f"p75, {metric.unit}"),
        "n",
        pl.col("failures").alias("Failed"),
        pl.when("is_trusted").then(pl.lit("yes")).otherwise(pl.lit("no")).alias("Trusted"),
    )


def _points(runs: pl.DataFrame, metric: Metric) -> list[dict[str, Any]]:
    """Return the runs with a figure; a run without one breaks the line into stretches."""
    stretches = runs.with_columns(
        stretch=pl.col("middle").is_null().cum_sum().over("label")
    ).drop_nulls("middle")
    return [
        {
            "label": row["label"],
            "stretch": row["stretch"],
            "at": iso(row["started_at_utc"]),
            "low": row["low"],
            "middle": row["middle"],
            "high": row["high"],
            "trust": "trusted" if row["is_trusted"] else "untrusted",
            "run": formatting.moment_text(row["started_at_utc"]),
            "shown": metric.text(row["middle"]),
            "band": f"{formatting.rate_text(row['low'])} to {formatting.rate_text(row['high'])}",
            "requests": f"{row['n']} measured, {row['failures']} failed",
        }
        for row in stretches.iter_rows(named=True)
    ]


def _newest(runs: pl.DataFrame) -> list[tuple[str, float | None]]:
    newest = runs.group_by("label", maintain_order=True).last()
    return newest.select("label", "middle").rows()


def _description(runs: pl.DataFrame, metric: Metric) -> str:
    newest = ", ".join(f"{label} {metric.text(value)}" for label, value in _newest(runs))
    return (
        f"Line chart of the median {metric.label} of each run, with the range from p25 to p75. "
        f"Newest run: {newest}."
    )
