"""Names in imported scores that stand for no model yet."""

from __future__ import annotations

import polars as pl

from app.components import formatting
from app.components.cards import empty
from app.components.markup import Markup, element
from app.components.table import Column, Row, table


def unmatched_names(names: pl.DataFrame) -> Markup:
    """Return ``marts.unmatched_names`` in the order given, or that there are none."""
    if names.is_empty():
        return empty("Every name is matched", "All imported scores belong to a listed model.")
    return table(
        [
            Column("Name", is_title=True),
            Column("Source"),
            Column("Why"),
            Column("Scores", kind="number"),
            Column("First seen"),
        ],
        [
            Row(
                [
                    element("span", row["source_name"], class_="tt-name"),
                    row["source"],
                    row["reason"],
                    formatting.count_text(row["scores"]),
                    formatting.day_text(row["first_seen_utc"]),
                ]
            )
            for row in names.iter_rows(named=True)
        ],
        caption="Unmatched names",
        css_class="tt-cards tt-wide-cells",
    )
