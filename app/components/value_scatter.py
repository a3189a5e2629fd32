"""Score against price, with the efficient frontier: Vega-Lite as a plain dict, and its table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from app.components import formatting
from app.components.chart_axes import log_axis
from app.components.markup import Markup, element
from app.components.score_words import points_text, score_text
from pipeline.scores.value import Valued

HEIGHT_PX = 420
# Told apart by shape and size as well as by colour; both stand 3:1 against white and dark.
EFFICIENT_COLOR = "#0077bb"
OTHER_COLOR = "#7f7f7f"
NAME_COLOR = "#767c84"  # 4:1 against white and dark; the legend has the names in full contrast
NAMED_POINTS = 12
LEAST_WIDTH_OF_NAMES_PX = 640
USUAL_WIDTH_PX = 1000
NAME_CHARACTER_PX = 6
NAME_LINE_PX = 18


def priced(values: Sequence[Valued]) -> list[Valued]:
    """Return the rows that have a place on the chart: a free model has none on a log scale."""
    return [each for each in values if each.offer and each.offer.price_usd_per_mtok is not None]


def value_scatter(
    values: Sequence[Valued], names: Mapping[str, str], *, score_label: str, basis: str
) -> dict[str, Any]:
    """Return the Vega-Lite spec; ``values`` are those of ``priced``, at least one."""
    points = [_point(each, names) for each in values]
    price_axis = log_axis([point["price"] for point in points], f"Price, $/M, {basis}")
    frontier = sorted(
        (point for point in points if point["is_efficient"]), key=lambda point: point["price"]
    )
    x = {"field": "price", "type": "quantitative", **price_axis}
    y = {"field": "score", "type": "quantitative", **_score_axis(points, score_label)}
    named = _with_room(frontier, x["scale"]["domain"], y["scale"]["domain"])
    kind = {"field": "kind", "type": "nominal", "legend": None}
    domain = ["efficient", "other"]
    return {
        "description": _description(frontier, len(points), score_label),
        "height": HEIGHT_PX,
        "layer": [
            {
                "data": {"values": _line(frontier, price_axis["scale"]["domain"][1])},
                "mark": {
                    "type": "line",
                    "interpolate": "step-after",
                    "strokeWidth": 2,
                    "color": EFFICIENT_COLOR,
                },
                "encoding": {"x": x, "y": y},
            },
            {
                "data": {"values": points},
                "mark": {"type": "point", "filled": True, "opacity": 0.9},
                "encoding": {
                    "x": x,
                    "y": y,
                    "color": kind
                    | {"scale": {"domain": domain, "range": [EFFICIENT_COLOR, OTHER_COLOR]}},
                    "shape": kind | {"scale": {"domain": domain, "range": ["diamond", "circle"]}},
                    "size": kind | {"scale": {"domain": domain, "range": [130, 45]}},
                    "tooltip": [
                        {"field": "name", "type": "nominal", "title": "Model"},
                        {"field": "score_shown", "type": "nominal", "title": score_label},
                        {"field": "price_shown", "type": "nominal", "title": "Price, $/M"},
                        {"field": "provider", "type": "nominal", "title": "Provider"},
                        {"field": "value_shown", "type": "nominal", "title": "Points per $/M"},
                    ],
                },
            },
            _names_layer(named, is_right=False),
            _names_layer(named, is_right=True),
        ],
    }


def scatter_legend(values: Sequence[Valued], names: Mapping[str, str]) -> Markup:
    """Return what the marks mean, and the models on the frontier from the cheapest on."""
    efficient = sorted(
        (each.price_usd_per_mtok, names[each.score["model_id"]])
        for each in values
        if each.is_efficient and each.price_usd_per_mtok is not None
    )
    named = ", ".join(name for _, name in efficient[:NAMED_POINTS])
    more = len(efficient) - NAMED_POINTS
    free = sum(each.is_free for each in values)
    return element(
        "p",
        element("span", "\u25c6", style=f"color: {EFFICIENT_COLOR}", aria_hidden="true"),
        " on the efficient frontier: nothing as good is cheaper, nothing as cheap is better. "
        f"From the cheapest on: {named}{f' and {more} more' if more > 0 else ''}. ",
        element("span", "\u25cf", style=f"color: {OTHER_COLOR}", aria_hidden="true"),
        " all others.",
        f" {formatting.plural(free, 'free model')} not drawn: a log scale has no zero."
        if free
        else None,
        class_="tt-notes",
    )


def scatter_table(values: Sequence[Valued], names: Mapping[str, str], basis: str) -> pl.DataFrame:
    """Return the chart as a table, cheapest first."""
    rows = [
        {
            "Model": point["name"],
            "Score": point["score"],
            f"Price, $/M, {basis}": point["price"],
            "Provider": point["provider"],
            "Efficient": point["is_efficient"],
        }
        for point in sorted((_point(each, names) for each in values), key=lambda it: it["price"])
    ]
    return pl.DataFrame(rows)


def _point(value: Valued, names: Mapping[str, str]) -> dict[str, Any]:
    offer = value.offer
    assert offer is not None and offer.price_usd_per_mtok is not None  # noqa: S101 - see `priced`
    return {
        "name": names[value.score["model_id"]],
        # Without the developer in front, which OpenRouter puts before a colon.
        "short_name": names[value.score["model_id"]].partition(": ")[2]
        or names[value.score["model_id"]],
        "score": float(value.score["score"]),
        "price": float(offer.price_usd_per_mtok),
        "provider": offer.provider_name,
        "is_efficient": value.is_efficient,
        "kind": "efficient" if value.is_efficient else "other",
        "score_shown": score_text(value.score["score"]),
        "price_shown": formatting.price_text(offer.price_usd_per_mtok),
        "value_shown": points_text(value.points_per_usd_per_mtok),
    }


def _score_axis(points: Sequence[dict[str, Any]], label: str) -> dict[str, Any]:
    scores = [point["score"] for point in points]
    low, high = min(scores), max(scores)
    margin = (high - low) * 0.08 or 1
    return {
        "title": label,
        "scale": {"domain": [low - margin, high + margin], "nice": False, "zero": False},
        "axis": {"tickCount": 6},
    }


def _names_layer(points: Sequence[dict[str, Any]], *, is_right: bool) -> dict[str, Any]:
    return {
        "data": {"values": [point for point in points if point["is_right"] == is_right]},
        "mark": {
            "type": "text",
            "align": "right" if is_right else "left",
            "dx": -8 if is_right else 8,
            "dy": 13,
            "fontSize": 11,
            "color": NAME_COLOR,
            # On a phone they would lie over each other; the legend below has them as well.
            "text": {"expr": f"width > {LEAST_WIDTH_OF_NAMES_PX} ? datum.short_name : ''"},
        },
        "encoding": {
            "x": {"field": "price", "type": "quantitative"},
            "y": {"field": "score", "type": "quantitative"},
        },
    }


def _with_room(
    frontier: Sequence[dict[str, Any]], prices: Sequence[float], scores: Sequence[float]
) -> list[dict[str, Any]]:
    """Return the points whose names lie over no other's, best first, on a chart of usual width.

    ``prices`` and ``scores`` are the ends of the axes. ``is_right`` says on which half a point is:
    there its name stands to the left of it, else to the right.
    """
    found: list[dict[str, Any]] = []
    boxes: list[tuple[float, float, float]] = []
    for point in reversed(frontier):
        share = math.log(point["price"] / prices[0]) / math.log(prices[1] / prices[0])
        is_right = share > 0.5
        x = share * USUAL_WIDTH_PX
        length = NAME_CHARACTER_PX * len(point["short_name"])
        left, right = (x - length, x) if is_right else (x, x + length)
        y = (point["score"] - scores[0]) / (scores[1] - scores[0]) * HEIGHT_PX
        if any(
            left < other_right and other_left < right and abs(y - other_y) < NAME_LINE_PX
            for other_left, other_right, other_y in boxes
        ):
            continue
        boxes.append((left, right, y))
        found.append(point | {"is_right": is_right})
    return found


def _line(frontier: Sequence[dict[str, Any]], last_price: float) -> list[dict[str, float]]:
    """Return the corners of the frontier, drawn on to the right edge: dearer buys no better."""
    corners = [{"price": point["price"], "score": point["score"]} for point in frontier]
    return [*corners, {"price": last_price, "score": corners[-1]["score"]}]


def _description(frontier: Sequence[dict[str, Any]], count: int, label: str) -> str:
    told = ", ".join(
        f"{point['name']} {point['score_shown']} at {point['price_shown']}" for point in frontier
    )
    return (
        f"Scatter of {label} against price in USD per million tokens, {count} models. "
        f"Efficient frontier: {told}."
    )
