"""Points per dollar at the reader's own mix, like for like, and the efficient frontier."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from pipeline.scores.value import (
    BLEND_3_1,
    CHEAPEST_INPUT,
    LikeForLike,
    Offer,
    PriceBasis,
    cheapest_offers,
    valued,
)

ANY = LikeForLike()


def endpoint(provider: str, prices: tuple[str | None, str | None], **values: Any) -> dict[str, Any]:
    given = [None if price is None else Decimal(price) for price in prices]
    return {
        "model_id": "a/b",
        "provider_name": provider,
        "tier": "standard",
        "is_stale": False,
        "is_free": False,
        "quantization": "fp8",
        "context_length": 131072,
        "uptime_1d_pct": 99.5,
        "default_rank": 1,
        "input_usd_per_mtok": given[0],
        "output_usd_per_mtok": given[1],
        **values,
    }


def score(points: str, model_id: str = "a/b", **values: Any) -> dict[str, Any]:
    row = {"model_id": model_id, "score": Decimal(points), "has_zero": True}
    return row | {"higher_is_better": True} | values


DEEPINFRA = endpoint("DeepInfra", ("0.02", "0.04"))
GROQ = endpoint("Groq", ("0.05", "0.08"), quantization=None, context_length=131072)
COREWEAVE = endpoint("CoreWeave", ("0.22", "0.22"), quantization="bf16", context_length=128000)


@pytest.mark.parametrize(
    ("basis", "points"),
    [
        (CHEAPEST_INPUT, "3100"),  # 62 / 0.02
        (BLEND_3_1, "2480"),  # 62 / 0.025
        (PriceBasis(1, 1), "2066.666667"),  # 62 / 0.03
        (PriceBasis(0, 1), "1550"),  # 62 / 0.04
    ],
)
def test_points_per_dollar_follow_the_mix(basis: PriceBasis, points: str) -> None:
    (value,) = valued([score("62")], cheapest_offers([GROQ, DEEPINFRA], basis, ANY))
    assert value.points_per_usd_per_mtok == Decimal(points)
    assert value.offer is not None
    assert value.offer.provider_name == "DeepInfra"


def test_the_cheapest_is_looked_for_at_the_mix_not_at_the_input() -> None:
    talker = endpoint("Talker", ("0.01", "5"))
    by_input = cheapest_offers([DEEPINFRA, talker], CHEAPEST_INPUT, ANY)["a/b"]
    by_blend = cheapest_offers([DEEPINFRA, talker], BLEND_3_1, ANY)["a/b"]
    assert (by_input.provider_name, by_blend.provider_name) == ("Talker", "DeepInfra")


@pytest.mark.parametrize(
    ("like", "provider"),
    [
        (LikeForLike(min_bits=8), "DeepInfra"),
        (LikeForLike(min_bits=16), "CoreWeave"),
        (LikeForLike(min_context=128000), "DeepInfra"),
        (LikeForLike(min_uptime_pct=99.5), "DeepInfra"),
        (LikeForLike(min_bits=32), None),
        (LikeForLike(min_context=200000), None),
        (LikeForLike(min_uptime_pct=99.9), None),
    ],
)
def test_only_what_compares_sets_the_price(like: LikeForLike, provider: str | None) -> None:
    offer = cheapest_offers([GROQ, DEEPINFRA, COREWEAVE], CHEAPEST_INPUT, like).get("a/b")
    assert (offer.provider_name if offer else None) == provider


def test_what_is_not_stated_passes_no_filter() -> None:
    unknown = endpoint("X", ("0.01", "0.01"), quantization="unknown", uptime_1d_pct=None)
    for like in (LikeForLike(min_bits=4), LikeForLike(min_uptime_pct=50)):
        offer = cheapest_offers([unknown, DEEPINFRA], CHEAPEST_INPUT, like)["a/b"]
        assert offer.provider_name == "DeepInfra"
    assert cheapest_offers([unknown], CHEAPEST_INPUT, ANY)["a/b"].provider_name == "X"


@pytest.mark.parametrize(
    "other",
    [
        endpoint("X", ("0.001", "0.001"), is_stale=True),
        endpoint("X", ("0.001", "0.001"), tier="flex"),
        endpoint("X", ("0.001", "0.001"), tier="priority"),
        endpoint("X", ("0.001", "0.001"), tier="batch"),
        endpoint("X", ("0", "0"), is_free=True),
        endpoint("X", (None, None)),
    ],
)
def test_only_what_one_gets_by_default_now_for_money_sets_the_price(other: dict[str, Any]) -> None:
    offers = cheapest_offers([other, DEEPINFRA], CHEAPEST_INPUT, ANY)
    assert offers == {"a/b": Offer("a/b", Decimal("0.02"), "DeepInfra", is_free=False)}


def test_free_is_free_and_unpriced_is_nothing() -> None:
    free = endpoint("Acme", ("0", "0"), is_free=True)
    (value,) = valued([score("62")], cheapest_offers([free], CHEAPEST_INPUT, ANY))
    assert value.offer == Offer("a/b", None, "Acme", is_free=True)
    assert value.points_per_usd_per_mtok is None
    unpriced = endpoint("Acme", (None, None))
    assert cheapest_offers([unpriced, free], CHEAPEST_INPUT, ANY) == {}
    (value,) = valued([score("62")], {})
    assert (value.offer, value.points_per_usd_per_mtok) == (None, None)


def test_a_scale_without_a_zero_or_where_less_is_better_gives_no_value() -> None:
    offers = cheapest_offers([DEEPINFRA], CHEAPEST_INPUT, ANY)
    for more in ({"has_zero": False}, {"higher_is_better": False}):
        (value,) = valued([score("62", **more)], offers)
        assert value.points_per_usd_per_mtok is None
        assert value.is_efficient  # but it has its place on the frontier


def offered(**prices: str | None) -> dict[str, Offer]:
    return {
        name: Offer(name, None if price is None else Decimal(price), "P", is_free=price is None)
        for name, price in prices.items()
    }


def efficient(points: dict[str, str], prices: dict[str, str | None], **more: Any) -> list[str]:
    rows = [score(text, name, **more) for name, text in points.items()]
    return [each.score["model_id"] for each in valued(rows, offered(**prices)) if each.is_efficient]


def test_the_frontier_holds_what_nothing_beats_at_its_price_or_below() -> None:
    points = {"a": "10", "b": "20", "c": "15", "d": "20", "e": "30", "f": "5", "free": "99"}
    prices = {"a": "1", "b": "2", "c": "3", "d": "4", "e": "9", "f": "1", "free": None}
    # c costs more than b and is worse, d costs more and is as good, f is worse at a's price.
    assert efficient(points, prices) == ["a", "b", "e"]


def test_equals_share_the_frontier_and_a_scale_may_run_the_other_way() -> None:
    assert efficient({"a": "10", "b": "10"}, {"a": "1", "b": "1"}) == ["a", "b"]
    points, prices = {"a": "10", "b": "20", "c": "5"}, {"a": "1", "b": "2", "c": "3"}
    assert efficient(points, dict(prices), higher_is_better=False) == ["a", "c"]
