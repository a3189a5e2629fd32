"""Whether an endpoint meets what is asked for: met, missed, or open, each with the figure used.

What is not known is open; it never counts as met.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from pipeline.quantization import QUANTIZATION_BITS
from pipeline.workload.evidence import Candidate, Speed
from pipeline.workload.shape import Workload

Outcome = Literal["met", "missed", "open"]
_MOST_DECIMALS = 9


@dataclass(frozen=True)
class Needs:
    """What is asked for; 0 and None ask for nothing. ``region``: countries, two letters each."""

    workload: Workload
    max_ttft_p95_ms: float = 0
    min_tokens_per_s: float = 0
    min_uptime_pct: float = 0
    max_usd_per_month: Decimal | None = None
    min_bits: int = 0
    min_context: int = 0
    region: frozenset[str] | None = None
    allows_tiers: bool = False


@dataclass(frozen=True)
class Verdict:
    """The outcome for one criterion, and in words the figure behind it."""

    criterion: str
    outcome: Outcome
    text: str


def judge(candidate: Candidate, needs: Needs) -> list[Verdict]:
    """Return a verdict for everything that is asked for."""
    return [*_offer(candidate, needs), *_service(candidate, needs), *_place(candidate, needs)]


def _offer(candidate: Candidate, needs: Needs) -> Iterator[Verdict]:
    record, quote = candidate.record, candidate.quote
    if record["is_stale"]:
        yield Verdict("listing", "missed", "not in the last sweep")
    if record["tier"] != "standard" and not needs.allows_tiers:
        yield Verdict("tier", "missed", f"{record['tier']} tier")
    for limit in quote.limits:
        yield Verdict("size", "missed", limit)
    if needs.min_context:
        context = record["context_length"] or None
        said = f"context of {context:,} tokens" if context else "context not stated"
        yield _at_least("context", context, needs.min_context, said)
    yield _cost(candidate, needs.max_usd_per_month)


def _cost(candidate: Candidate, most: Decimal | None) -> Verdict:
    month = candidate.quote.month
    if month.usd is None:
        return Verdict("cost", "open", month.lacks or "cost not known")
    if most is None or month.usd <= most:
        return Verdict("cost", "met", "")
    return Verdict("cost", "missed", f"${_beside(month.usd, most, 2)} a month, budget ${most:,f}")


def _service(candidate: Candidate, needs: Needs) -> Iterator[Verdict]:
    if needs.max_ttft_p95_ms:
        yield _ttft(candidate, needs.max_ttft_p95_ms)
    if needs.min_tokens_per_s:
        yield _tokens_per_s(candidate, needs.min_tokens_per_s)
    if needs.min_uptime_pct:
        uptime = candidate.uptime
        if uptime is None:
            yield Verdict("uptime", "open", "uptime not known: too little traffic")
        else:
            over = f"mean of {uptime.days} days" if uptime.days > 1 else "last day only"
            said = f"uptime {_beside(uptime.percent, needs.min_uptime_pct, 2)} %, {over}"
            yield _at_least("uptime", uptime.percent, needs.min_uptime_pct, said)


def _ttft(candidate: Candidate, most: float) -> Verdict:
    """Judge the 95th percentile by ours, else by what brackets it in OpenRouter's.

    A p99 is at least the p95, so one within the limit meets it; a p90 or p50 is at most the p95,
    so one beyond the limit misses it. Between them it stays open.
    """
    ours, reported = candidate.ours, candidate.reported
    if ours and ours.ttft_p95_ms is not None:
        outcome: Outcome = "met" if ours.ttft_p95_ms <= most else "missed"
        return Verdict("TTFT p95", outcome, _said("p95", ours.ttft_p95_ms, ours, most))
    if reported.ttft_p99_ms is not None and reported.ttft_p99_ms <= most:
        return Verdict("TTFT p95", "met", _said("p99", reported.ttft_p99_ms, reported, most))
    lower = [("p90", reported.ttft_p90_ms, reported), ("p50", reported.ttft_p50_ms, reported)]
    if ours:
        lower.insert(0, ("p50", ours.ttft_p50_ms, ours))
    for name, value, speed in lower:
        if value is not None and value > most:
            return Verdict("TTFT p95", "missed", _said(name, value, speed, most))
    for name, value, speed in lower:
        if value is not None:
            return Verdict("TTFT p95", "open", f"p95 not known; {_said(name, value, speed, most)}")
    return Verdict("TTFT p95", "open", "TTFT not known")


def _said(name: str, ms: float, speed: Speed, most: float) -> str:
    return f"TTFT {name} {_beside(ms, most, 0)} ms, {speed.whose}"


def _beside(value: float | Decimal, limit: float | Decimal, decimals: int) -> str:
    """Write a number with as many decimals as keep it on its side of the limit."""
    exact = Decimal(str(value))
    bound = Decimal(str(limit))
    while decimals < _MOST_DECIMALS and round(exact, decimals).compare(bound) != exact.compare(
        bound
    ):
        decimals += 1
    return f"{round(exact, decimals):,f}"


def _tokens_per_s(candidate: Candidate, least: float) -> Verdict:
    for speed in (candidate.ours, candidate.reported):
        if speed and speed.tokens_per_s_p50 is not None:
            how = "decode" if speed.source == "ours" else "over the whole request"
            figure = _beside(speed.tokens_per_s_p50, least, 0)
            said = f"{figure} tok/s, {how}, {speed.whose}"
            return _at_least("tok/s p50", speed.tokens_per_s_p50, least, said)
    return Verdict("tok/s p50", "open", "tokens a second not known")


def _place(candidate: Candidate, needs: Needs) -> Iterator[Verdict]:
    record = candidate.record
    if needs.min_bits:
        stated = record["quantization"]
        bits = QUANTIZATION_BITS.get(stated or "")
        yield _at_least("quantization", bits, needs.min_bits, stated or "quantization not stated")
    if needs.region is not None:
        yield _region(record, needs.region)


def _region(record: Mapping[str, Any], region: frozenset[str]) -> Verdict:
    runs_in = [place for place in record.get("datacenters") or [] if place]
    if runs_in:
        # One centre elsewhere may serve a request just as well.
        outcome: Outcome = "met" if set(runs_in) <= region else "open"
        if not set(runs_in) & region:
            outcome = "missed"
        return Verdict("region", outcome, f"runs in {', '.join(sorted(runs_in))}")
    based_in = record["headquarters"]
    if based_in is None:
        return Verdict("region", "open", "country not stated")
    outcome = "met" if based_in in region else "missed"
    return Verdict("region", outcome, f"based in {based_in}; where it runs is not stated")


def _at_least(criterion: str, value: float | None, least: float, said: str) -> Verdict:
    if value is None:
        return Verdict(criterion, "open", said)
    return Verdict(criterion, "met" if value >= least else "missed", said)
