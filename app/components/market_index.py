"""The index of the market: search, filter, sort and show ``marts.market_table``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from app.components import formatting
from app.components.cards import badge
from app.components.markup import Markup, element, joined, model_link
from app.components.table import Column, Row, Sort, table

DEFAULT_SORT = Sort("-released")

COLUMNS = (
    Column("Model", sort_key="name", is_title=True),
    Column(
        "Input",
        "$/M",
        help="Cheapest input price of a standard, current endpoint.",
        kind="number",
        sort_key="input",
    ),
    Column(
        "Output",
        "$/M",
        help="Output price of the endpoint with the cheapest input.",
        kind="number",
        sort_key="output",
    ),
    Column("Context", "tokens", kind="number", sort_key="context"),
    Column("Providers", kind="number", sort_key="providers"),
    Column(
        "Uptime",
        "1 day",
        help="Highest uptime of the last day among its endpoints, reported by OpenRouter.",
        kind="number",
        sort_key="uptime",
    ),
    Column(
        "Changes",
        "30 days",
        help="Price changes of all its endpoints in the last 30 days.",
        kind="number",
        sort_key="changes",
    ),
    Column("Released", kind="number", sort_key="released"),
)

_SORT_COLUMNS = {
    "name": "name_folded",
    "input": "cheapest_input_usd_per_mtok",
    "output": "cheapest_output_usd_per_mtok",
    "context": "context_length",
    "providers": "providers",
    "uptime": "best_uptime_1d_pct",
    "changes": "price_changes_30d",
    "released": "created_utc",
}
_LOWEST_FIRST = {"name", "input", "output"}
FIRST_DIRECTIONS = {key: Sort(key if key in _LOWEST_FIRST else f"-{key}") for key in _SORT_COLUMNS}

SORT_LABELS = {
    "-released": "Newest first",
    "released": "Oldest first",
    "name": "Name, A to Z",
    "-name": "Name, Z to A",
    "input": "Input price, low first",
    "-input": "Input price, high first",
    "output": "Output price, low first",
    "-output": "Output price, high first",
    "-context": "Context, long first",
    "context": "Context, short first",
    "-providers": "Providers, most first",
    "providers": "Providers, fewest first",
    "-uptime": "Uptime, high first",
    "uptime": "Uptime, low first",
    "-changes": "Price changes, most first",
    "changes": "Price changes, fewest first",
}

CONTEXT_STEPS = {
    "any": 0,
    "32k": 32_000,
    "128k": 128_000,
    "200k": 200_000,
    "1M": 1_000_000,
}


@dataclass(frozen=True)
class Filters:
    """What the reader asked for; empty values ask for nothing."""

    text: str = ""
    author: str | None = None
    is_free: bool = False
    has_price: bool = False
    min_context: int = 0


def filtered(market: pl.DataFrame, filters: Filters) -> pl.DataFrame:
    """Keep the rows that match every filter; every word of ``text`` must be in name or id."""
    haystack = (pl.col("model_name") + " " + pl.col("model_id")).str.to_lowercase()
    conditions = [
        haystack.str.contains(word, literal=True) for word in filters.text.lower().split()
    ]
    if filters.author:
        conditions.append(pl.col("author") == filters.author)
    if filters.is_free:
        conditions.append(pl.col("is_free"))
    if filters.has_price:
        conditions.append(pl.col("cheapest_input_usd_per_mtok").is_not_null())
    if filters.min_context:
        conditions.append(pl.col("context_length") >= filters.min_context)
    return market.filter(conditions) if conditions else market


def sorted_models(market: pl.DataFrame, sort: Sort) -> pl.DataFrame:
    """Order rows of ``marts.market_table``; nulls last in both directions, ties by id."""
    return (
        market.with_columns(name_folded=pl.col("model_name").str.to_lowercase())
        .sort(
            [_SORT_COLUMNS[sort.key], "model_id"],
            descending=[sort.is_descending, False],
            nulls_last=True,
        )
        .drop("name_folded")
    )


def market_index(models: pl.DataFrame, sort: Sort) -> Markup:
    """Return the table for rows of ``marts.market_table`` in the order given."""
    records = models.to_dicts()
    inputs = price_cells(records, "cheapest_input_usd_per_mtok")
    outputs = price_cells(records, "cheapest_output_usd_per_mtok")
    rows = [
        Row(
            [
                _name(record),
                inputs[index],
                outputs[index],
                formatting.count_text(record["context_length"]),
                _providers(record),
                formatting.uptime_text(record["best_uptime_1d_pct"]),
                formatting.count_text(record["price_changes_30d"] or None),
                formatting.day_text(record["created_utc"]),
            ]
        )
        for index, record in enumerate(records)
    ]
    return table(
        COLUMNS,
        rows,
        caption="Models of the market",
        sort=sort,
        first_directions=FIRST_DIRECTIONS,
        css_class="tt-cards",
    )


def price_cells(records: Sequence[dict[str, Any]], column: str) -> list[str]:
    """Write a price column of ``marts.market_table`` records, points in one line."""
    texts = formatting.price_texts([record[column] for record in records])
    return formatting.aligned(
        ["free" if record["is_free"] else text for record, text in zip(records, texts, strict=True)]
    )


def _name(record: dict[str, Any]) -> Markup:
    kind = record["kind"]
    return joined(
        [
            model_link(record["model_name"], record["model_id"]),
            badge(record["variant"]) if record["variant"] else None,
            badge(kind) if kind != "standard" else None,
            element("small", record["model_id"]),
        ]
    )


def _providers(record: dict[str, Any]) -> str:
    return formatting.count_text(record["providers"] or None)
