"""Figures and short lists that sum up ``marts.market_table``."""

from __future__ import annotations

from decimal import Decimal
from statistics import median

import polars as pl

from app.components import formatting
from app.components.market_index import price_cells
from app.components.markup import Markup, element, joined, model_link
from app.components.table import Column, Row, table

LISTED_MODELS = 12


def median_price(market: pl.DataFrame, column: str) -> str:
    """Return the median of a price column over models that cost something, as text."""
    paid = market.filter(pl.col("is_free").not_(), pl.col(column).is_not_null())
    prices: list[Decimal] = paid[column].to_list()
    return formatting.price_text(median(prices) if prices else None)


def most_served(market: pl.DataFrame) -> Markup:
    """Return the models with the most providers, and from which price on."""
    models = market.sort(["providers", "model_id"], descending=[True, False], nulls_last=True)
    records = models.head(LISTED_MODELS).to_dicts()
    prices = price_cells(records, "cheapest_input_usd_per_mtok")
    rows = [
        Row(
            [
                joined(
                    [
                        model_link(record["model_name"], record["model_id"]),
                        element("small", record["model_id"]),
                    ]
                ),
                formatting.count_text(record["providers"]),
                price,
            ]
        )
        for record, price in zip(records, prices, strict=True)
    ]
    return table(
        [
            Column("Model", is_title=True),
            Column("Providers", kind="number"),
            Column("Input", "$/M from", kind="number"),
        ],
        rows,
        caption="Models with the most providers",
    )
