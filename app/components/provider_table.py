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
from app.components.percentiles import percentile
from app.components.provider_columns import COLUMNS, OUR_COLUMNS, with_ours
from app.components.provider_sorting import DEFAULT_SORT, FIRST_DIRECTIONS, sorted_endpoints
from app.components.table import Row, Sort, table


def provider_table(endpoints: pl.DataFrame, sort: Sort = DEFAULT_SORT, *, now: datetime) -> Markup:
    """Return the table for the rows of ``marts.provider_table`` of one model.

    Our own figures have columns only where an endpoint has some.
    """
    records = sorted_endpoints(endpoints, sort).to_dicts()
    prices = {name: _price_column(records, name) for name in _PRICES}
    cheapest = _cheapest(records)
    is_measured = has_probes(endpoints)
    rows = [
        _row(
            record,
            {name: texts[index] for name, texts in prices.items()},
            cheapest,
            _our_cells(record, now) if is_measured else [],
        )
        for index, record in enumerate(records)
    ]
    return table(
        with_ours(COLUMNS, OUR_COLUMNS if is_measured else []),
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


def has_probes(endpoints: pl.DataFrame) -> bool:
    """Whether we have measured any of the endpoints."""
    return not endpoints.filter(pl.col("probe_n") > 0).is_empty()


def price_labels(records: Sequence[dict[str, Any]], column: str) -> list[str]:
    """Write a price column of ``marts.provider_table`` records; a free endpoint says "free"."""
    texts = formatting.price_texts([record[column] for record in records])
    return [
        "free" if record["is_free"] and record[column] == 0 else text
        for record, text in zip(records, texts, strict=True)
    ]


def reading_notes(endpoints: pl.DataFrame) -> Markup:
    """Say what kind of number each column holds, and why some are empty."""
    notes: list[str] = [
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
    notes.append(_OUR_FIGURES if has_probes(endpoints) else _NO_FIGURES)
    return element("div", *(element("p", note) for note in notes), class_="tt-notes")


_OUR_FIGURES = (
    "Our TTFT and tok/s are measured by us: short chat at the lowest concurrency, 72 hours. "
    "Our tok/s is the decode speed, after the first token; OpenRouter's is over the whole request, "
    "so the two are not comparable."
)
_NO_FIGURES = joined(
    [
        "No figures of our own: measure with ",
        element("code", "tokentape probe"),
        ", or name a file of probes in TOKENTAPE_PROBES_FILE to have them run on schedule.",
    ]
)
_UNTRUSTED = badge(
    "untrusted", "warn", title="The instrument's own error was too large, or not checked"
)
_PRICES = ("input_usd_per_mtok", "output_usd_per_mtok", "cache_read_usd_per_mtok")


def _price_column(records: Sequence[dict[str, Any]], name: str) -> list[Markup]:
    shown = formatting.aligned(price_labels(records, name))
    return [
        element("span", text, title=_exact_price(record[name]))
        for text, record in zip(shown, records, strict=True)
    ]


def _exact_price(price: Decimal | None) -> str | None:
    return None if price is None else f"{formatting.exact(price)} USD per million tokens"


def _row(
    record: dict[str, Any],
    prices: dict[str, Markup],
    cheapest: Decimal | None,
    ours: Sequence[Markup],
) -> Row:
    cells = (
        _provider(record),
        _type(record),
        *(prices[name] for name in _PRICES),
        formatting.rate_text(record["reported_tokens_per_s_p50"]),
        formatting.count_text(record["reported_ttft_p50_ms"]),
        _uptime(record),
        formatting.count_text(record["context_length"]),
        record["quantization"] or formatting.MISSING,
        _value(record, cheapest),
    )
    return Row(with_ours(cells, ours), css_class="tt-stale" if record["is_stale"] else None)


def _our_cells(record: dict[str, Any], now: datetime) -> list[Markup]:
    n = record["probe_n"] or 0
    if not n:
        return [joined([formatting.MISSING])] * len(OUR_COLUMNS)
    ttft, ttft_p95 = record["probe_ttft_p50_ms"], record["probe_ttft_p95_ms"]
    speed, speed_p5 = record["probe_tokens_per_s_p50"], record["probe_tokens_per_s_p05"]
    age = element("small", formatting.age_text(record["probe_last_at_utc"], now))
    return [
        joined([formatting.ms_text(ttft), _tail("p95", ttft_p95, n)]),
        joined([formatting.rate_text(speed), _tail("p5", speed_p5, n)]),
        joined([formatting.count_text(n), age, None if record["probe_is_trusted"] else _UNTRUSTED]),
    ]


def _tail(name: str, value: float | None, n: int) -> Markup:
    return element("small", f"{name} ", percentile(name, value, n))


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
