"""The provider table of a model: what each endpoint costs and how well it runs, sortable."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

import polars as pl

from app.components import formatting
from app.components.cards import badge
from app.components.markup import Markup, element, joined
from app.components.provider_sorting import DEFAULT_SORT, FIRST_DIRECTIONS, sorted_endpoints
from app.components.table import Column, Row, Sort, table

COLUMNS = (
    Column("Provider", sort_key="provider", is_title=True),
    Column("Type", help="How the model is sold: by token through an API, and in which tier."),
    Column(
        "Input",
        "$/M",
        help="Listed price of a million prompt tokens, discount taken off.",
        kind="number",
        sort_key="input",
    ),
    Column(
        "Output",
        "$/M",
        help="Listed price of a million completion tokens, discount taken off.",
        kind="number",
        sort_key="output",
    ),
    Column(
        "Cache",
        "$/M",
        help="Listed price of a million prompt tokens read from the cache of this endpoint.",
        kind="number",
        sort_key="cache",
    ),
    Column(
        "Tok/s",
        "p50",
        help="Output tokens a second, first token included: reported by OpenRouter, 30 minutes.",
        kind="number",
        sort_key="speed",
    ),
    Column(
        "Latency",
        "ms p50",
        help="Time to the first token: reported by OpenRouter, 30 minutes.",
        kind="number",
        sort_key="latency",
    ),
    Column(
        "Uptime",
        "1 day",
        help="Share of requests answered, rate limits left out: reported by OpenRouter, one day.",
        kind="number",
        sort_key="uptime",
    ),
    Column(
        "Context",
        "tokens",
        help="Longest prompt and answer together that this endpoint takes.",
        kind="number",
        sort_key="context",
    ),
    Column(
        "Quantization",
        help="Number format of the weights as the provider states it.",
        sort_key="quantization",
    ),
    Column("Value", help="Badges, and the input price as a multiple of the cheapest one."),
)


def provider_table(endpoints: pl.DataFrame, sort: Sort = DEFAULT_SORT) -> Markup:
    """Return the table for the rows of ``marts.provider_table`` of one model."""
    records = sorted_endpoints(endpoints, sort).to_dicts()
    prices = {name: _price_column(records, name) for name in _PRICES}
    rows = [
        _row(record, {name: texts[index] for name, texts in prices.items()}, _cheapest(records))
        for index, record in enumerate(records)
    ]
    return table(
        COLUMNS,
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


def lacks_performance(endpoints: pl.DataFrame) -> bool:
    """Whether no endpoint has throughput or latency: OpenRouter shows them with a key only."""
    columns = ("reported_tokens_per_s_p50", "reported_ttft_p50_ms")
    return all(endpoints[column].null_count() == endpoints.height for column in columns)


def price_labels(records: Sequence[dict[str, Any]], column: str) -> list[str]:
    """Write a price column of ``marts.provider_table`` records; a free endpoint says "free"."""
    texts = formatting.price_texts([record[column] for record in records])
    return [
        "free" if record["is_free"] and record[column] == 0 else text
        for record, text in zip(records, texts, strict=True)
    ]


def reading_notes(endpoints: pl.DataFrame) -> Markup:
    """Say what kind of number each column holds, and why some are empty."""
    notes = [
        "Prices are listed by the providers on OpenRouter. Uptime (one day), tokens per second and "
        "latency (30 minutes) are reported by OpenRouter from its own traffic.",
        "Default order: throughput among endpoints with 95% uptime or more, then latency, then "
        "input and output price. Flex, priority and batch tiers and stale rows never count as "
        "cheapest.",
    ]
    if lacks_performance(endpoints):
        notes.insert(
            1,
            "Tokens per second and latency are empty because OpenRouter shows them only to "
            "requests with an API key; set OPENROUTER_API_KEY to fill them.",
        )
    return element("div", *(element("p", note) for note in notes), class_="tt-notes")


_PRICES = ("input_usd_per_mtok", "output_usd_per_mtok", "cache_read_usd_per_mtok")


def _price_column(records: Sequence[dict[str, Any]], name: str) -> list[Markup]:
    shown = formatting.aligned(price_labels(records, name))
    return [
        element("span", text, title=_exact_price(record[name]))
        for text, record in zip(shown, records, strict=True)
    ]


def _exact_price(price: Decimal | None) -> str | None:
    return None if price is None else f"{formatting.exact(price)} USD per million tokens"


def _row(record: dict[str, Any], prices: dict[str, Markup], cheapest: Decimal | None) -> Row:
    return Row(
        cells=(
            _provider(record),
            _type(record),
            *(prices[name] for name in _PRICES),
            formatting.rate_text(record["reported_tokens_per_s_p50"]),
            formatting.count_text(record["reported_ttft_p50_ms"]),
            _uptime(record),
            formatting.count_text(record["context_length"]),
            record["quantization"] or formatting.MISSING,
            _value(record, cheapest),
        ),
        css_class="tt-stale" if record["is_stale"] else None,
    )


def _provider(record: dict[str, Any]) -> Markup:
    last_seen = formatting.day_text(record["last_seen_utc"])
    stale = badge("stale", "warn", title=f"Not in the last sweep; last seen {last_seen}")
    twin = f" #{record['endpoint_ordinal']}" if record["endpoint_ordinal"] > 1 else ""
    return joined(
        [
            element("span", record["provider_name"], class_="tt-name"),
            stale if record["is_stale"] else None,
            element("small", record["tag"] + twin),
        ]
    )


def _type(record: dict[str, Any]) -> Markup:
    labels = ["API" if record["tier"] == "standard" else f"API {record['tier']}"]
    if record["discount"]:
        share = formatting.change_text(-100 * float(record["discount"]))
        labels.append(f"{share} discount" if record["discount"] > 0 else f"{share} markup")
    tiers = len(json.loads(record["overrides_json"] or "[]"))
    if tiers:
        labels.append(formatting.plural(tiers, "price tier"))
    return joined([labels[0], *(element("small", label) for label in labels[1:])])


def _uptime(record: dict[str, Any]) -> Markup:
    percent = record["uptime_1d_pct"]
    is_low = percent is not None and percent < 95
    return element("span", formatting.uptime_text(percent), class_="tt-low" if is_low else None)


def _value(record: dict[str, Any], cheapest: Decimal | None) -> Markup:
    badges = [
        badge("cheapest", "good") if record["is_cheapest_input"] else None,
        badge("best uptime", "accent") if record["is_best_uptime"] else None,
    ]
    shown = [item for item in badges if item is not None]
    return joined(shown) if shown else element("span", _multiple(record, cheapest), class_="tt-dim")


def _multiple(record: dict[str, Any], cheapest: Decimal | None) -> str:
    price = record["input_usd_per_mtok"]
    if record["is_stale"] or not price or not cheapest:
        return formatting.MISSING
    return f"{float(price / cheapest):.3g}\u00d7"


def _cheapest(records: Sequence[dict[str, Any]]) -> Decimal | None:
    prices = [record["input_usd_per_mtok"] for record in records if record["is_cheapest_input"]]
    return min(prices, default=None)
