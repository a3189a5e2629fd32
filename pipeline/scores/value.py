"""What a dollar buys of a score, at a price of the reader's own choice: pure, and exact.

The mart ``score_per_dollar`` holds the two usual price bases; here the parts of input and output
are free, and endpoints that do not compare can be left out first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from pipeline.quantization import QUANTIZATION_BITS

_STEP = Decimal("0.000001")

Row = Mapping[str, Any]


@dataclass(frozen=True)
class PriceBasis:
    """So many parts of input and of output, of one endpoint; at least one part in all."""

    input_parts: int
    output_parts: int

    def price_of(self, endpoint: Row) -> Decimal | None:
        """Return the mean price of a token, USD per million; None where a part has no price."""
        total = Decimal(0)
        for parts, column in (
            (self.input_parts, "input_usd_per_mtok"),
            (self.output_parts, "output_usd_per_mtok"),
        ):
            if parts:
                if endpoint[column] is None:
                    return None
                total += parts * endpoint[column]
        return total / (self.input_parts + self.output_parts)


CHEAPEST_INPUT = PriceBasis(1, 0)
BLEND_3_1 = PriceBasis(3, 1)


@dataclass(frozen=True)
class LikeForLike:
    """What an endpoint must offer to be compared; what it does not state, it does not offer."""

    min_bits: int = 0
    min_context: int = 0
    min_uptime_pct: float = 0

    def admits(self, endpoint: Row) -> bool:
        """Say whether an endpoint offers all of it."""
        bits = QUANTIZATION_BITS.get(endpoint["quantization"] or "", 0)
        return (
            bits >= self.min_bits
            and (endpoint["context_length"] or 0) >= self.min_context
            and (endpoint["uptime_1d_pct"] or 0) >= self.min_uptime_pct
        )


@dataclass(frozen=True)
class Offer:
    """The cheapest way to a model: its price (None where it is free) and who offers it."""

    model_id: str
    price_usd_per_mtok: Decimal | None
    provider_name: str | None
    is_free: bool


@dataclass(frozen=True)
class Valued:
    """A score at a price.

    ``points_per_usd_per_mtok`` is None where the model is free or has no price, and on a scale
    without a zero. ``is_efficient``: nothing as good is cheaper, and nothing as cheap is better.
    """

    score: Row
    offer: Offer | None
    points_per_usd_per_mtok: Decimal | None
    is_efficient: bool

    @property
    def price_usd_per_mtok(self) -> Decimal | None:
        """Return the price; None where the model is free or has none."""
        return None if self.offer is None else self.offer.price_usd_per_mtok

    @property
    def is_free(self) -> bool:
        """Whether the model costs nothing."""
        return self.offer is not None and self.offer.is_free


def cheapest_offers(
    endpoints: Iterable[Row], basis: PriceBasis, like: LikeForLike
) -> dict[str, Offer]:
    """Return the cheapest offer of each model, by model id, from rows of ``provider_table``.

    Only what one gets by default, now, for money sets a price: stale, flex, priority and batch
    endpoints are left out. A model is free when every endpoint that is admitted is.
    """
    cheapest: dict[str, tuple[Decimal, int, Row]] = {}
    free: dict[str, Row] = {}
    paid = set()
    for endpoint in endpoints:
        if endpoint["is_stale"] or not like.admits(endpoint):
            continue
        model_id = endpoint["model_id"]
        if endpoint["is_free"]:
            free.setdefault(model_id, endpoint)
            continue
        paid.add(model_id)
        price = basis.price_of(endpoint)
        if endpoint["tier"] != "standard" or price is None or price <= 0:
            continue
        found = (price, endpoint["default_rank"], endpoint)
        if model_id not in cheapest or found[:2] < cheapest[model_id][:2]:
            cheapest[model_id] = found
    offers = {
        model_id: Offer(model_id, price, endpoint["provider_name"], is_free=False)
        for model_id, (price, _, endpoint) in cheapest.items()
    }
    for model_id, endpoint in free.items():
        if model_id not in paid:
            offers[model_id] = Offer(model_id, None, endpoint["provider_name"], is_free=True)
    return offers


def valued(scores: Iterable[Row], offers: Mapping[str, Offer]) -> list[Valued]:
    """Return rows of ``model_scores``, which must be of one source and metric, at their prices."""
    rows = [(score, offers.get(score["model_id"])) for score in scores]
    efficient = _efficient(rows)
    return [
        Valued(score, offer, points_per_dollar(score, offer), position in efficient)
        for position, (score, offer) in enumerate(rows)
    ]


def points_per_dollar(score: Row, offer: Offer | None) -> Decimal | None:
    """Return points per USD per million tokens, to six decimals; see ``Valued``."""
    if offer is None or offer.price_usd_per_mtok is None:
        return None
    if not score["has_zero"] or not score["higher_is_better"]:
        return None
    points: Decimal = score["score"]
    return (points / offer.price_usd_per_mtok).quantize(_STEP)


def _efficient(rows: list[tuple[Row, Offer | None]]) -> set[int]:
    """Return the positions on the frontier, among rows that have a price."""
    priced = [
        (offer.price_usd_per_mtok, _badness(score), position)
        for position, (score, offer) in enumerate(rows)
        if offer is not None and offer.price_usd_per_mtok is not None
    ]
    found = set()
    best: tuple[Decimal, Decimal] | None = None  # price and badness of the newest on the frontier
    for price, badness, position in sorted(priced):
        if best is None or badness < best[1] or (price, badness) == best:
            best = (price, badness)
            found.add(position)
    return found


def _badness(score: Row) -> Decimal:
    points: Decimal = score["score"]
    return -points if score["higher_is_better"] else points
