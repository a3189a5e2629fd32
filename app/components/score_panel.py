"""The scores of one model, by source: scales are never mixed, and each has its citation."""

from __future__ import annotations

from typing import Any

import polars as pl

from app.components import formatting
from app.components.cards import empty
from app.components.markup import Markup, element, joined
from app.components.score_words import (
    citation,
    evidence_badge,
    metric_label,
    points_text,
    scale_text,
    score_text,
)
from app.components.table import Column, Row, table

BASES = {"cheapest_input": "cheapest input", "blend_3_1": "3:1 blend"}


def score_panel(scores: pl.DataFrame, values: pl.DataFrame) -> Markup:
    """Return the rows of ``marts.model_scores`` and ``marts.score_per_dollar`` of one model."""
    if scores.is_empty():
        return empty(
            "No score of this model",
            "OpenRouter lists none, and none was imported: ",
            element("code", "tokentape scores import FILE"),
            ".",
        )
    per_dollar = {(*_key(row), row["price_basis"]): row for row in values.iter_rows(named=True)}
    groups = scores.partition_by("source", maintain_order=True)
    return joined(_group(group.to_dicts(), per_dollar) for group in groups)


def _group(rows: list[dict[str, Any]], per_dollar: dict[tuple[str, ...], Any]) -> Markup:
    first = rows[0]
    return element(
        "section",
        element("h3", first["source_title"]),
        table(
            [
                Column("Score of", is_title=True),
                Column("Points", "scale", kind="number", card_label="Points"),
                *(
                    Column(
                        "Points per $/M",
                        label,
                        help="Score divided by the lowest price of this basis among endpoints "
                        "listed now and served by default; below it that price and its provider.",
                        kind="number",
                        card_label=f"Per $/M, {label}",
                    )
                    for label in BASES.values()
                ),
                Column("As of", kind="number"),
            ],
            [_row(row, per_dollar) for row in rows],
            caption=f"Scores by {first['source_title']}",
            css_class="tt-cards",
        ),
        *dict.fromkeys(citation(row) for row in rows),
    )


def _row(row: dict[str, Any], per_dollar: dict[tuple[str, ...], Any]) -> Row:
    return Row(
        [
            joined(
                [
                    element("span", metric_label(row["metric"]), class_="tt-name"),
                    evidence_badge(row["evidence"]),
                    element("small", row["variant"]) if row["variant"] else None,
                ]
            ),
            joined([score_text(row["score"]), element("small", scale_text(row))]),
            *(_value(per_dollar.get((*_key(row), basis))) for basis in BASES),
            f"{row['as_of']}",
        ]
    )


def _value(value: dict[str, Any] | None) -> Markup:
    if value is None:
        return joined([formatting.MISSING])
    if value["is_free"]:
        return joined(["free"])
    if not value["has_zero"]:
        return joined([formatting.MISSING, element("small", "the scale has no zero")])
    price = value["price_usd_per_mtok"]
    if price is None:
        return joined([formatting.MISSING, element("small", "no price")])
    basis = f"{formatting.price_text(price)} {value['provider_name']}"
    return joined([points_text(value["points_per_usd_per_mtok"]), element("small", basis)])


def _key(row: dict[str, Any]) -> tuple[str, ...]:
    return row["source"], row["metric"], row["variant"] or ""
