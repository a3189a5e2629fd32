"""What an endpoint charges at an instant: eras of changing prices, promotions, hours of the day."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from pipeline.sandbox.catalogue import EndpointPlan
from pipeline.sandbox.dice import Dice

_LEVELS = ("1", "1", "1", "0.9", "0.8", "1.1", "1.25", "0.95")
_PROMOTIONS = ("0.1", "0.2", "0.25", "0.5")
_OVERRIDE_PRICES = {
    "input": "prompt",
    "output": "completion",
    "cache_read": "input_cache_read",
    "cache_write": "input_cache_write",
}
_DAY_S = 86_400


@dataclass(frozen=True)
class Quote:
    """Prices in USD per million tokens, net of ``discount`` (a share of the list price)."""

    input: Decimal
    output: Decimal
    cache_read: Decimal | None
    cache_write: Decimal | None
    discount: Decimal


def quote(plan: EndpointPlan, at: datetime, dice: Dice, *, moves: bool) -> Quote:
    """Return the prices of ``plan`` at ``at``; ``moves`` lets chance change them."""
    base = Quote(plan.input, plan.output, plan.cache_read, plan.cache_write, plan.discount)
    base = replace(base, **_window_in_force(plan, at))
    if not moves or plan.provider.temper == "calm":
        return base
    seconds = at.timestamp()
    level, discount = _level(plan, seconds, dice), _promotion(plan, seconds, dice)
    return Quote(
        input=_scaled(base.input, level * (1 - discount)),
        output=_scaled(base.output, level * (1 - discount)),
        cache_read=base.cache_read and _scaled(base.cache_read, level * (1 - discount)),
        cache_write=base.cache_write and _scaled(base.cache_write, level * (1 - discount)),
        discount=discount,
    )


def pricing(plan: EndpointPlan, prices: Quote) -> dict[str, Any]:
    """Return the ``pricing`` object: texts in USD per token; ``discount`` is a JSON number."""
    texts: dict[str, Any] = {
        "prompt": per_token(prices.input),
        "completion": per_token(prices.output),
    }
    if prices.cache_read is not None:
        texts["input_cache_read"] = per_token(prices.cache_read)
    if prices.cache_write is not None:
        texts["input_cache_write"] = per_token(prices.cache_write)
    texts |= plan.extra
    discount = float(prices.discount)
    texts["discount"] = int(discount) if discount.is_integer() else discount
    if plan.overrides:
        texts["overrides"] = [_override(entry) for entry in plan.overrides]
    return texts


def per_token(usd_per_mtok: Decimal) -> str:
    """Return USD per token, as text."""
    return plain(usd_per_mtok.scaleb(-6))


def plain(number: Decimal) -> str:
    """Return a decimal text without exponent and without trailing zeros."""
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _window_in_force(plan: EndpointPlan, at: datetime) -> dict[str, Decimal]:
    clock = at.hour * 100 + at.minute
    for entry in plan.overrides:
        if "utc_start" not in entry:
            continue
        start, end = entry["utc_start"], entry["utc_end"]
        is_in = start <= clock < end if start < end else clock >= start or clock < end
        if is_in:
            return {name: Decimal(str(entry[name])) for name in _OVERRIDE_PRICES if name in entry}
    return {}


def _override(entry: dict[str, Any]) -> dict[str, Any]:
    return {
        _OVERRIDE_PRICES.get(name, name): (
            per_token(Decimal(str(value))) if name in _OVERRIDE_PRICES else value
        )
        for name, value in entry.items()
    }


def _level(plan: EndpointPlan, seconds: float, dice: Dice) -> Decimal:
    if plan.provider.temper == "jumpy":
        length_s = dice.between(4, 9, plan.key, "era") * 3600
    elif dice.unit(plan.key, "moves") < 0.6:
        length_s = dice.between(14, 40, plan.key, "era") * _DAY_S
    else:
        return Decimal(1)
    era = int(seconds / length_s + dice.unit(plan.key, "phase"))
    return Decimal(dice.pick(_LEVELS, plan.key, "level", era))


def _promotion(plan: EndpointPlan, seconds: float, dice: Dice) -> Decimal:
    if dice.unit(plan.key, "promotes") > 0.12:
        return Decimal(0)
    length_s = dice.between(25, 50, plan.key, "season") * _DAY_S
    turn = seconds / length_s + dice.unit(plan.key, "season phase")
    if turn % 1 > 0.25:
        return Decimal(0)
    return Decimal(dice.pick(_PROMOTIONS, plan.key, "promotion", int(turn)))


def _scaled(price: Decimal, factor: Decimal) -> Decimal:
    # Four digits, as a person would set a price; a price that stands still keeps all of its digits.
    if factor == 1 or price == 0:
        return price
    scaled = price * factor
    return round(scaled, 3 - scaled.adjusted())
