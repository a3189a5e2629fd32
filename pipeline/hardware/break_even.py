"""A rig of one's own against the cloud: what each costs a month, and when the rig has paid.

Decode speed is that of one request at a time; the time for reading prompts is not counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

DAYS_PER_MONTH = Decimal(365) / 12
HOURS_PER_MONTH = DAYS_PER_MONTH * 24
_MILLION = Decimal(10**6)
_SECONDS = Decimal(3600)


@dataclass(frozen=True)
class Owning:
    """A rig: its price in USD, watts while it runs, USD per kWh, months it is meant to last."""

    price_usd: Decimal
    watts: Decimal
    usd_per_kwh: Decimal
    lifetime_months: Decimal = Decimal(36)
    tokens_per_s: Decimal | None = None  # decode speed of the model there, null when unknown
    hours_per_month: Decimal | None = None  # powered on; null: only while it generates


@dataclass(frozen=True)
class Cloud:
    """A price of the cloud, USD per million tokens."""

    input_usd_per_mtok: Decimal
    output_usd_per_mtok: Decimal


@dataclass(frozen=True)
class Usage:
    """Tokens a month; those of prompts and those of answers."""

    input_tokens: Decimal
    output_tokens: Decimal

    @property
    def tokens(self) -> Decimal:
        """All tokens a month."""
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True)
class BreakEven:
    """Costs in USD a month, and when the rig pays; null where that never is, or is unknown.

    ``local_usd_per_month`` is electricity alone. ``tips_at_tokens_per_day`` is the usage, in the
    same mix, from which on the rig is cheaper over its lifetime, price included;
    ``most_tokens_per_day`` is what it can generate and read in the same mix if it never rests.
    """

    cloud_usd_per_month: Decimal
    local_usd_per_month: Decimal | None
    hours_per_month: Decimal | None
    months_to_break_even: Decimal | None
    tips_at_tokens_per_day: Decimal | None
    most_tokens_per_day: Decimal | None
    can_produce: bool | None
    can_reach_tip: bool | None


def break_even(rig: Owning, cloud: Cloud, usage: Usage) -> BreakEven:
    """Compare a rig with a price of the cloud at a usage."""
    cloud_usd = _cloud_usd(cloud, usage)
    busy = _busy_hours(rig, usage)
    hours = rig.hours_per_month if rig.hours_per_month is not None else busy
    local_usd = None if hours is None else _energy_usd(rig, hours)
    saved = None if local_usd is None else cloud_usd - local_usd
    tip = _tip(rig, cloud, usage)
    most = _most_tokens_per_day(rig, usage)
    available = HOURS_PER_MONTH if rig.hours_per_month is None else rig.hours_per_month
    return BreakEven(
        cloud_usd_per_month=cloud_usd,
        local_usd_per_month=local_usd,
        hours_per_month=hours,
        months_to_break_even=rig.price_usd / saved if saved is not None and saved > 0 else None,
        tips_at_tokens_per_day=tip,
        most_tokens_per_day=most,
        can_produce=None if busy is None else busy <= available,
        can_reach_tip=None if tip is None or most is None else tip <= most,
    )


def _cloud_usd(cloud: Cloud, usage: Usage) -> Decimal:
    return (
        usage.input_tokens * cloud.input_usd_per_mtok
        + usage.output_tokens * cloud.output_usd_per_mtok
    ) / _MILLION


def _busy_hours(rig: Owning, usage: Usage) -> Decimal | None:
    if not rig.tokens_per_s:
        return None
    return usage.output_tokens / rig.tokens_per_s / _SECONDS


def _energy_usd(rig: Owning, hours: Decimal) -> Decimal:
    return rig.watts / 1000 * hours * rig.usd_per_kwh


def _tip(rig: Owning, cloud: Cloud, usage: Usage) -> Decimal | None:
    """Return tokens a day at which price and electricity of a month equal the cloud's cost."""
    if not usage.tokens:
        return None
    fixed = rig.price_usd / rig.lifetime_months
    per_token = _cloud_usd(cloud, usage) / usage.tokens
    if rig.hours_per_month is not None:
        fixed += _energy_usd(rig, rig.hours_per_month)
    else:
        busy = _busy_hours(rig, usage)
        if busy is None:
            return None
        per_token -= _energy_usd(rig, busy) / usage.tokens
    return fixed / per_token / DAYS_PER_MONTH if per_token > 0 else None


def _most_tokens_per_day(rig: Owning, usage: Usage) -> Decimal | None:
    if not rig.tokens_per_s or not usage.output_tokens:
        return None
    available = HOURS_PER_MONTH if rig.hours_per_month is None else rig.hours_per_month
    most_output = rig.tokens_per_s * _SECONDS * available / DAYS_PER_MONTH
    return most_output * usage.tokens / usage.output_tokens
