"""The provider table of a model: what each endpoint costs and how well it runs, sortable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

import polars as pl

from app.components import formatting
from app.components.markup import Markup, element
from app.components.provider_cells import name_cell, our_cells, plain_cells
from app.components.provider_columns import NAME, columns_on_offer, usual_keys
from app.components.provider_more import more_row
from app.components.provider_notes import has_probes
from app.components.provider_offers import offer_rows
from app.components.provider_sorting import DEFAULT_SORT, FIRST_DIRECTIONS, sorted_endpoints
from app.components.table import Row, Sort, table

# Key of a column -> column of the mart.
_PRICES = {
    "input": "input_usd_per_mtok",
    "output": "output_usd_per_mtok",
    "cache": "cache_read_usd_per_mtok",
    "cache_write": "cache_write_usd_per_mtok",
}


def provider_table(
    endpoints: pl.DataFrame,
    sort: Sort = DEFAULT_SORT,
    *,
    now: datetime,
    keys: Sequence[str] | None = None,
    offers: pl.DataFrame | None = None,
) -> Markup:
    """Return the table for the rows of ``marts.provider_table`` of one model.

    ``keys`` choose the columns, by default the usual ones; our own figures have columns only
    where an endpoint has some. ``offers``, rows of ``marts.offers``, stand last in every order.
    """
    on_offer = columns_on_offer(has_probes=has_probes(endpoints))
    chosen = usual_keys(on_offer.values()) if keys is None else keys
    shown = [column for key, column in on_offer.items() if key in chosen]
    records = sorted_endpoints(endpoints, sort).to_dicts()
    prices = {key: _price_column(records, name) for key, name in _PRICES.items()}
    cheapest = _cheapest(records)
    shown_keys = [column.key for column in shown]
    rows = [
        _row(
            record,
            {key: texts[index] for key, texts in prices.items()}
            | plain_cells(record, cheapest)
            | our_cells(record, now),
            shown_keys,
        )
        for index, record in enumerate(records)
    ]
    if offers is not None:
        rows += offer_rows(offers, shown_keys)
    return table(
        [NAME, *(column.column for column in shown)],
        rows,
        caption="Providers, prices and service",
        sort=sort,
        first_directions=FIRST_DIRECTIONS,
        css_class="tt-cards tt-providers",
    )


def stale_since(endpoints: pl.DataFrame) -> datetime | None:
    """Return when the longest unseen stale endpoint was last seen; None when none is stale."""
    moment = endpoints.filter(pl.col("is_stale"))["last_seen_utc"].min()
    return moment if isinstance(moment, datetime) else None


def price_labels(records: Sequence[dict[str, Any]], column: str) -> list[str]:
    """Write a price column of ``marts.provider_table`` records; a free endpoint says "free"."""
    texts = formatting.price_texts([record[column] for record in records])
    return [
        "free" if record["is_free"] and record[column] == 0 else text
        for record, text in zip(records, texts, strict=True)
    ]


def _row(record: Mapping[str, Any], cells: Mapping[str, str], keys: Sequence[str]) -> Row:
    return Row(
        (name_cell(record), *(cells.get(key, formatting.MISSING) for key in keys)),
        css_class="tt-stale" if record["is_stale"] else None,
        more=more_row(record),
    )


def _price_column(records: Sequence[dict[str, Any]], name: str) -> list[Markup]:
    shown = formatting.aligned(price_labels(records, name))
    return [
        element("span", text, title=_exact_price(record[name]))
        for text, record in zip(shown, records, strict=True)
    ]


def _exact_price(price: Decimal | None) -> str | None:
    return None if price is None else f"{formatting.exact(price)} USD per million tokens"


def _cheapest(records: Sequence[dict[str, Any]]) -> Decimal | None:
    prices = [record["input_usd_per_mtok"] for record in records if record["is_cheapest_input"]]
    return min(prices, default=None)
