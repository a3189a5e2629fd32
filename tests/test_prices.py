"""Price texts: read exactly, kept as they came, absent is not zero."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.prices import WrongPrice, per_million_text, plain_text, price_of, read_pricing
from pipeline.raw_tables import ENDPOINTS, frame_of


@pytest.mark.parametrize(
    ("value", "price"),
    [
        ("0.00000008333333333333334", "0.00000008333333333333334"),
        ("5e-8", "0.00000005"),
        ("1E-7", "0.0000001"),
        (".5", "0.5"),
        ("-1", "-1"),
        ("-0.0", "0"),
        (0, "0"),
        (2, "2"),
        (Decimal("0.000002"), "0.000002"),
        (0.000002, "0.000002"),
    ],
)
def test_a_price_comes_as_text_or_number(value: object, price: str) -> None:
    assert price_of(value) == Decimal(price)


@pytest.mark.parametrize("value", [None, ""])
def test_a_price_that_is_not_stated_is_null_not_zero(value: object) -> None:
    assert price_of(value) is None


@pytest.mark.parametrize(
    "value",
    [
        "free",
        "NaN",
        "Infinity",
        "1,5",
        "1_000",
        "\u0661",
        "0x1",
        " ",
        True,
        [],
        {"usd": 1},
        "1e14",
        "1e-101",
        "1e999999999999999999999",
    ],
)
def test_what_is_no_price_is_refused(value: object) -> None:
    with pytest.raises(WrongPrice):
        price_of(value)


def test_a_pricing_object_is_read_into_its_columns() -> None:
    pricing = read_pricing(
        {
            "prompt": "0.000003",
            "completion": "0.000015",
            "input_cache_read": "0.0000003",
            "input_cache_write": "",
            "web_search": "0.010",
            "image": "0",
            "discount": Decimal("0.25"),
        }
    )
    assert pricing.input_price == Decimal("0.000003")
    assert pricing.output_price == Decimal("0.000015")
    assert pricing.cache_read_price == Decimal("0.0000003")
    assert pricing.cache_write_price is None
    assert pricing.discount == Decimal("0.25")
    assert pricing.other_prices_json == '{"web_search":"0.01"}'
    assert pricing.overrides_json == "[]"
    assert pricing.rounded_keys == ()
    assert pricing.pricing_json == (
        '{"prompt":"0.000003","completion":"0.000015","input_cache_read":"0.0000003",'
        '"input_cache_write":"","web_search":"0.010","image":"0","discount":0.25}'
    )


@pytest.mark.parametrize(
    "spelled",
    [
        {"web_search": "0.01", "audio": "0.000001"},
        {"audio": "1e-6", "web_search": "0.010"},
        {"audio": "0.000001", "web_search": "0.01", "request": "0", "image": "0.0", "new": "0"},
        {"audio": "0.000001", "web_search": "0.01", "internal_reasoning": None},
    ],
)
def test_other_prices_are_the_same_text_however_they_are_spelled(spelled: dict[str, Any]) -> None:
    assert read_pricing(spelled).other_prices_json == '{"audio":"0.000001","web_search":"0.01"}'


def test_an_unknown_key_need_not_be_a_price() -> None:
    pricing = read_pricing({"prompt": "1e-6", "tiers": [{"from": 5}], "per_page": "0.20"})
    assert pricing.other_prices_json == '{"per_page":"0.2","tiers":[{"from":5}]}'


def test_overrides_keep_order_and_conditions_and_take_plain_prices() -> None:
    pricing = read_pricing(
        {
            "overrides": [
                {"min_prompt_tokens": 32000, "prompt": "0.00000010"},
                {"utc_start": 2200, "utc_end": 600, "completion": "4e-7"},
            ]
        }
    )
    assert pricing.overrides_json == (
        '[{"min_prompt_tokens":32000,"prompt":"0.0000001"},'
        '{"completion":"0.0000004","utc_end":600,"utc_start":2200}]'
    )


@pytest.mark.parametrize(
    ("pricing", "reason"),
    [
        ({"prompt": "cheap"}, "pricing.prompt: 'cheap' is no price"),
        ({"web_search": True}, "pricing.web_search: True is no price"),
        ({"completion": "1e20"}, "pricing.completion: '1e20' is beyond any price"),
        ({"discount": "1000000"}, "pricing.discount: '1000000' is no share"),
        (
            {"overrides": {"prompt": "1"}},
            "pricing.overrides: {'prompt': '1'} is no list of objects",
        ),
        ({"overrides": [{"prompt": []}]}, "pricing.prompt: [] is no price"),
    ],
)
def test_an_unreadable_price_is_named(pricing: dict[str, Any], reason: str) -> None:
    with pytest.raises(WrongPrice) as refusal:
        read_pricing(pricing)
    assert str(refusal.value) == reason


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        # 25 decimals, the last one a 5: half goes to the even neighbour.
        ("0.0000000000000000000000025", "0.000000000000000000000002"),
        ("0.0000000000000000000000035", "0.000000000000000000000004"),
    ],
)
def test_more_decimals_than_the_tables_keep_are_rounded_and_told(text: str, kept: str) -> None:
    pricing = read_pricing({"prompt": text})
    assert pricing.input_price == Decimal(kept)
    assert pricing.rounded_keys == ("prompt",)
    assert json.loads(pricing.pricing_json) == {"prompt": text}


@settings(deadline=None)
@given(
    price=st.decimals(0, 10**13, allow_nan=False, places=24)
    | st.decimals(0, 1, allow_nan=False, places=12),
    notation=st.sampled_from(["f", "e", ""]),
)
def test_every_price_that_the_tables_hold_survives_exactly(price: Decimal, notation: str) -> None:
    text = format(price, notation)
    pricing = read_pricing({"prompt": text, "web_search": text})
    assert pricing.input_price == price
    assert pricing.rounded_keys == ()
    assert json.loads(pricing.pricing_json)["prompt"] == text
    other = json.loads(pricing.other_prices_json).get("web_search", "0")
    assert Decimal(other) == price
    column = {"input_usd_per_token": ENDPOINTS["input_usd_per_token"]}
    frame = frame_of([{"input_usd_per_token": pricing.input_price}], column)
    assert frame.schema == pl.Schema(column)
    assert frame.item() == price


@pytest.mark.parametrize(
    ("price", "text"),
    [("0.10", "0.1"), ("1E-1", "0.1"), ("100", "100"), ("1E+2", "100"), ("0", "0")],
)
def test_equal_prices_have_one_plain_text(price: str, text: str) -> None:
    assert plain_text(Decimal(price)) == text


def test_a_price_for_a_person_is_exact_per_million_tokens() -> None:
    assert per_million_text(Decimal("0.00000008333333333333334")) == "0.08333333333333334 USD/M"
    assert per_million_text(None) == "not stated"
