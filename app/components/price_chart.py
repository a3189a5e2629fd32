"""Price history of a model as a step chart: Vega-Lite as a plain dict, and its legend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import polars as pl

from app.components import formatting
from app.components.chart_axes import HEIGHT_PX, iso, number_axis, time_axis
from app.components.chart_lines import POINTED_AT, Line, by_label, faded, legend, line_at
from app.components.markup import Markup
from app.components.price_spans import RANGES, Price


@dataclass(frozen=True)
class Series:
    """An endpoint's line and its last price."""

    line: Line
    last_price: str


def series_of(spans: pl.DataFrame) -> list[Series]:
    """Return the lines of ``price_spans.visible_spans``, cheapest last price first."""
    last = (
        spans.group_by("label", "position", maintain_order=True)
        .agg(pl.col("price").sort_by("to_utc").last())
        .sort("price", "label")
    )
    texts = formatting.price_texts(last["price"].to_list())
    return [
        Series(line_at(label, position), text)
        for label, position, text in zip(last["label"], last["position"], texts, strict=True)
    ]


def price_chart(
    spans: pl.DataFrame, price: Price, range_name: str, now: datetime
) -> dict[str, Any]:
    """Return the Vega-Lite spec of the step chart for ``price_spans.visible_spans``."""
    series = series_of(spans)
    lines = [item.line for item in series]
    length = RANGES[range_name]
    first = now - length if length else _first(spans)
    price_axis = number_axis([float(value) for value in spans["price"]], f"{price} $/M")
    return {
        "description": _description(series, price, range_name),
        "height": HEIGHT_PX,
        "layer": [
            {
                "data": {"values": _line_points(spans)},
                "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 2},
                "encoding": {
                    "x": {"field": "at", "type": "temporal", **time_axis(first, now)},
                    "y": {"field": "price", "type": "quantitative", **price_axis},
                    "color": by_label("color", lines),
                    "strokeDash": by_label("dash", lines),
                    "detail": {"field": "run", "type": "nominal"},
                    "opacity": faded(),
                },
            },
            {
                # The newest price as a dot: on the first day a line has no length yet.
                "data": {"values": _last_points(spans)},
                "mark": {"type": "point", "filled": True, "size": 36},
                "encoding": {
                    "x": {"field": "at", "type": "temporal"},
                    "y": {"field": "price", "type": "quantitative"},
                    "color": by_label("color", lines),
                    "opacity": faded(),
                },
            },
            {
                # Unseen bars on the lines: wide enough to point at, one tooltip a span.
                "params": [POINTED_AT],
                "data": {"values": _span_values(spans, now)},
                "mark": {"type": "rule", "strokeWidth": 14, "opacity": 0},
                "encoding": {
                    "x": {"field": "from", "type": "temporal"},
                    "x2": {"field": "to"},
                    "y": {"field": "price", "type": "quantitative"},
                    "color": by_label("color", lines),
                    "tooltip": [
                        {"field": "label", "type": "nominal", "title": "Provider"},
                        {"field": "shown", "type": "nominal", "title": f"{price} $/M"},
                        {"field": "since", "type": "nominal", "title": "From"},
                        {"field": "until", "type": "nominal", "title": "To"},
                    ],
                },
            },
        ],
    }


def chart_legend(spans: pl.DataFrame) -> Markup:
    """Return the legend: how each line is drawn, whose it is, and its last price."""
    return legend([(item.line, item.last_price) for item in series_of(spans)])


def _first(spans: pl.DataFrame) -> datetime:
    moments: list[datetime] = spans["from_utc"].to_list()
    return min(moments)


def _line_points(spans: pl.DataFrame) -> list[dict[str, Any]]:
    return [
        {"label": row["label"], "run": row["run"], "at": iso(at), "price": float(row["price"])}
        for row in spans.iter_rows(named=True)
        for at in (row["from_utc"], row["to_utc"])
    ]


def _last_points(spans: pl.DataFrame) -> list[dict[str, Any]]:
    last = spans.sort("to_utc").group_by("label", maintain_order=True).last()
    return [
        {"label": row["label"], "at": iso(row["to_utc"]), "price": float(row["price"])}
        for row in last.iter_rows(named=True)
    ]


def _span_values(spans: pl.DataFrame, now: datetime) -> list[dict[str, Any]]:
    texts = formatting.price_texts(spans["price"].to_list())
    return [
        {
            "label": row["label"],
            "price": float(row["price"]),
            "shown": text,
            "from": iso(row["from_utc"]),
            "to": iso(row["to_utc"]),
            "since": formatting.moment_text(row["from_utc"]),
            "until": "the last sweep"
            if row["to_utc"] >= now
            else formatting.moment_text(row["to_utc"]),
        }
        for row, text in zip(spans.iter_rows(named=True), texts, strict=True)
    ]


def _description(series: Sequence[Series], price: Price, range_name: str) -> str:
    last = ", ".join(f"{item.line.label} {item.last_price}" for item in series)
    span = "all time" if range_name == "all" else f"the last {range_name}"
    return f"Step chart of the {price} price in USD per million tokens over {span}. Last: {last}."
