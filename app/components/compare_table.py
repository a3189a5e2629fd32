"""The comparison as a table: a column for each model or provider, a row for each figure."""

from __future__ import annotations

from collections.abc import Sequence

from app.components import formatting
from app.components.compare_rows import FIGURES, Compared, Figure
from app.components.markup import Markup, element, joined
from app.components.table import Column, Row, table


def compare_table(columns: Sequence[Compared]) -> Markup:
    """Return the table of ``columns``, in their order."""
    filled = {
        key: figure
        for key, figure in FIGURES.items()
        if any(column.cells.get(key) for column in columns)
    }
    rows = [
        Row([_label(figure), *(column.cells.get(key) or formatting.MISSING for column in columns)])
        for key, figure in filled.items()
    ]
    heads = [Column("Figure", is_title=True), *(Column(column.name) for column in columns)]
    return table(heads, rows, caption="Side by side", css_class="tt-cards tt-compare")


def _label(figure: Figure) -> Markup:
    unit = element("small", figure.unit) if figure.unit else None
    return joined(
        [element("span", figure.label, class_="tt-name", title=figure.help or None), unit]
    )
