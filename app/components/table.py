"""One accessible HTML table for every list of the app: sortable heads, cards on a phone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from app.components.markup import Markup, element, joined

Kind = Literal["text", "number"]


@dataclass(frozen=True)
class Column:
    """A column: its head, unit, one-sentence explanation, and sort key when it sorts.

    ``card_label`` stands on a phone card where label and unit together are too long.
    """

    label: str
    unit: str = ""
    help: str = ""
    kind: Kind = "text"
    sort_key: str | None = None
    is_title: bool = False  # the row's name: its head on a phone card
    card_label: str = ""


@dataclass(frozen=True)
class Row:
    """Cells in the order of the columns; ``css_class`` dims or marks the whole row.

    ``more`` stands in a row of its own below, shown while a ``details`` in the row is open.
    """

    cells: Sequence[str]
    css_class: str | None = None
    more: Markup | None = None


@dataclass(frozen=True)
class Sort:
    """Which column orders the rows: ``key``, or ``-key`` for the other way round."""

    text: str

    @property
    def key(self) -> str:
        """Name of the column that sorts."""
        return self.text.removeprefix("-")

    @property
    def is_descending(self) -> bool:
        """Whether the largest value comes first."""
        return self.text.startswith("-")

    def reversed(self) -> Sort:
        """Return the other direction of the same column."""
        return Sort(self.key if self.is_descending else f"-{self.key}")


def table(
    columns: Sequence[Column],
    rows: Sequence[Row],
    *,
    caption: str,
    sort: Sort | None = None,
    first_directions: dict[str, Sort] | None = None,
    css_class: str = "",
) -> Markup:
    """Return the table; ``caption`` names it for screen readers.

    A sortable head is a button with ``data-sort``: the sort that a click asks for, which is
    ``first_directions[key]``, or the other direction where the column sorts already.
    """
    heads = [_head(column, sort, first_directions or {}) for column in columns]
    body = [_row(columns, row) for row in rows]
    return element(
        "div",
        element(
            "table",
            element("caption", caption, class_="tt-unseen"),
            element("thead", element("tr", *heads, role="row"), role="rowgroup"),
            element("tbody", *body, role="rowgroup"),
            role="table",
        ),
        class_=f"tt-table {css_class}".strip(),
        role="region",
        aria_label=caption,
        tabindex=0,
    )


def _head(column: Column, sort: Sort | None, first_directions: dict[str, Sort]) -> Markup:
    unit = joined([" ", element("small", column.unit)]) if column.unit else None
    label = joined([column.label, unit])
    css_class = "tt-number" if column.kind == "number" else None
    title = column.help or None
    if column.sort_key is None:
        return element("th", label, scope="col", role="columnheader", class_=css_class, title=title)
    is_active = sort is not None and sort.key == column.sort_key
    wanted = sort.reversed() if sort and is_active else first_directions[column.sort_key]
    direction = "none"
    if sort and is_active:
        direction = "descending" if sort.is_descending else "ascending"
    return element(
        "th",
        element("button", label, type="button", data_sort=wanted.text),
        scope="col",
        role="columnheader",
        class_=css_class,
        title=title,
        aria_sort=direction,
    )


def _row(columns: Sequence[Column], row: Row) -> Markup:
    cells = [_cell(column, content) for column, content in zip(columns, row.cells, strict=True)]
    shown = element("tr", *cells, role="row", class_=row.css_class)
    if row.more is None:
        return shown
    below = element("td", row.more, role="cell", colspan=len(columns))
    return joined([shown, element("tr", below, role="row", class_="tt-more")])


def _cell(column: Column, content: str) -> Markup:
    css_class = "tt-number" if column.kind == "number" else None
    if column.is_title:
        return element("th", content, scope="row", role="rowheader")
    label = column.card_label or f"{column.label} {column.unit}".strip()
    return element("td", content, role="cell", class_=css_class, data_label=label)
