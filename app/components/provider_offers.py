"""Subscriptions in the provider table: a price a month instead of prices a token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from app.components import formatting
from app.components.markup import Markup, element, external_link, joined
from app.components.table import Row


def offer_rows(offers: pl.DataFrame, keys: Sequence[str]) -> list[Row]:
    """Return the rows of ``marts.offers`` of one model, cheapest first, for the columns ``keys``.

    Per-token columns hold a dash; ``value`` holds the price a month.
    """
    ordered = offers.sort("usd_per_month", "provider_name", "plan").unique(
        # Two patterns of one plan may both be of the model.
        ["provider_name", "plan"],
        maintain_order=True,
    )
    return [_row(offer, keys) for offer in ordered.to_dicts()]


def _row(offer: Mapping[str, Any], keys: Sequence[str]) -> Row:
    cells = {
        "type": joined(["Subscription"]),
        "value": element("span", f"${formatting.exact(offer['usd_per_month'])}/mo"),
    }
    shown = (cells.get(key, joined([formatting.MISSING])) for key in keys)
    return Row((_name(offer), *shown), css_class="tt-offer")


def _name(offer: Mapping[str, Any]) -> Markup:
    source = external_link(offer["source"], offer["url"])
    return joined(
        [
            element("span", offer["provider_name"], class_="tt-name"),
            element("small", offer["plan"]),
            element("small", source, f", {offer['as_of']}"),
        ]
    )
