"""The cloud offer that a rig is to be compared with: the cheapest that is no less than local."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from pipeline.hardware.break_even import Cloud, Usage
from pipeline.quantization import QUANTIZATION_BITS

_UNSTATED_UP_TO = Decimal(5)  # bits per weight; nobody is known to serve less than four


@dataclass(frozen=True)
class Offer:
    """An endpoint: who serves, in which quantization and context, and at what price."""

    provider_name: str
    quantization: str
    context_length: int | None
    price: Cloud


def cheapest_like_for_like(
    endpoints: Iterable[Mapping[str, Any]], usage: Usage, *, context: int, bits: Decimal
) -> Offer | None:
    """Return the cheapest offer for ``usage``, of rows of ``marts.provider_table``.

    Only endpoints of the standard tier count that are listed now, cost something, take ``context``
    tokens, and serve the weights in no fewer than the whole ``bits`` of the local quantization;
    one that states no quantization counts beside quantizations of up to five bits.
    """
    offers = [
        offer
        for offer in map(_offer, filter(_is_served, endpoints))
        if (offer.context_length or 0) >= context and _has_bits(offer.quantization, bits)
    ]
    return min(
        offers, key=lambda offer: (_cost(offer.price, usage), offer.provider_name), default=None
    )


def _is_served(row: Mapping[str, Any]) -> bool:
    has_prices = None not in (row["input_usd_per_mtok"], row["output_usd_per_mtok"])
    is_current = not row["is_stale"] and row["tier"] == "standard"
    return bool(has_prices and is_current and not row["is_free"])


def _offer(row: Mapping[str, Any]) -> Offer:
    return Offer(
        provider_name=row["provider_name"],
        quantization=row["quantization"] or "unknown",
        context_length=row["context_length"],
        price=Cloud(row["input_usd_per_mtok"], row["output_usd_per_mtok"]),
    )


def _has_bits(quantization: str, bits: Decimal) -> bool:
    stated = QUANTIZATION_BITS.get(quantization)
    return bits <= _UNSTATED_UP_TO if stated is None else stated >= int(bits)


def _cost(price: Cloud, usage: Usage) -> Decimal:
    return (
        price.input_usd_per_mtok * usage.input_tokens
        + price.output_usd_per_mtok * usage.output_tokens
    )
