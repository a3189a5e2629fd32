"""Prices of an endpoint that hold under a condition: prompt length, hour of the day."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from app.components import formatting
from app.components.markup import Markup
from app.components.table import Column, Row, table

# Key of an override -> column of the endpoint that it replaces.
_PRICES = {
    "prompt": "input_usd_per_mtok",
    "completion": "output_usd_per_mtok",
    "input_cache_read": "cache_read_usd_per_mtok",
    "input_cache_write": "cache_write_usd_per_mtok",
}
_CONDITIONS = ("min_prompt_tokens", "utc_start", "utc_end", "utc_days")
_HEADS = ("Input", "Output", "Cache read", "Cache write")


def price_tiers(endpoint: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the ``overrides`` of a row of ``marts.provider_table``, USD per token as text."""
    return [tier for tier in json.loads(endpoint["overrides_json"] or "[]") if tier]


def condition_text(tier: Mapping[str, Any]) -> str:
    """Say in words when a tier holds; every condition in it must be met."""
    parts = []
    if (tokens := tier.get("min_prompt_tokens")) is not None:
        parts.append(f"prompt over {_count(tokens)} tokens")
    if "utc_start" in tier or "utc_end" in tier:
        start, end = _clock(tier.get("utc_start", 0)), _clock(tier.get("utc_end", 2400))
        parts.append(f"{start} to {end} UTC")
    if days := tier.get("utc_days"):
        shown = days if isinstance(days, list) else [days]
        parts.append(f"on {', '.join(str(day) for day in shown)}")
    return "; ".join(parts) if parts else "always"


def tier_table(endpoint: Mapping[str, Any]) -> Markup | None:
    """Return the listed price and those of each tier, USD per million; None without tiers.

    A price that a tier leaves alone is the listed one, and stands there as a dash.
    """
    tiers = price_tiers(endpoint)
    if not tiers:
        return None
    lines = [[endpoint[column] for column in _PRICES.values()]]
    lines += [[_per_million(tier.get(key)) for key in _PRICES] for tier in tiers]
    conditions = ["listed", *(condition_text(tier) for tier in tiers)]
    columns = [
        formatting.aligned(formatting.price_texts(column)) for column in zip(*lines, strict=True)
    ]
    rows = [
        Row((condition, *prices))
        for condition, prices in zip(conditions, zip(*columns, strict=True), strict=True)
    ]
    heads = (Column(head, "$/M", kind="number") for head in _HEADS)
    return table((Column("When", is_title=True), *heads), rows, caption="Price tiers")


def extra_tier_prices(tiers: Sequence[Mapping[str, Any]]) -> list[str]:
    """Name the prices in tiers that are not per token of text, as ``audio 0.000003``."""
    return [
        f"{key.replace('_', ' ')} {value} ({condition_text(tier)})"
        for tier in tiers
        for key, value in tier.items()
        if key not in _PRICES and key not in _CONDITIONS
    ]


def _per_million(price: object) -> Decimal | None:
    if price is None:
        return None
    try:
        return Decimal(str(price)).scaleb(6)
    except InvalidOperation:
        return None


def _clock(hhmm: object) -> str:
    """Write the HHMM numbers of the source: 30 is 00:30, 2400 the end of the day."""
    text = str(hhmm)
    return f"{text.zfill(4)[:2]}:{text.zfill(4)[2:]}" if text.isascii() and text.isdigit() else text


def _count(tokens: object) -> str:
    return f"{tokens:,}" if isinstance(tokens, int | float) else str(tokens)
