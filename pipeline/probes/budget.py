"""The budget of a run: what it may cost at most, what it may still spend, what it has spent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from pipeline.probes.config import Budget, Price
from pipeline.probes.planning import PlannedBatch
from pipeline.probes.prompt import Prompt
from pipeline.probes.sample import Sample
from pipeline.probes.spending import SpendLedger, cost_of, estimate

NOTHING = Decimal(0)


class BudgetError(Exception):
    """A run may cost more than the budget leaves. One line: how much, which limit, remedy."""


@dataclass(frozen=True)
class Estimate:
    """The most that requests take; ``usd`` is None when the price is not known."""

    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    usd: Decimal | None = NOTHING

    def __add__(self, other: Estimate) -> Estimate:
        return Estimate(
            self.requests + other.requests,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            None if self.usd is None or other.usd is None else self.usd + other.usd,
        )


def estimates_of(
    plan: Iterable[PlannedBatch], prices: Mapping[str, Price | None]
) -> dict[str, Estimate]:
    """Return the estimate of each target in the plan."""
    found: dict[str, Estimate] = {}
    for batch in plan:
        name = batch.target.name
        price = prices.get(name)
        for request in batch.requests:
            prompt = request.prompt
            found[name] = found.get(name, Estimate()) + Estimate(
                1,
                prompt.estimated_prompt_tokens,
                prompt.max_tokens,
                None if price is None else estimate(prompt, price),
            )
    return found


def usd_text(usd: Decimal) -> str:
    """Return an amount for a person: two to eight decimals."""
    whole, _, fraction = f"{usd:.8f}".partition(".")
    return f"{whole}.{fraction.rstrip('0'):0<2}"


class RunBudget:
    """What a run may still spend: its worst case is reserved before a batch, settled after it.

    Reserves stand in the ledger like spendings, so that a killed run cannot hide what it spent.
    A target without a known price is not held back, but what it reports counts.
    """

    def __init__(
        self,
        budget: Budget,
        prices: Mapping[str, Price | None],
        ledger: SpendLedger,
        run_id: str,
        clock: Callable[[], datetime],
    ) -> None:
        self.spent: dict[str, Decimal] = {}
        self._budget = budget
        self._prices = prices
        self._ledger = ledger
        self._run_id = run_id
        self._clock = clock
        self._reserved = NOTHING
        self._reserved_at = clock()

    @property
    def total(self) -> Decimal:
        """What the run has spent, USD."""
        return sum(self.spent.values(), NOTHING)

    def require(self, estimates: Mapping[str, Estimate]) -> None:
        """Raise ``BudgetError`` when the plan may cost more than is left."""
        worst = sum((found.usd for found in estimates.values() if found.usd is not None), NOTHING)
        for name, limit, left in self._limits():
            if worst > left:
                rest = (
                    ""
                    if left == limit
                    else f", of which {usd_text(max(left, NOTHING))} are left today (UTC)"
                )
                raise BudgetError(
                    f"the run may cost {usd_text(worst)} USD, {name} is {usd_text(limit)}{rest}; "
                    f"lower runs, prompts, concurrency or max_tokens, or raise {name}"
                )

    def reserve(self, batch: PlannedBatch) -> tuple[int, str]:
        """Reserve the worst case of as many requests of the batch as fit, from the first on.

        Return their number, and the limit that leaves out the rest. None are to be sent when they
        are too few to keep the streams of a closed loop busy.
        """
        price = self._prices.get(batch.target.name)
        if price is None:
            return len(batch.requests), ""
        name, left = min(
            ((name, left) for name, _, left in self._limits()),
            key=lambda limit: limit[1],
            default=("", None),
        )
        fitting = 0
        for request in batch.requests:
            cost = estimate(request.prompt, price)
            if left is not None and self._reserved + cost > left:
                break
            self._reserved += cost
            fitting += 1
        if batch.loop == "closed" and fitting < min(batch.concurrency, len(batch.requests)):
            fitting, self._reserved = 0, NOTHING
        self._reserved_at = self._clock()
        self._note(self._reserved)
        return fitting, name

    def settle(self, batch: PlannedBatch, samples: Iterable[Sample]) -> None:
        """Count what the batch did cost; a sample that does not tell counts as reserved."""
        name = batch.target.name
        cost = sum(
            (
                _cost(sample, request.prompt, self._prices.get(name))
                for request, sample in zip(batch.requests, samples, strict=True)
            ),
            NOTHING,
        )
        self.spent[name] = self.spent.get(name, NOTHING) + cost
        self._note(cost - self._reserved)
        self._reserved = NOTHING

    def _limits(self) -> list[tuple[str, Decimal, Decimal]]:
        """Return name, limit and what is left of it, of each limit that is set."""
        budget, limits = self._budget, []
        if budget.usd_per_run is not None:
            left = budget.usd_per_run - self.total
            limits.append(("budget.usd_per_run", budget.usd_per_run, left))
        if budget.usd_per_day is not None:
            left = budget.usd_per_day - self._ledger.spent_on(self._clock().date())
            limits.append(("budget.usd_per_day", budget.usd_per_day, left))
        return limits

    def _note(self, usd: Decimal) -> None:
        if usd:
            # A batch that runs over midnight belongs to the day on which it began.
            self._ledger.add(self._run_id, self._reserved_at, usd)


def _cost(sample: Sample, prompt: Prompt, price: Price | None) -> Decimal:
    if sample.cost_usd is not None:
        return sample.cost_usd
    is_refused = sample.http_status is not None and sample.http_status >= 400
    if price is None or sample.sent_ns is None or is_refused:
        return NOTHING
    counted = cost_of(sample, price)
    return estimate(prompt, price) if counted is None else counted
