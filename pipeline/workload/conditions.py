"""When a conditional price applies: prompt length, UTC clock, day of the week.

The contract is OpenRouter's ``PricingOverride``: every condition that is present must match,
``min_prompt_tokens`` is a strict bound, a clock window holds its start and not its end, and one
whose start lies after its end runs through midnight.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from pipeline.prices import PRICE_KEYS, WrongPrice, price_of

DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MINUTES_A_DAY = 24 * 60
CONDITION_KEYS = ("min_prompt_tokens", "utc_start", "utc_end", "utc_days")


@dataclass(frozen=True)
class Condition:
    """What must hold, all of it. ``start`` and ``end`` are minutes of the UTC day.

    ``riddles`` are the conditions that were not understood: whether they hold is not known.
    """

    above_prompt_tokens: Decimal | None = None
    start: int | None = None
    end: int | None = None
    days: frozenset[int] | None = None  # 0 is Monday; None is every day
    riddles: tuple[str, ...] = ()

    def may_apply(self, prompt_tokens: int, at: datetime) -> bool:
        """Whether all that is understood holds for a prompt of this length at ``at`` (UTC)."""
        return (
            (self.above_prompt_tokens is None or prompt_tokens > self.above_prompt_tokens)
            and self.holds_clock(at)
            and (self.days is None or at.weekday() in self.days)
        )

    @property
    def has_clock(self) -> bool:
        """Whether the hour of the day matters."""
        return self.start is not None or self.end is not None

    def holds_clock(self, at: datetime) -> bool:
        """Whether ``at`` (UTC) lies in the window of the day; without one, it does."""
        minute = at.hour * 60 + at.minute
        start = 0 if self.start is None else self.start
        end = MINUTES_A_DAY if self.end is None else self.end
        return start <= minute < end if start <= end else minute >= start or minute < end


def read_condition(override: Mapping[str, Any]) -> Condition:
    """Read the conditions of one entry of ``overrides``; null ones are absent.

    A key that is neither a condition nor a price is taken for a condition of a kind that is not
    understood, so that no price is given for sure which may not apply.
    """
    given = {key: value for key, value in override.items() if value is not None}
    riddles = [key for key in given if key not in CONDITION_KEYS and not _is_price(key, given[key])]
    known: dict[str, Any] = {}
    for name, key, read in (
        ("above_prompt_tokens", "min_prompt_tokens", _tokens),
        ("start", "utc_start", _minute),
        ("end", "utc_end", _minute),
        ("days", "utc_days", _days),
    ):
        if key in given:
            known[name] = read(given[key])
            if known[name] is None:
                riddles.append(key)
    return Condition(**known, riddles=tuple(sorted(riddles)))


def _is_price(key: str, value: object) -> bool:
    # Prices come as text, conditions as numbers and lists.
    if key in PRICE_KEYS:
        return True
    try:
        return isinstance(value, str) and price_of(value) is not None
    except WrongPrice:
        return False


def _tokens(value: object) -> Decimal | None:
    return Decimal(value) if isinstance(value, int | Decimal) and type(value) is not bool else None


def _minute(value: object) -> int | None:
    """Read a clock time written as a number: 1630 is 16:30; 2400 is the end of the day."""
    clock = int(value) if isinstance(value, Decimal) and value == int(value) else value
    if type(clock) is not int or not 0 <= clock <= 2400 or clock % 100 >= 60:
        return None
    return clock // 100 * 60 + clock % 100


def _days(value: object) -> frozenset[int] | None:
    names = [str(day).lower() for day in value] if isinstance(value, list) else []
    if not names or not set(names) <= set(DAYS):
        return None
    return frozenset(DAYS.index(name) for name in names)
