"""How a figure of ours is distributed over all requests, failed ones included: the ECDF."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from app.components import formatting
from app.components.chart_axes import HEIGHT_PX, number_axis
from app.components.chart_lines import POINTED_AT, Line, by_label, faded, legend
from app.components.markup import Markup
from app.components.performance_choices import Metric

POINTS_PER_LINE = 100


def reached(samples: pl.DataFrame, metric: Metric) -> pl.DataFrame:
    """Return for each line which share of its requests was at least how good.

    Takes ``samples_behind``. Columns: label, value, share_pct (of the requests with a figure and
    the failed ones: a failed request is worse than any value, so the share never gets above the
    success rate), success_pct. A time is reached by requests that were as fast or faster, a speed
    by those that were as fast or faster too: it falls where a time rises.
    """
    column = pl.col(metric.sample_column)
    counted = samples.filter(
        pl.col("is_failure") | (pl.col("is_in_figures") & column.is_not_null())
    )
    return (
        counted.with_columns(requests=pl.len().over("label"))
        .filter(pl.col("is_failure").not_())
        .with_columns(
            share_pct=column.rank("max", descending=metric.is_speed).over("label")
            / pl.col("requests")
            * 100,
            success_pct=pl.len().over("label") / pl.col("requests") * 100,
        )
        .select("label", "share_pct", "success_pct", value=metric.sample_column)
        .unique()
        .sort("label", "value")
        .filter(_thinned())
    )


def distribution_chart(
    points: pl.DataFrame, lines: Mapping[str, Line], metric: Metric
) -> dict[str, Any]:
    """Return the Vega-Lite spec for ``reached``; ``lines`` by label."""
    drawn = [lines[label] for label in points["label"].unique(maintain_order=True)]
    faster = "at least this fast" if metric.is_speed else "at most this long"
    value = {
        "field": "value",
        "type": "quantitative",
        **number_axis(points["value"].to_list(), f"{metric.label}, {metric.unit}"),
    }
    share = {
        "field": "share",
        "type": "quantitative",
        "title": f"Requests {faster}, %",
        "scale": {"domain": [0, 100]},
        "axis": {"tickCount": 5},
    }
    color = by_label("color", drawn)
    # A share holds up to its value from the side on which it is reached.
    interpolate = "step-before" if metric.is_speed else "step-after"
    return {
        "description": _description(points, metric),
        "height": HEIGHT_PX,
        "data": {"values": _corners(points, metric, value["scale"]["domain"])},
        "layer": [
            {
                "mark": {"type": "line", "interpolate": interpolate, "strokeWidth": 2},
                "encoding": {
                    "x": value,
                    "y": share,
                    "color": color,
                    "strokeDash": by_label("dash", drawn),
                    "order": {"field": "place", "type": "quantitative"},
                    "opacity": faded(),
                },
            },
            {
                # Unseen discs around the corners: wide enough to point at.
                "params": [POINTED_AT],
                "mark": {"type": "point", "filled": True, "size": 200, "opacity": 0},
                "encoding": {
                    "x": value,
                    "y": share,
                    "color": color,
                    "tooltip": [
                        {"field": "label", "type": "nominal", "title": "Provider"},
                        {"field": "shown", "type": "nominal", "title": metric.label},
                        {"field": "shares", "type": "nominal", "title": f"Requests {faster}"},
                    ],
                },
            },
        ],
    }


def distribution_legend(points: pl.DataFrame, lines: Mapping[str, Line]) -> Markup:
    """Return the legend: each line and its success rate."""
    rates = _success_rates(points)
    return legend([(lines[label], formatting.share_text(rate)) for label, rate in rates])


def distribution_table(points: pl.DataFrame, metric: Metric) -> pl.DataFrame:
    """Return the chart as a table."""
    faster = "at least this fast" if metric.is_speed else "at most this long"
    return points.select(
        pl.col("label").alias("Provider"),
        pl.col("value").round(1).alias(f"{metric.label}, {metric.unit}"),
        pl.col("share_pct").round(1).alias(f"Requests {faster}, %"),
    )


def _thinned() -> pl.Expr:
    """Keep some ``POINTS_PER_LINE`` rows of each line, evenly, with the first and the last."""
    place, count = pl.int_range(pl.len()).over("label"), pl.len().over("label")
    step = pl.max_horizontal((count + POINTS_PER_LINE - 2) // POINTS_PER_LINE, pl.lit(1))
    return (place % step == 0) | (place == count - 1)


def _corners(points: pl.DataFrame, metric: Metric, domain: list[float]) -> list[dict[str, Any]]:
    """Return the corners of the curves in their order, each drawn on to the edge of the chart."""
    left, right = domain
    corners = []
    for (label,), rows in points.group_by("label", maintain_order=True):
        pairs = rows.select("value", "share_pct").rows()
        success_pct = rows["success_pct"][0]
        if metric.is_speed:
            pairs = [(left, success_pct), *pairs, (pairs[-1][0], 0.0)]
        else:
            pairs = [(pairs[0][0], 0.0), *pairs, (right, success_pct)]
        corners += [
            {
                "label": label,
                "place": place,
                "value": round(value, 1),
                "share": round(share, 2),
                "shown": metric.text(value),
                "shares": formatting.share_text(share),
            }
            for place, (value, share) in enumerate(pairs)
        ]
    return corners


def _success_rates(points: pl.DataFrame) -> list[tuple[str, float]]:
    return points.select("label", "success_pct").unique(maintain_order=True).rows()


def _description(points: pl.DataFrame, metric: Metric) -> str:
    rates = ", ".join(
        f"{label} {formatting.share_text(rate)}" for label, rate in _success_rates(points)
    )
    side = "begin" if metric.is_speed else "end"
    return (
        f"Curves of the share of requests by {metric.label}, failed requests included; they {side} "
        f"at the success rate: {rates}."
    )
