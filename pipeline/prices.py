"""Price texts of the market, read exactly: what is not stated is null, never zero."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import ROUND_HALF_EVEN, Context, Decimal, DecimalException
from functools import lru_cache
from reprlib import repr as short
from typing import Any, NamedTuple

from pipeline.exact_json import read_json, write_json

PRICE_SCALE = 24  # decimals of a price per token; the longest recorded text has 23
DISCOUNT_SCALE = 12
_PRICE_STEP = Decimal(1).scaleb(-PRICE_SCALE)
_DISCOUNT_STEP = Decimal(1).scaleb(-DISCOUNT_SCALE)
_DISCOUNT_DIGITS = 6  # before the point, in DECIMAL(18, 12)

_COLUMN_KEYS = ("prompt", "completion", "input_cache_read", "input_cache_write")
_OTHER_KEYS = (
    "request",
    "image",
    "image_token",
    "image_output",
    "audio",
    "audio_output",
    "input_audio_cache",
    "input_cache_write_1h",
    "internal_reasoning",
    "web_search",
)
PRICE_KEYS = frozenset((*_COLUMN_KEYS, *_OTHER_KEYS))
PRICING_KEYS = PRICE_KEYS | {"discount", "overrides"}
_KEYS_WITH_COLUMN = {*_COLUMN_KEYS, "discount", "overrides"}
OVERRIDE_KEYS = PRICE_KEYS | {"min_prompt_tokens", "utc_start", "utc_end", "utc_days"}

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_ZERO = Decimal(0)
_LARGEST_EXPONENT = 14  # what DECIMAL(38, 24) holds
_SMALLEST_EXPONENT = 100
# Wide enough for every value that DECIMAL(38, 24) holds; the default context rounds at 28 digits.
_CONTEXT = Context(prec=60, rounding=ROUND_HALF_EVEN)


class WrongPrice(ValueError):  # noqa: N818 - says what is the case
    """A price cannot be read. One line: which key, what was found."""


class Pricing(NamedTuple):
    """A ``pricing`` object, in USD per token; ``discount`` is the share already taken off."""

    input_price: Decimal | None
    output_price: Decimal | None
    cache_read_price: Decimal | None
    cache_write_price: Decimal | None
    discount: Decimal | None
    other_prices_json: str
    overrides_json: str
    pricing_json: str
    rounded_keys: tuple[str, ...]  # prices with more decimals than the tables keep


def read_pricing(pricing: Mapping[str, Any]) -> Pricing:
    """Read a ``pricing`` object; raises ``WrongPrice`` naming the key that cannot be read."""
    return _pricing_of(write_json(pricing))


# From one sweep to the next nearly all pricing objects are the same, within one still a third.
@lru_cache(maxsize=8192)
def _pricing_of(pricing_json: str) -> Pricing:
    pricing = read_json(pricing_json.encode())
    if not isinstance(pricing, dict):
        raise WrongPrice(f"pricing: {short(pricing)}")
    exact = [_read_key(key, pricing.get(key)) for key in _COLUMN_KEYS]
    kept = [
        None if price is None else price.quantize(_PRICE_STEP, None, _CONTEXT) for price in exact
    ]
    discount = _read_key("discount", pricing.get("discount"))
    if discount is not None and discount.adjusted() >= _DISCOUNT_DIGITS:
        raise WrongPrice(f"pricing.discount: {short(pricing['discount'])} is no share")
    return Pricing(
        input_price=kept[0],
        output_price=kept[1],
        cache_read_price=kept[2],
        cache_write_price=kept[3],
        discount=None if discount is None else discount.quantize(_DISCOUNT_STEP, None, _CONTEXT),
        other_prices_json=_other_prices(pricing),
        overrides_json=_overrides(pricing.get("overrides")),
        pricing_json=pricing_json,
        rounded_keys=tuple(_COLUMN_KEYS[n] for n in range(4) if exact[n] != kept[n]),
    )


def price_of(value: object) -> Decimal | None:
    """Read one price exactly: text (exponent allowed) or number; null and "" are not stated.

    Raises ``WrongPrice`` for anything else, and for 10^14 and more or less than 10^-100.
    """
    if value is None or value == "":
        return None
    if isinstance(value, str):
        return _decimal_of(value)
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return _decimal_of(str(value))
    raise WrongPrice(f"{short(value)} is no price")


def plain_text(price: Decimal) -> str:
    """Write a price without exponent and trailing zeros: 0.10 and 1E-1 are both ``0.1``."""
    text = format(price, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def per_million_text(price_per_token: Decimal | None) -> str:
    """Write a price for a person, exact: ``0.1 USD/M``."""
    if price_per_token is None:
        return "not stated"
    return f"{plain_text(price_per_token.scaleb(6, _CONTEXT))} USD/M"


@lru_cache(maxsize=8192)
def _decimal_of(text: str) -> Decimal:
    if not _NUMBER.fullmatch(text.strip()):
        raise WrongPrice(f"{short(text)} is no price")
    try:
        price = Decimal(text.strip())
    except DecimalException:
        raise WrongPrice(f"{short(text)} is no price") from None
    if price.is_zero():
        return _ZERO
    if not -_SMALLEST_EXPONENT <= price.adjusted() < _LARGEST_EXPONENT:
        raise WrongPrice(f"{short(text)} is beyond any price")
    return price


def _read_key(key: str, value: object) -> Decimal | None:
    try:
        return price_of(value)
    except WrongPrice as error:
        raise WrongPrice(f"pricing.{key}: {error}") from None


def _other_prices(pricing: Mapping[str, Any]) -> str:
    found: dict[str, Any] = {}
    for key in pricing.keys() - _KEYS_WITH_COLUMN:
        try:
            value = _plain_price(key, pricing[key])
        except WrongPrice:
            if key in PRICE_KEYS:
                raise
            value = pricing[key]  # a new key need not be a price
        # A key priced 0 says the same as no key: OpenRouter dropped such keys model by model.
        if value not in (None, "0"):
            found[key] = value
    return write_json(found, sort_keys=True) if found else "{}"


def _overrides(overrides: object) -> str:
    if overrides is None:
        return "[]"
    if not isinstance(overrides, list) or not all(isinstance(item, dict) for item in overrides):
        raise WrongPrice(f"pricing.overrides: {short(overrides)} is no list of objects")
    canonical = [
        {key: _plain_price(key, item[key]) if key in PRICE_KEYS else item[key] for key in item}
        for item in overrides
    ]
    return write_json(canonical, sort_keys=True)


def _plain_price(key: str, value: object) -> str | None:
    price = _read_key(key, value)
    return None if price is None else plain_text(price)
