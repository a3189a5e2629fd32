"""Rigs against quantizations: on which a model runs, and how fast."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.components.cards import badge
from app.components.markup import Markup, element, joined
from app.components.rig_words import (
    TONES,
    bandwidth_text,
    gb_text,
    meaning,
    memory_kind,
    range_text,
    tier_text,
)
from app.components.table import Column, Row, table
from pipeline.hardware.fit import Fit, Need, fit
from pipeline.hardware.rigs import Rig


def rig_table(rigs: Sequence[Rig], needs: Mapping[str, Need], *, own: Rig | None = None) -> Markup:
    """Return a row for each rig and a column for each quantization of ``needs``, by its name.

    The rig of one's own stands first.
    """
    columns = [
        Column("Rig", is_title=True),
        *(
            Column(name, "t/s", help="Estimated tokens per second; beneath, the range.")
            for name in needs
        ),
    ]
    rows = [Row(_cells(rig, needs)) for rig in rigs]
    if own is not None:
        rows.insert(0, Row(_cells(own, needs, is_own=True), css_class="tt-own"))
    return table(
        columns,
        rows,
        caption="Can you run it? Rigs and quantizations",
        css_class="tt-cards tt-fits",
    )


def fit_cell(found: Fit) -> Markup:
    """Return the tier as a badge, the speed, and in small its range; the tooltip has the basis."""
    spread = range_text(found)
    return element(
        "span",
        badge(found.tier, TONES[found.tier]),
        tier_text(found),
        element("small", spread) if spread else None,
        title=meaning(found),
    )


def _cells(rig: Rig, needs: Mapping[str, Need], *, is_own: bool = False) -> list[str]:
    about = f"{gb_text(rig.memory_gb)} {memory_kind(rig)}, {bandwidth_text(rig)}"
    name = element("span", rig.name, class_="tt-name")
    mark = badge("your rig", "accent") if is_own else None
    return [
        joined([name, mark, element("small", about)]),
        *(fit_cell(fit(rig, need)) for need in needs.values()),
    ]
