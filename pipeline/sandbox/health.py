"""How well an endpoint works at an instant: outages, uptimes, status, latency, throughput."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from pipeline.sandbox.catalogue import EndpointPlan
from pipeline.sandbox.dice import Dice
from pipeline.sandbox.story import Outage

_DAY_S = 86_400
_MIN_REQUESTS = 100  # fewer in the window: the feed says null


@dataclass(frozen=True)
class Health:
    """Uptimes in percent, null when there was too little traffic."""

    uptime_5m: float | None
    uptime_30m: float | None
    uptime_1d: float | None
    requests_30m: int
    error_share_30m: float

    @property
    def status(self) -> int:
        """Return the status, which follows from the 30-minute uptime alone."""
        if self.uptime_30m is None or self.uptime_30m >= 95:
            return 0
        return -2 if self.uptime_30m >= 80 else -5


def health(
    plan: EndpointPlan, at: datetime, day: float, dice: Dice, outages: tuple[Outage, ...]
) -> Health:
    """Return the health of ``plan`` at ``at``, which is ``day`` days after the anchor."""
    now = at.timestamp()
    anchor = now - day * _DAY_S
    told = [
        (anchor + o.from_day * _DAY_S, anchor + o.until_day * _DAY_S, o.severity)
        for o in outages
        if o.owner in {plan.provider.slug, plan.key}
    ]
    spans = told + ([] if plan.steady else list(_chance_outages(plan, now, dice)))
    base = _base_error_share(plan, now, dice)
    per_minute = _requests_per_minute(plan, dice)
    hour = at.hour + at.minute / 60
    busy = 1 + 0.4 * math.sin((hour - 9) / 24 * 2 * math.pi)

    def uptime(minutes: int, load: float) -> tuple[float | None, int, float]:
        window_s = minutes * 60
        failing = sum(
            severity * max(0.0, min(end, now) - max(start, now - window_s)) / window_s
            for start, end, severity in spans
        )
        share = min(1.0, base + failing)
        requests = int(per_minute * minutes * load)
        failed = min(requests, int(requests * share + dice.unit(plan.key, "luck", minutes, now)))
        if requests < _MIN_REQUESTS:
            return None, requests, share
        return (100 if failed == 0 else (requests - failed) / requests * 100), requests, share

    uptime_30m, requests_30m, share_30m = uptime(30, busy)
    return Health(uptime(5, busy)[0], uptime_30m, uptime(1440, 1)[0], requests_30m, share_30m)


def latency_ms(
    plan: EndpointPlan, active_b: float, state: Health, at: datetime, dice: Dice
) -> dict[str, float]:
    """Return time to first token in ms: p50, p75, p90, p99, ascending."""
    slot = int(at.timestamp() // 1800)
    strain = 1 + 3 * state.error_share_30m
    p50 = plan.provider.ttft_ms * (0.7 + active_b / 100) * strain
    p50 *= math.exp(0.18 * dice.bell(plan.key, "ttft", slot))
    spread = dice.between(1.3, 1.8, plan.key, "ttft spread", slot)
    steps = (("p50", 0), ("p75", 1), ("p90", 2), ("p99", 4))
    return {name: round(p50 * spread**step, 2) for name, step in steps}


def tokens_per_s(
    plan: EndpointPlan, active_b: float, state: Health, at: datetime, dice: Dice
) -> dict[str, float]:
    """Return throughput in tokens/s: p50, p75, p90, p99, ascending as the live feed's do."""
    slot = int(at.timestamp() // 1800)
    size = (70 / max(active_b, 2)) ** 0.3
    p50 = plan.provider.tokens_per_s * size * (1 - 0.5 * state.error_share_30m)
    p50 *= math.exp(0.12 * dice.bell(plan.key, "tokens", slot))
    steps = (("p50", 1.0), ("p75", 1.18), ("p90", 1.38), ("p99", 1.8))
    return {name: round(p50 * factor, 1) for name, factor in steps}


def _base_error_share(plan: EndpointPlan, now: float, dice: Dice) -> float:
    if plan.steady:
        return 0.00001
    luck = dice.unit(plan.key, "reliability")
    typical = 0.05 if luck > 0.95 else 0.0005 if luck < 0.5 else 0.004
    return typical * math.exp(0.6 * dice.bell(plan.key, "errors", int(now // 21_600)))


def _requests_per_minute(plan: EndpointPlan, dice: Dice) -> float:
    # A log-normal spread gives the recorded shares of null uptimes: about a third in five minutes,
    # a fifth in thirty, three in a hundred over a day.
    if plan.steady:
        return dice.between(300, 3000, plan.key, "traffic")
    decades = 2.0 + 1.7 * dice.bell(plan.key, "traffic")
    return float(min(10**decades, 40_000))


def _chance_outages(
    plan: EndpointPlan, now: float, dice: Dice
) -> Iterator[tuple[float, float, float]]:
    today = int(now // _DAY_S)
    flaky = plan.provider.temper == "flaky"
    owners = ((plan.provider.slug, 0.05 if flaky else 0.015), (plan.key, 0.2 if flaky else 0.06))
    for owner, chance in owners:
        # An outage may last into the next day and stays in the one-day window of the day after.
        for number in (today - 2, today - 1, today):
            if dice.unit(owner, "outage", number) < chance:
                start = (number + dice.unit(owner, "start", number)) * _DAY_S
                length_s = 60 * dice.between(4, 16, owner, "length", number) ** 2
                severity = dice.between(0.1, 1, owner, "severity", number) ** 2
                yield start, start + length_s, severity
