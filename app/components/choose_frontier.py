"""Cost against latency of the endpoints that may serve, and those that no other one beats."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import polars as pl

from app.components import formatting
from app.components.chart_axes import HEIGHT_PX, number_axis
from app.components.chart_lines import Line, by_label, legend, line_at
from app.components.choose_table import LATENCY
from app.components.markup import Markup
from app.components.workload_money import money_texts
from pipeline.workload.choosing import Choice, frontier, latency_ms
from pipeline.workload.evidence import SOURCES, Source
from pipeline.workload.presets import Order
from pipeline.workload.verdicts import Needs

_GROUPS = {"met": "meets everything", "open": "not known to"}
_SHAPES = ("circle", "diamond")
_GREY = "#7f7f7f"


@dataclass(frozen=True)
class Point:
    """An endpoint in the chart; ``usd`` a month, ``ms`` median latency."""

    name: str
    group: str
    usd: Decimal
    ms: float
    is_best: bool = False


def frontier_points(choice: Choice, needs: Needs, order: Order, source: Source) -> list[Point]:
    """Return the endpoints that have a cost and a latency of ``source``, cheapest first."""
    shown = [*choice.met, *choice.open]
    providers = Counter(judged.candidate.record["provider_name"] for judged in shown)
    found = []
    for judged in shown:
        usd = judged.candidate.quote.month.usd
        ms = latency_ms(judged.candidate, needs, order, source)
        if usd is not None and ms is not None:
            name = _name(judged.candidate.record, providers)
            found.append(Point(name, _GROUPS[judged.outcome], usd, ms))
    best = set(frontier([(float(point.usd), point.ms) for point in found]))
    marked = [replace(point, is_best=index in best) for index, point in enumerate(found)]
    return sorted(marked, key=lambda point: (point.usd, point.ms))


def frontier_chart(points: Sequence[Point], order: Order, source: Source) -> dict[str, Any]:
    """Return the Vega-Lite spec of the chart; ``points`` must not be empty."""
    cost = number_axis([float(point.usd) for point in points], "$ a month")
    latency = number_axis([point.ms for point in points], f"{LATENCY[order]}, ms p50")
    place = {
        "x": {"field": "usd", "type": "quantitative", **cost},
        "y": {"field": "ms", "type": "quantitative", **latency},
    }
    best = [point for point in points if point.is_best]
    others = [point for point in points if not point.is_best]
    color = by_label("color", [line for line, _ in _lines(best)])
    return {
        "description": f"Cost a month against median {LATENCY[order]}, {SOURCES[source]}, of "
        f"{formatting.plural(len(points), 'endpoint')}; the line joins those that no other beats: "
        f"{', '.join(point.name for point in best)}.",
        "height": HEIGHT_PX,
        "layer": [
            {
                "data": {"values": _values(best)},
                "mark": {"type": "line", "interpolate": "step-after", "color": _GREY},
                "encoding": {**place, "order": {"field": "usd"}},
            },
            _dots(others, place, {"value": _GREY}, order),
            _dots(best, place, color, order),
        ],
    }


def frontier_legend(points: Sequence[Point]) -> Markup:
    """Return the legend: who stands on the line, at which cost and latency."""
    return legend(_lines([point for point in points if point.is_best]))


def frontier_table(points: Sequence[Point], order: Order) -> pl.DataFrame:
    """Return the chart as a table, cheapest first."""
    costs = money_texts([point.usd for point in points])
    rows = [
        (
            point.name,
            cost,
            formatting.ms_text(point.ms),
            "yes" if point.is_best else "no",
            point.group,
        )
        for point, cost in zip(points, costs, strict=True)
    ]
    columns = ["Provider", "$ a month", f"{LATENCY[order]}, ms p50", "On the line", "Needs"]
    return pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String), orient="row")


def _lines(best: Sequence[Point]) -> list[tuple[Line, str]]:
    costs = money_texts([point.usd for point in best])
    return [
        (line_at(point.name, position), f"${cost}, {formatting.ms_text(point.ms)} ms")
        for position, (point, cost) in enumerate(zip(best, costs, strict=True))
    ]


def _dots(
    points: Sequence[Point], place: dict[str, Any], color: dict[str, Any], order: Order
) -> dict[str, Any]:
    shape = {
        "field": "group",
        "type": "nominal",
        "scale": {"domain": list(_GROUPS.values()), "range": list(_SHAPES)},
        "legend": {"title": None, "orient": "top"},
    }
    tooltip = {"label": "Provider", "cost": "$ a month", "latency": f"{LATENCY[order]}, ms p50"}
    tooltip["group"] = "Needs"
    return {
        "data": {"values": _values(points)},
        "mark": {"type": "point", "filled": True, "size": 110, "opacity": 1},
        "encoding": {
            **place,
            "color": color,
            "shape": shape,
            "tooltip": [{"field": field, "title": title} for field, title in tooltip.items()],
        },
    }


def _values(points: Sequence[Point]) -> list[dict[str, Any]]:
    costs = money_texts([point.usd for point in points])
    return [
        {
            "label": point.name,
            "group": point.group,
            "usd": float(point.usd),
            "ms": point.ms,
            "cost": cost,
            "latency": formatting.ms_text(point.ms),
        }
        for point, cost in zip(points, costs, strict=True)
    ]


def _name(record: Mapping[str, Any], providers: Counter[str]) -> str:
    """Name an endpoint by its provider, adding tag and number only where needed."""
    name: str = record["provider_name"]
    if providers[name] == 1:
        return name
    twin = f" #{record['endpoint_ordinal']}" if record["endpoint_ordinal"] > 1 else ""
    return f"{name} ({record['tag']}{twin})"
