"""The index of the market: search, filters, order."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import polars as pl
import pytest
from html_tables import cells

from app.components import (
    formatting,
    market_index,
)
from app.components.table import Sort

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
PRICE = pl.Decimal(38, 18)


def listed(model_id: str, **values: Any) -> dict[str, Any]:
    return {
        "model_id": model_id,
        "model_name": model_id.partition("/")[2].title(),
        "author": model_id.partition("/")[0],
        "variant": None,
        "kind": "standard",
        "created_utc": NOW,
        "context_length": 8192,
        "providers": 1,
        "is_free": False,
        "cheapest_input_usd_per_mtok": None,
        "cheapest_output_usd_per_mtok": None,
        "best_uptime_1d_pct": None,
        "price_changes_30d": 0,
    } | values


def market(*rows: dict[str, Any]) -> pl.DataFrame:
    return pl.DataFrame(
        list(rows),
        schema_overrides={
            "cheapest_input_usd_per_mtok": PRICE,
            "cheapest_output_usd_per_mtok": PRICE,
            "best_uptime_1d_pct": pl.Float64,
            "variant": pl.String,
        },
    )


MARKET = market(
    listed("meta-llama/llama-8b", cheapest_input_usd_per_mtok=Decimal("0.02")),
    listed("meta-llama/llama-70b", context_length=131072),
    listed("acme/tiny:free", is_free=True, cheapest_input_usd_per_mtok=Decimal(0)),
    listed("a.c/regex[", context_length=None),
)


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        (market_index.Filters(), 4),
        (market_index.Filters(text="LLAMA 8b"), 1),
        (market_index.Filters(text="regex["), 1),
        (market_index.Filters(text="llama", author="acme"), 0),
        (market_index.Filters(is_free=True), 1),
        (market_index.Filters(has_price=True), 2),
        (market_index.Filters(min_context=128_000), 1),
    ],
)
def test_filters_narrow_the_market(filters: market_index.Filters, found: int) -> None:
    assert market_index.filtered(MARKET, filters).height == found


def test_models_without_a_price_come_last_however_they_are_sorted() -> None:
    for sort in ("input", "-input"):
        order = market_index.sorted_models(MARKET, Sort(sort))["model_id"].to_list()
        assert set(order[2:]) == {"meta-llama/llama-70b", "a.c/regex["}


def test_the_index_links_to_models_and_says_free() -> None:
    table = market_index.market_index(MARKET, market_index.DEFAULT_SORT)

    assert 'href="model?model=meta-llama/llama-8b"' in table
    assert [row[1].strip() for row in cells(table)] == [
        "0.02",
        formatting.MISSING,
        "free",
        formatting.MISSING,
    ]
