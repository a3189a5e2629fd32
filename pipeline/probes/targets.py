"""Whether the pinned targets are still on the market, and who serves them at what price."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from pipeline.prices import WrongPrice, price_of
from pipeline.probes.config import Price, Target

# The endpoints that OpenRouter lists for a model id, None when the list could not be had.
Listing = Callable[[str], Sequence[Mapping[str, Any]] | None]


@dataclass(frozen=True)
class TargetCheck:
    """What the list of endpoints says of a pinned target.

    ``unknown`` when there was no list. ``listed_tags`` are those that the model has now.
    ``provider_name`` and ``price`` are those of the endpoint that was found; the price is None
    where none is stated.
    """

    target: Target
    status: Literal["found", "gone", "unknown"]
    listed_tags: tuple[str, ...] = ()
    provider_name: str | None = None
    price: Price | None = None

    @property
    def problem(self) -> str | None:
        """What is wrong in one line, None when nothing is."""
        name, model, tag = self.target.name, self.target.model, self.target.tag
        if self.status == "unknown":
            return f"target {name}: the endpoints of {model} could not be had, {tag} is unchecked"
        if self.status == "gone":
            there = ", ".join(self.listed_tags) or "none"
            return f"target {name}: {model} has no endpoint {tag} now; listed: {there}"
        if self.target.provider_name not in (None, self.provider_name):
            return (
                f"target {name}: {tag} is served by {self.provider_name}, "
                f"not by {self.target.provider_name}; correct provider_name or take it out"
            )
        return None


def check_targets(targets: Sequence[Target], listing: Listing) -> list[TargetCheck]:
    """Check the pinned ones of ``targets``; ``listing`` is asked once for each model."""
    pinned = [target for target in targets if target.tag is not None]
    lists = {model: listing(model) for model in dict.fromkeys(target.model for target in pinned)}
    return [_check(target, lists[target.model]) for target in pinned]


def listed_price(endpoint: Mapping[str, Any]) -> Price | None:
    """Return the price of a listed endpoint; None where it states none."""
    pricing = endpoint.get("pricing") or {}
    try:
        prompt, completion, cache_read = (
            price_of(pricing.get(key)) for key in ("prompt", "completion", "input_cache_read")
        )
    except WrongPrice:
        return None
    # A router states -1: it has no price of its own.
    if prompt is None or completion is None or prompt < 0 or completion < 0:
        return None
    return Price(
        input_usd_per_mtok=_per_million(prompt),
        output_usd_per_mtok=_per_million(completion),
        cache_read_usd_per_mtok=(
            None if cache_read is None or cache_read < 0 else _per_million(cache_read)
        ),
    )


def _check(target: Target, endpoints: Sequence[Mapping[str, Any]] | None) -> TargetCheck:
    if endpoints is None:
        return TargetCheck(target, "unknown")
    tags = tuple(dict.fromkeys(str(endpoint.get("tag")) for endpoint in endpoints))
    found = [endpoint for endpoint in endpoints if endpoint.get("tag") == target.tag]
    if not found:
        return TargetCheck(target, "gone", tags)
    prices = [listed_price(endpoint) for endpoint in found]
    known = [price for price in prices if price is not None]
    return TargetCheck(
        target,
        "found",
        tags,
        provider_name=found[0].get("provider_name"),
        # Twins under one tag cannot be told apart: the dearest is what a budget must bear.
        price=max(known, key=_dearness) if len(known) == len(prices) else None,
    )


def _dearness(price: Price) -> tuple[Decimal, Decimal]:
    return price.output_usd_per_mtok, price.input_usd_per_mtok


def _per_million(price: Decimal) -> Decimal:
    return price.scaleb(6)
