"""What an endpoint asks for a workload: per request and month, on which prices, with what notes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from pipeline.exact_json import read_json
from pipeline.prices import price_of
from pipeline.workload.bands import clock_text
from pipeline.workload.costs import (
    READ_AS_INPUT,
    BandCost,
    Cost,
    band_costs,
    mean_request_cost,
    monthly_cost,
)
from pipeline.workload.shape import Workload
from pipeline.workload.tariff import EXACT, KINDS, Tariff, tariff_of

TIER_NOTES = {
    "flex": "flex tier: served only when asked for, slower and less available",
    "priority": "priority tier: served only when asked for",
    "batch": "batch: answers come within hours, not while one waits",
}


@dataclass(frozen=True)
class Quote:
    """The cost of a workload at one row of ``marts.provider_table``.

    ``limits`` say why the endpoint cannot take such a request at all; empty when it can.
    """

    record: Mapping[str, Any]
    tariff: Tariff
    request: Cost
    month: Cost
    parts: tuple[BandCost, ...]
    limits: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def is_offered(self) -> bool:
        """Whether it is listed now and takes such a request."""
        return not self.limits and not self.record["is_stale"]


def quote_endpoint(record: Mapping[str, Any], workload: Workload) -> Quote:
    """Work out the cost of ``workload`` at a row of ``marts.provider_table``."""
    tariff = tariff_of(record)
    parts = tuple(band_costs(tariff, workload))
    request = mean_request_cost(tariff, workload)
    return Quote(
        record=record,
        tariff=tariff,
        request=request,
        month=monthly_cost(tariff, workload),
        parts=parts,
        limits=tuple(_limits(record, workload)),
        notes=tuple(_notes(record, tariff, workload, parts, request)),
    )


def quotes_by_cost(records: Sequence[Mapping[str, Any]], workload: Workload) -> list[Quote]:
    """Return the quotes of the endpoints, cheapest first.

    Those without a cost follow, then those that are not offered: too small, or stale.
    """
    quotes = [quote_endpoint(record, workload) for record in records]
    return sorted(quotes, key=_order)


def _order(quote: Quote) -> tuple[bool, bool, Decimal, int]:
    usd = quote.request.usd
    return (not quote.is_offered, usd is None, usd or Decimal(0), quote.record["default_rank"])


def _limits(record: Mapping[str, Any], workload: Workload) -> list[str]:
    together = workload.input_tokens + workload.output_tokens
    found = [
        _too_long("prompt and answer", together, record["context_length"], "context"),
        _too_long("prompt", workload.input_tokens, record["max_prompt_tokens"], "longest prompt"),
        _too_long(
            "answer", workload.output_tokens, record["max_completion_tokens"], "longest answer"
        ),
    ]
    return [text for text in found if text]


def _too_long(what: str, tokens: int, limit: int | None, name: str) -> str | None:
    # A context of 0 is a listing's way to say nothing.
    if not limit or tokens <= limit:
        return None
    return f"{what} of {tokens:,} tokens exceed its {name} of {limit:,}"


def _notes(
    record: Mapping[str, Any],
    tariff: Tariff,
    workload: Workload,
    parts: Sequence[BandCost],
    request: Cost,
) -> list[str]:
    notes = [TIER_NOTES[record["tier"]]] if record["tier"] in TIER_NOTES else []
    notes += request.assumed
    is_manual = record["supports_implicit_caching"] is False
    if workload.cached_share and is_manual and READ_AS_INPUT not in request.assumed:
        notes.append("caches only where the request asks for it")
    if _rests_on_one_window(tariff, parts):
        notes.append("outside its price windows the price as last listed is used")
    reasoning = _reasoning_price(record)
    if reasoning is not None and reasoning != tariff.listed["completion"]:
        notes.append("reasoning tokens have a price of their own, left out here")
    return notes


def _rests_on_one_window(tariff: Tariff, parts: Sequence[BandCost]) -> bool:
    """Whether the listed price is that of a window, and is used for hours outside all windows.

    A listing shows the prices in force at the time; windows that do not tile the day leave open
    what holds in between.
    """
    if not tariff.has_clock or tariff.observed_at_utc is None:
        return False
    clocked = [item.condition for item in tariff.overrides if item.condition.has_clock]
    seen_in_one = any(condition.holds_clock(tariff.observed_at_utc) for condition in clocked)
    return seen_in_one and any(
        not any(condition.holds_clock(part.band.at) for condition in clocked) for part in parts
    )


def _reasoning_price(record: Mapping[str, Any]) -> Decimal | None:
    others = read_json((record["other_prices_json"] or "{}").encode())
    return price_of(others.get("internal_reasoning"))


def basis_of(part: BandCost) -> str:
    """Say under which conditions the prices of a part of the day stand."""
    said = []
    for condition in part.prices.applied:
        if condition.above_prompt_tokens is not None:
            said.append(f"prompts above {condition.above_prompt_tokens:,f} tokens")
        if condition.has_clock:
            start, end = condition.start or 0, condition.end
            until = clock_text(24 * 60 if end is None else end)
            said.append(f"{clock_text(start)} to {until} UTC")
    return ", ".join(dict.fromkeys(said)) or "listed price"


def prices_of(part: BandCost) -> dict[str, Decimal | None]:
    """Return the token prices in force, USD per million tokens, by the reader's name of each."""
    return {
        name: None if price is None else price.scaleb(6, EXACT)
        for key, name in KINDS.items()
        if key != "request"
        for price in [part.prices.prices[key]]
    }
