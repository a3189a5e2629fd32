"""What an endpoint charges, under which conditions: its listed prices and their overrides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Context, Decimal
from functools import lru_cache
from typing import Any

from pipeline.exact_json import read_json
from pipeline.prices import price_of
from pipeline.workload.conditions import Condition, read_condition

# Kinds of price that a text request can need, and how they are called to a reader.
KINDS = {
    "prompt": "input",
    "completion": "output",
    "input_cache_read": "cache read",
    "input_cache_write": "cache write",
    "request": "request",
}
_COLUMNS = {
    "prompt": "input_usd_per_mtok",
    "completion": "output_usd_per_mtok",
    "input_cache_read": "cache_read_usd_per_mtok",
    "input_cache_write": "cache_write_usd_per_mtok",
}
# Wide enough that no sum or product of prices and counts is rounded.
EXACT = Context(prec=100)


@dataclass(frozen=True)
class Override:
    """Prices that apply under a condition; USD per token, by key."""

    condition: Condition
    prices: Mapping[str, Decimal | None]


@dataclass(frozen=True)
class Tariff:
    """The price list of an endpoint; ``listed`` in USD per token (``request``: per request)."""

    listed: Mapping[str, Decimal | None]
    overrides: tuple[Override, ...] = ()
    observed_at_utc: datetime | None = None

    @property
    def has_clock(self) -> bool:
        """Whether the hour of the day matters."""
        return any(override.condition.has_clock for override in self.overrides)

    @property
    def has_days(self) -> bool:
        """Whether the day of the week matters."""
        return any(override.condition.days is not None for override in self.overrides)

    @property
    def has_tiers(self) -> bool:
        """Whether the length of the prompt matters."""
        return any(item.condition.above_prompt_tokens is not None for item in self.overrides)


@dataclass(frozen=True)
class EffectivePrices:
    """Prices in force; USD per token (``request``: per request), None where not known.

    ``unsure`` says by key why a price is not known although one is stated; ``applied`` are the
    conditions that held, in the order of the list.
    """

    prices: Mapping[str, Decimal | None]
    unsure: Mapping[str, str] = field(default_factory=dict)
    applied: tuple[Condition, ...] = ()


def tariff_of(record: Mapping[str, Any]) -> Tariff:
    """Read the price list of a row of ``marts.provider_table``."""
    per_token = {key: _per_token(record[column]) for key, column in _COLUMNS.items()}
    # A request price of 0 is not kept, so none stated is none charged.
    others = read_json((record["other_prices_json"] or "{}").encode())
    return Tariff(
        listed=per_token | {"request": _stated(others.get("request", "0"))},
        overrides=_overrides(record["overrides_json"] or "[]"),
        observed_at_utc=record["observed_at_utc"],
    )


def effective_prices(tariff: Tariff, prompt_tokens: int, at: datetime) -> EffectivePrices:
    """Return the prices of a prompt of ``prompt_tokens`` tokens, cached ones too, sent at ``at``.

    Later overrides win, key by key; a key that none of them names keeps its listed price. An
    override whose condition is not understood leaves the prices that it names unknown, unless a
    later one settles them. Raises ``ValueError`` for a time without a zone.
    """
    if at.tzinfo is None:
        raise ValueError(f"{at} has no time zone; price windows are in UTC")
    at_utc = at.astimezone(UTC)
    prices = dict(tariff.listed)
    unsure: dict[str, str] = {}
    applied = []
    for override in tariff.overrides:
        condition = override.condition
        if not condition.may_apply(prompt_tokens, at_utc):
            continue
        applied.append(condition)
        for key, price in override.prices.items():
            prices[key] = None if condition.riddles else price
            unsure.pop(key, None)
            if condition.riddles:
                unsure[key] = f"it depends on {', '.join(condition.riddles)}, not understood here"
    return EffectivePrices(prices, unsure, tuple(applied))


@lru_cache(maxsize=4096)
def _overrides(overrides_json: str) -> tuple[Override, ...]:
    return tuple(
        Override(
            read_condition(entry),
            # A null price is an absent one: the listed price stays.
            {key: _stated(entry[key]) for key in KINDS if entry.get(key) not in (None, "")},
        )
        for entry in read_json(overrides_json.encode())
    )


def _per_token(usd_per_mtok: Decimal | None) -> Decimal | None:
    return None if usd_per_mtok is None else _stated(usd_per_mtok.scaleb(-6, EXACT))


def _stated(price: object) -> Decimal | None:
    """Read a price; a negative one stands for "that of whatever is chosen", which is none."""
    value = price_of(price)
    return None if value is not None and value < 0 else value
