"""The cells of the provider table, a function a column."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from app.components import formatting
from app.components.cards import badge
from app.components.markup import Markup, element, external_link, is_web_url, joined
from app.components.percentiles import percentile
from app.components.provider_tiers import price_tiers

Endpoint = Mapping[str, Any]

# What the links of a provider are called -> their column.
POLICY_LINKS = {
    "privacy": "privacy_policy_url",
    "terms": "terms_of_service_url",
    "status": "status_page_url",
}

_UNTRUSTED = badge(
    "untrusted", "warn", title="The instrument's own error was too large, or not checked"
)


def name_cell(endpoint: Endpoint) -> Markup:
    """Return name and tag; the name opens the row below, which says more."""
    last_seen = formatting.day_text(endpoint["last_seen_utc"])
    stale = badge("stale", "warn", title=f"Not in the last sweep; last seen {last_seen}")
    twin = f" #{endpoint['endpoint_ordinal']}" if endpoint["endpoint_ordinal"] > 1 else ""
    name = element("span", endpoint["provider_name"], class_="tt-name")
    return joined(
        [
            element("details", element("summary", name), data_row=endpoint["endpoint_id"]),
            stale if endpoint["is_stale"] else None,
            element("small", endpoint["tag"] + twin),
        ]
    )


def plain_cells(endpoint: Endpoint, cheapest: Decimal | None) -> dict[str, str]:
    """Return the cells of all columns but the prices and our figures, by key."""
    return {
        "type": _type(endpoint),
        "discount": _discount(endpoint),
        "speed": formatting.rate_text(endpoint["reported_tokens_per_s_p50"]),
        "latency": formatting.count_text(endpoint["reported_ttft_p50_ms"]),
        "uptime": _uptime(endpoint),
        "context": formatting.count_text(endpoint["context_length"]),
        "max_output": formatting.count_text(endpoint["max_completion_tokens"]),
        "quantization": endpoint["quantization"] or formatting.MISSING,
        "headquarters": endpoint["headquarters"] or formatting.MISSING,
        "datacenters": ", ".join(endpoint["datacenters"] or []) or formatting.MISSING,
        "policy": policy_links(endpoint, ("privacy", "terms")),
        "value": _value(endpoint, cheapest),
    }


def our_cells(endpoint: Endpoint, now: datetime) -> dict[str, str]:
    """Return the cells of what we measured, by key; empty where we measured nothing."""
    n = endpoint["probe_n"] or 0
    if not n:
        return {}
    ttft, ttft_p95 = endpoint["probe_ttft_p50_ms"], endpoint["probe_ttft_p95_ms"]
    speed, speed_p5 = endpoint["probe_tokens_per_s_p50"], endpoint["probe_tokens_per_s_p05"]
    ok = endpoint["probe_ok_pct"]
    age = formatting.age_text(endpoint["probe_last_at_utc"], now)
    share = "" if ok is None else f"{formatting.share_text(ok)} ok, "
    return {
        "our_ttft": joined([formatting.ms_text(ttft), _tail("p95", ttft_p95, n)]),
        "our_speed": joined([formatting.rate_text(speed), _tail("p5", speed_p5, n)]),
        "our_n": joined(
            [
                formatting.count_text(n),
                element("small", share + age),
                None if endpoint["probe_is_trusted"] else _UNTRUSTED,
            ]
        ),
    }


def policy_links(endpoint: Endpoint, names: tuple[str, ...] = tuple(POLICY_LINKS)) -> Markup:
    """Link to the provider's own pages, those of ``names`` that are known; else a dash."""
    links = [
        external_link(name, endpoint[POLICY_LINKS[name]])
        for name in names
        if is_web_url(endpoint[POLICY_LINKS[name]])
    ]
    if not links:
        return joined([formatting.MISSING])
    return element("span", *links, class_="tt-links")


def discount_text(discount: Decimal | None) -> str | None:
    """Write a discount as ``-10% discount`` or ``+5.0% markup``; None where there is none."""
    if not discount:
        return None
    share = formatting.change_text(-100 * float(discount))
    return f"{share} discount" if discount > 0 else f"{share} markup"


def _type(endpoint: Endpoint) -> Markup:
    labels = [
        "API" if endpoint["tier"] == "standard" else f"API {endpoint['tier']}",
        discount_text(endpoint["discount"]),
    ]
    if tiers := len(price_tiers(endpoint)):
        labels.append(formatting.plural(tiers, "price tier"))
    small = (element("small", label) for label in labels[1:] if label)
    return joined([labels[0], *small])


def _discount(endpoint: Endpoint) -> str:
    discount = endpoint["discount"]
    if not discount:
        return formatting.MISSING
    return f"{float(100 * discount):.3g}".replace("-", "\u2212")


def _uptime(endpoint: Endpoint) -> Markup:
    percent = endpoint["uptime_1d_pct"]
    is_low = percent is not None and percent < 95
    return element("span", formatting.uptime_text(percent), class_="tt-low" if is_low else None)


def _value(endpoint: Endpoint, cheapest: Decimal | None) -> Markup:
    badges = [
        badge("cheapest", "good") if endpoint["is_cheapest_input"] else None,
        badge("best uptime", "accent") if endpoint["is_best_uptime"] else None,
    ]
    shown = [item for item in badges if item is not None]
    return (
        joined(shown) if shown else element("span", _multiple(endpoint, cheapest), class_="tt-dim")
    )


def _multiple(endpoint: Endpoint, cheapest: Decimal | None) -> str:
    price = endpoint["input_usd_per_mtok"]
    if endpoint["is_stale"] or not price or not cheapest:
        return formatting.MISSING
    return f"{float(price / cheapest):.3g}\u00d7"


def _tail(name: str, value: float | None, n: int) -> Markup:
    return element("small", f"{name} ", percentile(name, value, n))
