"""What a request and a month of a workload cost at an endpoint, exactly, or why that is unknown.

A price that is needed and not stated makes the cost None, never 0. One assumption stands in for
what lists leave out, and is named with each cost that rests on it: where no price is stated for
cached tokens, they are billed as input.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from pipeline.workload.bands import Band, bands
from pipeline.workload.shape import Workload
from pipeline.workload.tariff import EXACT, KINDS, EffectivePrices, Tariff, effective_prices

READ_AS_INPUT = "no cache price: cached tokens billed as input"
WRITTEN_AS_INPUT = "no cache-write price: written tokens billed as input"
_AS_INPUT = {"input_cache_read": READ_AS_INPUT, "input_cache_write": WRITTEN_AS_INPUT}


@dataclass(frozen=True)
class Cost:
    """USD, or None and what ``lacks``; ``assumed`` names what the figure rests on."""

    usd: Decimal | None
    lacks: str | None = None
    assumed: tuple[str, ...] = ()

    @property
    def is_free(self) -> bool:
        """Whether it is known to cost nothing."""
        return self.usd == 0


@dataclass(frozen=True)
class BandCost:
    """What a request costs during a part of the chosen time, and the prices in force then."""

    band: Band
    prices: EffectivePrices
    cost: Cost


def request_cost(tariff: Tariff, workload: Workload, at: datetime) -> Cost:
    """Return what one request costs that is sent at ``at``, USD."""
    return _cost_at(effective_prices(tariff, workload.input_tokens, at), workload)


def band_costs(tariff: Tariff, workload: Workload) -> list[BandCost]:
    """Return what one request costs in each part of the chosen time with prices of its own."""
    found = []
    for band in bands(tariff, workload.hours, workload.weekdays):
        prices = effective_prices(tariff, workload.input_tokens, band.at)
        found.append(BandCost(band, prices, _cost_at(prices, workload)))
    return found


def mean_request_cost(tariff: Tariff, workload: Workload) -> Cost:
    """Return what one request costs on average over the chosen hours, USD."""
    return _mean(band_costs(tariff, workload), times=1)


def monthly_cost(tariff: Tariff, workload: Workload) -> Cost:
    """Return what a month of requests costs, spread evenly over the chosen hours, USD."""
    return _mean(band_costs(tariff, workload), times=workload.requests_per_month)


def _mean(parts: list[BandCost], *, times: int) -> Cost:
    assumed = tuple(dict.fromkeys(text for part in parts for text in part.cost.assumed))
    total = Decimal(0)
    minutes = 0
    for part in parts:
        if part.cost.usd is None:
            return Cost(None, part.cost.lacks, assumed)
        total = EXACT.add(total, EXACT.multiply(part.cost.usd, Decimal(part.band.minutes)))
        minutes += part.band.minutes
    # Multiplied before it is divided: a third of a cent, three times, is a cent.
    return Cost(
        EXACT.divide(EXACT.multiply(total, Decimal(times)), Decimal(minutes)), assumed=assumed
    )


def _cost_at(effective: EffectivePrices, workload: Workload) -> Cost:
    assumed = []
    total = Decimal(0)
    for key, count in _counts(workload).items():
        if not count:
            continue
        billed_as = _billed_as(key, effective)
        if billed_as != key:
            assumed.append(_AS_INPUT[key])
        price = effective.prices[billed_as]
        if price is None:
            return Cost(None, _lacking(billed_as, effective), tuple(assumed))
        total = EXACT.add(total, EXACT.multiply(price, count))
    return Cost(total, assumed=tuple(assumed))


def _billed_as(key: str, effective: EffectivePrices) -> str:
    has_none = effective.prices[key] is None and key not in effective.unsure
    return "prompt" if has_none and key in _AS_INPUT else key


def _counts(workload: Workload) -> Mapping[str, Decimal]:
    prompt = Decimal(workload.input_tokens)
    read = EXACT.multiply(prompt, workload.cached_share)
    written = EXACT.multiply(prompt, workload.written_share)
    return {
        "prompt": EXACT.subtract(prompt, EXACT.add(read, written)),
        "input_cache_read": read,
        "input_cache_write": written,
        "completion": Decimal(workload.output_tokens),
        "request": Decimal(1),
    }


def _lacking(key: str, effective: EffectivePrices) -> str:
    why = effective.unsure.get(key)
    return f"{KINDS[key]} price: {why}" if why else f"no {KINDS[key]} price is stated"
