"""Lines of a chart: a colour and a dash that tell each apart, the same in every chart of a page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from app.components.markup import Markup, element

# Tol's vibrant and muted hues, darkened where needed: told apart by colour-blind readers, and at
# least 3:1 against the white and against the dark page. Dashes tell apart the next rounds.
PALETTE = ("#0077bb", "#d95f02", "#009988", "#cc3f6e", "#8a7a00", "#9a62c7", "#7f7f7f")
DASHES = {"solid": [1, 0], "dashed": [7, 4], "dotted": [2, 3]}  # CSS name: Vega-Lite pattern

# A parameter of the layer that is pointed at; `faded` layers then show one line only.
POINTED_AT = {
    "name": "pointed_at",
    "select": {"type": "point", "fields": ["label"], "on": "pointerover", "clear": "pointerout"},
}


@dataclass(frozen=True)
class Line:
    """A line as it is drawn; labels are unique within a chart."""

    label: str
    color: str
    style: str  # key of DASHES


def line_at(label: str, position: int) -> Line:
    """Return the line that stands at ``position`` (from 0) among all lines of a page."""
    return Line(
        label=label,
        color=PALETTE[position % len(PALETTE)],
        style=list(DASHES)[position // len(PALETTE) % len(DASHES)],
    )


def by_label(channel: str, lines: Iterable[Line]) -> dict[str, Any]:
    """Encode the ``color`` or the ``dash`` of the lines, by the field ``label``."""
    drawn = list(lines)
    values = [line.color if channel == "color" else DASHES[line.style] for line in drawn]
    return {
        "field": "label",
        "type": "nominal",
        "legend": None,
        "scale": {"domain": [line.label for line in drawn], "range": values},
    }


def faded(opacity: float = 1, others: float = 0.18) -> dict[str, Any]:
    """Encode the opacity of a line, and that of the others while one is pointed at."""
    return {"condition": {"param": "pointed_at", "value": opacity}, "value": others}


def legend(items: Sequence[tuple[Line, str]]) -> Markup:
    """Return the legend: how each line is drawn, whose it is, and a figure of it."""
    entries = [
        element("li", _swatch(line), element("span", line.label), element("b", figure))
        for line, figure in items
    ]
    return element("ul", *entries, class_="tt-legend", aria_label="Lines of the chart")


def _swatch(line: Line) -> Markup:
    return element("i", class_="tt-swatch", style=f"border-top: 3px {line.style} {line.color}")
