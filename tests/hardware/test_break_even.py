"""A rig against the cloud, worked out by hand."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from pipeline.hardware.break_even import (
    DAYS_PER_MONTH,
    HOURS_PER_MONTH,
    Cloud,
    Owning,
    Usage,
    break_even,
)
from pipeline.hardware.like_for_like import cheapest_like_for_like

# A month of 100 M tokens in and 36 M out; at 100 tokens/s the answers take 100 hours, and 500 W at
# 0.20 USD cost 10 USD. In the cloud 100 * 0.50 + 36 * 1.25 = 95 USD.
USAGE = Usage(Decimal(100_000_000), Decimal(36_000_000))
CLOUD = Cloud(Decimal("0.50"), Decimal("1.25"))


def owning(**values: Any) -> Owning:
    stated = {
        "price_usd": Decimal(1700),
        "watts": Decimal(500),
        "usd_per_kwh": Decimal("0.20"),
        "tokens_per_s": Decimal(100),
    }
    return Owning(**(stated | values))


def near(number: Decimal | None, expected: str) -> bool:
    assert number is not None
    return abs(number - Decimal(expected)) < Decimal("0.001")


def test_a_rig_has_paid_when_what_it_saves_adds_up_to_its_price() -> None:
    result = break_even(owning(), CLOUD, USAGE)

    assert result.cloud_usd_per_month == 95
    assert result.hours_per_month == 100
    assert result.local_usd_per_month == 10
    assert result.months_to_break_even == 20  # 1700 / (95 - 10)
    assert result.can_produce is True


def test_the_usage_at_which_it_tips_pays_price_and_electricity_over_the_lifetime() -> None:
    # 1700 / 34 = 50 USD a month; each of the 136 M tokens saves 85 / 136 M USD, so 80 M tokens a
    # month pay for it, over 365 / 12 days.
    result = break_even(owning(lifetime_months=Decimal(34)), CLOUD, USAGE)

    assert near(result.tips_at_tokens_per_day, f"{80_000_000 / DAYS_PER_MONTH}")
    # 8,640,000 tokens of answers a day at 100 a second, and 100/36 of that in prompts.
    assert near(result.most_tokens_per_day, "32640000")
    assert result.can_reach_tip is True


def test_a_rig_that_is_always_on_pays_for_all_hours() -> None:
    # 730 h * 0.5 kW * 0.20 = 73 USD; 95 - 73 = 22 USD saved; 1700 / 22 = 77.27 months.
    result = break_even(owning(hours_per_month=HOURS_PER_MONTH), CLOUD, USAGE)

    assert result.local_usd_per_month == 73
    assert near(result.months_to_break_even, "77.2727")
    # (1700 / 36 + 73) / (95 / 136 M) = 172,107,602.3 tokens a month.
    assert near(result.tips_at_tokens_per_day, "5658332.1317")


def test_a_rig_dearer_to_run_than_the_cloud_never_pays() -> None:
    cheap = Cloud(Decimal("0.02"), Decimal("0.04"))  # 2.00 + 1.44 = 3.44 USD

    result = break_even(owning(), cheap, USAGE)

    assert result.cloud_usd_per_month == Decimal("3.44")
    assert result.months_to_break_even is None
    assert result.tips_at_tokens_per_day is None
    assert result.can_reach_tip is None


def test_a_rig_too_slow_for_the_usage_is_told() -> None:
    # 36 M tokens at 10 a second take 1,000 hours; a month has 730.
    result = break_even(owning(tokens_per_s=Decimal(10)), CLOUD, USAGE)

    assert result.hours_per_month == 1000
    assert result.can_produce is False
    # 864,000 tokens of answers a day, with prompts 3,264,000; it saves nothing by then:
    # 1000 h cost 100 USD, more than the cloud.
    assert near(result.most_tokens_per_day, "3264000")


def test_hours_that_do_not_suffice_are_told() -> None:
    result = break_even(owning(hours_per_month=Decimal(99)), CLOUD, USAGE)
    assert result.can_produce is False


def test_an_unknown_speed_leaves_open_what_rests_on_it() -> None:
    result = break_even(owning(tokens_per_s=None), CLOUD, USAGE)

    assert result.cloud_usd_per_month == 95
    assert result.local_usd_per_month is None
    assert result.months_to_break_even is None
    assert result.can_produce is None


def test_no_usage_never_pays() -> None:
    result = break_even(owning(), CLOUD, Usage(Decimal(0), Decimal(0)))

    assert result.cloud_usd_per_month == 0
    assert result.months_to_break_even is None
    assert result.tips_at_tokens_per_day is None


def endpoint(name: str, price: str | None, **values: Any) -> dict[str, Any]:
    return {
        "provider_name": name,
        "quantization": "fp8",
        "context_length": 131_072,
        "tier": "standard",
        "is_stale": False,
        "is_free": False,
        "input_usd_per_mtok": None if price is None else Decimal(price),
        "output_usd_per_mtok": None if price is None else Decimal(price),
    } | values


OFFERS = [
    endpoint("free", "0", is_free=True),
    endpoint("stale", "0.01", is_stale=True),
    endpoint("flex", "0.01", tier="flex"),
    endpoint("unpriced", None),
    endpoint("short", "0.02", context_length=16_384),
    endpoint("unstated", "0.03", quantization="unknown"),
    endpoint("eight", "0.04"),
    endpoint("full", "0.05", quantization="bf16"),
]


@pytest.mark.parametrize(
    ("context", "bits", "provider"),
    [
        (0, "4.5", "short"),
        (32_768, "4.5", "unstated"),
        (0, "5.70", "short"),
        (32_768, "8", "eight"),
        (32_768, "16", "full"),
        (1_000_000, "4.5", None),
    ],
)
def test_the_cloud_offer_is_no_less_than_what_runs_locally(
    context: int, bits: str, provider: str | None
) -> None:
    offer = cheapest_like_for_like(OFFERS, USAGE, context=context, bits=Decimal(bits))
    assert (offer and offer.provider_name) == provider


def test_the_mix_of_tokens_decides_which_offer_is_cheapest() -> None:
    offers = [
        endpoint("cheap in", "0.1", output_usd_per_mtok=Decimal(9)),
        endpoint("cheap out", "0.9", output_usd_per_mtok=Decimal("0.9")),
    ]
    bits = Decimal("4.5")

    reading = cheapest_like_for_like(offers, Usage(Decimal(1000), Decimal(1)), context=0, bits=bits)
    writing = cheapest_like_for_like(offers, Usage(Decimal(1), Decimal(1)), context=0, bits=bits)

    assert reading and reading.provider_name == "cheap in"
    assert writing and writing.provider_name == "cheap out"
