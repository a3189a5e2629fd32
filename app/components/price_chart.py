"""Price history of a model as a step chart: Vega-Lite as a plain dict, and its legend."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import polars as pl

from app.components import formatting
from app.components.markup import Markup, element
from app.components.price_spans import RANGES, Price

# Tol's vibrant and muted hues, darkened where needed: told apart by colour-blind readers, and at
# least 3:1 against the white and against the dark page. Dashes tell apart the next rounds.
PALETTE = ("#0077bb", "#d95f02", "#009988", "#cc3f6e", "#8a7a00", "#9a62c7", "#7f7f7f")
DASHES = {"solid": [1, 0], "dashed": [7, 4], "dotted": [2, 3]}  # CSS name: Vega-Lite pattern

# Above this ratio of the dearest to the cheapest, equal steps stand for equal factors.
LOG_SCALE_RATIO = 12
HEIGHT_PX = 320
POINTED_AT = {"type": "point", "fields": ["label"], "on": "pointerover", "clear": "pointerout"}


@dataclass(frozen=True)
class Series:
    """An endpoint as it is drawn; labels are unique within a model."""

    label: str
    color: str
    line: str  # key of DASHES
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
        Series(
            label=label,
            color=PALETTE[position % len(PALETTE)],
            line=list(DASHES)[position // len(PALETTE) % len(DASHES)],
            last_price=text,
        )
        for label, position, text in zip(last["label"], last["position"], texts, strict=True)
    ]


def price_chart(
    spans: pl.DataFrame, price: Price, range_name: str, now: datetime
) -> dict[str, Any]:
    """Return the Vega-Lite spec of the step chart for ``price_spans.visible_spans``."""
    series = series_of(spans)
    length = RANGES[range_name]
    first = now - length if length else _first(spans)
    return {
        "description": _description(series, price, range_name),
        "height": HEIGHT_PX,
        "layer": [
            {
                "data": {"values": _line_points(spans)},
                "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 2},
                "encoding": {
                    "x": {"field": "at", "type": "temporal", **_time_axis(first, now)},
                    "y": {"field": "price", "type": "quantitative", **_price_axis(spans, price)},
                    "color": _by_label("color", series),
                    "strokeDash": _by_label("dash", series),
                    "detail": {"field": "run", "type": "nominal"},
                    "opacity": {"condition": {"param": "pointed_at", "value": 1}, "value": 0.18},
                },
            },
            {
                # The newest price as a dot: on the first day a line has no length yet.
                "data": {"values": _last_points(spans)},
                "mark": {"type": "point", "filled": True, "size": 36},
                "encoding": {
                    "x": {"field": "at", "type": "temporal"},
                    "y": {"field": "price", "type": "quantitative"},
                    "color": _by_label("color", series),
                    "opacity": {"condition": {"param": "pointed_at", "value": 1}, "value": 0.18},
                },
            },
            {
                # Unseen bars on the lines: wide enough to point at, one tooltip a span.
                "params": [{"name": "pointed_at", "select": POINTED_AT}],
                "data": {"values": _span_values(spans, now)},
                "mark": {"type": "rule", "strokeWidth": 14, "opacity": 0},
                "encoding": {
                    "x": {"field": "from", "type": "temporal"},
                    "x2": {"field": "to"},
                    "y": {"field": "price", "type": "quantitative"},
                    "color": _by_label("color", series),
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
    items = [
        element("li", _swatch(item), element("span", item.label), element("b", item.last_price))
        for item in series_of(spans)
    ]
    return element("ul", *items, class_="tt-legend", aria_label="Lines of the chart")


def _first(spans: pl.DataFrame) -> datetime:
    moments: list[datetime] = spans["from_utc"].to_list()
    return min(moments)


def _line_points(spans: pl.DataFrame) -> list[dict[str, Any]]:
    return [
        {"label": row["label"], "run": row["run"], "at": _iso(at), "price": float(row["price"])}
        for row in spans.iter_rows(named=True)
        for at in (row["from_utc"], row["to_utc"])
    ]


def _last_points(spans: pl.DataFrame) -> list[dict[str, Any]]:
    last = spans.sort("to_utc").group_by("label", maintain_order=True).last()
    return [
        {"label": row["label"], "at": _iso(row["to_utc"]), "price": float(row["price"])}
        for row in last.iter_rows(named=True)
    ]


def _span_values(spans: pl.DataFrame, now: datetime) -> list[dict[str, Any]]:
    texts = formatting.price_texts(spans["price"].to_list())
    return [
        {
            "label": row["label"],
            "price": float(row["price"]),
            "shown": text,
            "from": _iso(row["from_utc"]),
            "to": _iso(row["to_utc"]),
            "since": formatting.moment_text(row["from_utc"]),
            "until": "now" if row["to_utc"] >= now else formatting.moment_text(row["to_utc"]),
        }
        for row, text in zip(spans.iter_rows(named=True), texts, strict=True)
    ]


def _by_label(channel: str, series: Sequence[Series]) -> dict[str, Any]:
    values = [item.color if channel == "color" else DASHES[item.line] for item in series]
    return {
        "field": "label",
        "type": "nominal",
        "legend": None,
        "scale": {"domain": [item.label for item in series], "range": values},
    }


def _time_axis(first: datetime, now: datetime) -> dict[str, Any]:
    is_long = now - first > timedelta(days=370)
    return {
        "title": None,
        "scale": {"type": "utc", "domain": [_iso(first), _iso(now)]},
        "axis": {
            "grid": False,
            "format": "%b %Y" if is_long else "%-d %b",
            "labelOverlap": "greedy",
            "labelFlush": True,
            "values": [_iso(day) for day in _tick_days(first, now)],
        },
    }


def _price_axis(spans: pl.DataFrame, price: Price) -> dict[str, Any]:
    prices = [float(value) for value in spans["price"]]
    low, high = min(prices), max(prices)
    if low > 0 and high / low > LOG_SCALE_RATIO:
        return {
            "title": f"{price} $/M, log scale",
            "scale": {"type": "log", "domain": [low * 0.8, high * 1.2], "nice": False},
            "axis": {"values": _log_ticks(low, high), "format": "~r"},
        }
    return {
        "title": f"{price} $/M",
        "scale": {"domain": [0, high * 1.1 or 1], "nice": False},
        "axis": {"tickCount": 5, "format": "~g"},
    }


def _log_ticks(low: float, high: float) -> list[float]:
    """Return 1, 2 and 5 of every power of ten that the axis reaches."""
    powers = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
    ticks = [float(f"{digit}e{power}") for power in powers for digit in (1, 2, 5)]
    return [tick for tick in ticks if low * 0.8 <= tick <= high * 1.2]


def _tick_days(first: datetime, now: datetime) -> list[datetime]:
    """Return about six UTC midnights between the ends of the time axis."""
    days = max((now - first).days, 1)
    step = max(round(days / 6), 1)
    last = now.replace(hour=0, minute=0, second=0, microsecond=0)
    return [last - timedelta(days=back) for back in range(0, days, step)][::-1]


def _description(series: Sequence[Series], price: Price, range_name: str) -> str:
    last = ", ".join(f"{item.label} {item.last_price}" for item in series)
    span = "all time" if range_name == "all" else f"the last {range_name}"
    return f"Step chart of the {price} price in USD per million tokens over {span}. Last: {last}."


def _swatch(item: Series) -> Markup:
    return element("i", class_="tt-swatch", style=f"border-top: 3px {item.line} {item.color}")


def _iso(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"
