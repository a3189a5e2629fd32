"""What opens below a row of the provider table: price tiers, limits, tails, and links."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any
from urllib.parse import quote

from app.components import formatting
from app.components.cards import facts
from app.components.countries import country_text
from app.components.markup import Markup, element, external_link, joined
from app.components.provider_cells import Endpoint, discount_text, policy_links
from app.components.provider_tiers import extra_tier_prices, price_tiers, tier_table

_READING = (
    "Where several tiers hold at once the later one counts, price by price; "
    "a dash means the listed price."
)
# As OpenRouter's documentation and answers know it: 0 is normal, the rest is not explained.
_NORMAL = 0


def more_row(endpoint: Endpoint) -> Markup:
    """Return what is known of a row of ``marts.provider_table`` beyond its columns."""
    tiers = tier_table(endpoint)
    unknown = ("", formatting.MISSING)
    known = [(name, value) for name, value in _facts(endpoint) if value and value not in unknown]
    return joined(
        [
            tiers,
            element("p", _READING, class_="tt-notes") if tiers else None,
            facts(known, label=f"More about {endpoint['provider_name']}"),
        ]
    )


def _facts(endpoint: Endpoint) -> list[tuple[str, str | None]]:
    others = json.loads(endpoint["other_prices_json"] or "{}")
    return [
        ("Discount or markup", _discount(endpoint)),
        ("Cache write, $/M", _price(endpoint["cache_write_usd_per_mtok"])),
        ("Caches unasked", _yes_no(endpoint["supports_implicit_caching"])),
        (
            "Other prices, USD",
            ", ".join([*_others(others), *extra_tier_prices(price_tiers(endpoint))]),
        ),
        ("Longest prompt, tokens", _count(endpoint["max_prompt_tokens"])),
        ("Longest answer, tokens", _count(endpoint["max_completion_tokens"])),
        ("Based in", country_text(endpoint["headquarters"] or "")),
        ("Data centres in", ", ".join(map(country_text, endpoint["datacenters"] or []))),
        ("Uptime, 5 min, 30 min, 1 day", _tails(endpoint, _UPTIMES, formatting.uptime_text)),
        ("Latency ms, p50, p90, p99", _tails(endpoint, _LATENCIES, formatting.count_text)),
        ("Requests behind these, 30 min", _count(endpoint["reported_requests_30m"])),
        ("Routing status", _status(endpoint["status"])),
        ("In this record since", formatting.day_text(endpoint["first_seen_utc"])),
        ("Last seen", formatting.moment_text(endpoint["last_seen_utc"])),
        ("The provider's own pages", policy_links(endpoint)),
        ("Its page on OpenRouter", _openrouter_link(endpoint["provider_slug"])),
    ]


_UPTIMES = ("uptime_5m_pct", "uptime_30m_pct", "uptime_1d_pct")
_LATENCIES = ("reported_ttft_p50_ms", "reported_ttft_p90_ms", "reported_ttft_p99_ms")


def _discount(endpoint: Endpoint) -> str | None:
    text, discount = discount_text(endpoint["discount"]), endpoint["discount"]
    price = endpoint["input_usd_per_mtok"]
    if text is None or not price or discount >= 1:
        return text
    before = formatting.price_text(price / (1 - discount))
    return f"{text} on an input price of {before} $/M"


def _others(prices: dict[str, Any]) -> list[str]:
    return [f"{key.replace('_', ' ')} {value}" for key, value in prices.items()]


def _price(price: Decimal | None) -> str | None:
    return None if price is None else formatting.exact(price)


def _count(count: int | None) -> str | None:
    return None if count is None else formatting.count_text(count)


def _yes_no(value: bool | None) -> str | None:
    return None if value is None else "yes" if value else "no"


def _tails(endpoint: Endpoint, columns: tuple[str, ...], write: Any) -> str | None:
    values = [endpoint[column] for column in columns]
    return None if all(value is None for value in values) else ", ".join(map(write, values))


def _status(status: int | None) -> str | None:
    if status is None:
        return None
    return "normal" if status == _NORMAL else f"not normal ({status})"


def _openrouter_link(slug: str | None) -> Markup | None:
    if not slug:
        return None
    return external_link("prices there", f"https://openrouter.ai/provider/{quote(slug, safe='')}")
