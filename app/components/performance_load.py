"""What a target bears: throughput of all streams together, and TTFT, against concurrency."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from app.components import formatting
from app.components.chart_axes import number_axis
from app.components.chart_lines import POINTED_AT, Line, by_label, faded, legend
from app.components.markup import Markup

HEIGHT_PX = 260
_PERCENTILES = ("p99", "p95", "p50")


def load_rows(summary: pl.DataFrame) -> pl.DataFrame:
    """Return closed-loop rows of ``marts.probe_summary``, empty below two concurrencies.

    The rows are of one window and prompt set, with ``label``; returned by label and concurrency.
    """
    rows = summary.filter(pl.col("loop") == "closed", pl.col("n") > 0)
    if rows["concurrency"].n_unique() < 2:
        return rows.clear()
    return rows.sort("label", "concurrency")


def percentile_of(rows: pl.DataFrame) -> str:
    """Return the highest TTFT percentile that all rows have: one curve never mixes two."""
    return next((name for name in _PERCENTILES if rows[f"ttft_{name}_ms"].null_count() == 0), "p50")


def throughput_chart(rows: pl.DataFrame, lines: Mapping[str, Line]) -> dict[str, Any]:
    """Return the Vega-Lite spec of aggregate throughput over ``load_rows``."""
    return _chart(rows, lines, "aggregate_tokens_per_s", "All streams, tok/s", "tok/s")


def ttft_chart(rows: pl.DataFrame, lines: Mapping[str, Line]) -> dict[str, Any]:
    """Return the Vega-Lite spec of the TTFT percentile over ``load_rows``."""
    name = percentile_of(rows)
    return _chart(rows, lines, f"ttft_{name}_ms", f"TTFT {name}, ms", "ms")


def load_legend(rows: pl.DataFrame, lines: Mapping[str, Line]) -> Markup:
    """Return the legend of both charts: each line and its highest throughput."""
    best = rows.group_by("label", maintain_order=True).agg(pl.col("aggregate_tokens_per_s").max())
    return legend(
        [
            (lines[label], f"{formatting.rate_text(rate)} tok/s" if rate else formatting.MISSING)
            for label, rate in best.rows()
        ]
    )


def load_table(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the charts as a table."""
    name = percentile_of(rows)
    return rows.select(
        pl.col("label").alias("Provider"),
        pl.col("concurrency").alias("Streams"),
        "n",
        pl.col("aggregate_tokens_per_s").round(1).alias("All streams, tok/s"),
        pl.col(f"ttft_{name}_ms").round(1).alias(f"TTFT {name}, ms"),
    )


def _chart(
    rows: pl.DataFrame, lines: Mapping[str, Line], column: str, title: str, unit: str
) -> dict[str, Any]:
    known = rows.drop_nulls(column)
    drawn = [lines[label] for label in known["label"].unique(maintain_order=True)]
    levels: list[int] = known["concurrency"].unique().sort().to_list()
    values: list[float] = known[column].to_list()
    streams = {
        "field": "concurrency",
        "type": "quantitative",
        "title": "Streams at a time",
        "scale": {
            "type": "log",
            "base": 2,
            "domain": [min(levels) * 0.9, max(levels) * 1.1],
            "nice": False,
        },
        "axis": {"values": levels, "format": "d", "grid": False, "labelOverlap": "greedy"},
    }
    figure = {"field": "value", "type": "quantitative", **number_axis(values, title)}
    color = by_label("color", drawn)
    return {
        "description": f"{title} against streams at a time: {_told(known, column, unit)}.",
        "height": HEIGHT_PX,
        "data": {"values": _points(known, column, unit)},
        "layer": [
            {
                "mark": {"type": "line", "strokeWidth": 2},
                "encoding": {
                    "x": streams,
                    "y": figure,
                    "color": color,
                    "strokeDash": by_label("dash", drawn),
                    "opacity": faded(),
                },
            },
            {
                "mark": {"type": "point", "filled": True, "size": 36},
                "encoding": {"x": streams, "y": figure, "color": color, "opacity": faded()},
            },
            {
                # Unseen discs around the points: wide enough to point at.
                "params": [POINTED_AT],
                "mark": {"type": "point", "filled": True, "size": 260, "opacity": 0},
                "encoding": {
                    "x": streams,
                    "y": figure,
                    "color": color,
                    "tooltip": [
                        {"field": "label", "type": "nominal", "title": "Provider"},
                        {"field": "concurrency", "type": "quantitative", "title": "Streams"},
                        {"field": "shown", "type": "nominal", "title": title},
                        {"field": "n", "type": "quantitative", "title": "n"},
                    ],
                },
            },
        ],
    }


def _points(known: pl.DataFrame, column: str, unit: str) -> list[dict[str, Any]]:
    return [
        {
            "label": row["label"],
            "concurrency": row["concurrency"],
            "value": row[column],
            "shown": f"{formatting.rate_text(row[column])} {unit}",
            "n": row["n"],
        }
        for row in known.iter_rows(named=True)
    ]


def _told(known: pl.DataFrame, column: str, unit: str) -> str:
    most = known.group_by("label", maintain_order=True).last()
    return ", ".join(
        f"{row['label']} {formatting.rate_text(row[column])} {unit} at {row['concurrency']}"
        for row in most.iter_rows(named=True)
    )
