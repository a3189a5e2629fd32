"""A shadow test: a sample of one's own prompts to two targets, compared pair by pair."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from pipeline.probes.config import Price, ProbeConfig
from pipeline.probes.metrics import metrics_of
from pipeline.probes.planning import PlannedBatch, PlannedRequest, warm_up_of, waves
from pipeline.probes.prompt import Prompt
from pipeline.probes.quantiles import interval, quantile
from pipeline.probes.sample import Sample
from pipeline.probes.spending import cost_of

Verdict = Literal["both_ok", "first_failed", "second_failed", "both_failed", "not_compared"]
Pair = tuple[Sample, Sample]

_NOT_SENT = ("refused_config", "cancelled_budget")


@dataclass(frozen=True)
class Difference:
    """A figure of both targets over the pairs in which both have it.

    ``median_ms`` is the median of the first target's minus the second's, ``low_ms`` and
    ``high_ms`` its 95 % interval (None for too few pairs), ``first_wins_pct`` the share of pairs
    in which the first was faster.
    """

    n: int
    first_p50_ms: float | None
    second_p50_ms: float | None
    median_ms: float | None
    low_ms: float | None
    high_ms: float | None
    first_wins_pct: float | None


@dataclass(frozen=True)
class Comparison:
    """Two targets on the same prompts.

    Times are over pairs in which both answered (``both_ok``); the other pairs are counted.
    ``not_compared`` were not sent to both, or while the probe was overloaded. Costs are over the
    ``cost_n`` pairs of which both costs are known.
    """

    first: str
    second: str
    verdicts: Mapping[Verdict, int]
    e2e: Difference
    ttft: Difference
    cost_n: int
    first_usd: Decimal
    second_usd: Decimal


def plan_shadow(
    config: ProbeConfig,
    prompts: Sequence[Prompt],
    *,
    share: float,
    concurrency: int,
    rng: random.Random,
) -> list[PlannedBatch]:
    """Return the plan for the two targets of ``config``: a sample of the prompts, each to both.

    So many prompts as there are streams go to one target, then to the other; which is first is
    drawn anew each time. Prompts go as they are, without a nonce.
    """
    count = max(1, round(share * len(prompts)))
    chosen = sorted(rng.sample(range(len(prompts)), count))
    plan = [
        batch
        for target in config.providers
        for batch in warm_up_of(config, target, concurrency, 1, min(concurrency, count))
    ]
    for size in waves(count, concurrency):
        numbers, chosen = chosen[:size], chosen[size:]
        requests = tuple(
            PlannedRequest(prompts[number], pair_id=str(number + 1), has_nonce=False)
            for number in numbers
        )
        plan += [
            PlannedBatch(
                target,
                prompts[0].set_name,
                "measure",
                concurrency,
                1,
                requests,
                uses_new_connections=config.new_connections,
            )
            for target in rng.sample(config.providers, 2)
        ]
    return plan


def compare(
    samples: Iterable[Sample],
    first: str,
    second: str,
    *,
    overloaded_batches: Container[int] = (),
    prices: Mapping[str, Price | None],
) -> Comparison:
    """Compare the targets ``first`` and ``second`` prompt by prompt."""
    of_prompts: dict[str | None, dict[str, Sample]] = defaultdict(dict)
    for sample in samples:
        if sample.phase != "warm_up":
            of_prompts[sample.pair_id][sample.target] = sample
    pairs = [
        (found[first], found[second])
        for found in of_prompts.values()
        if found.keys() == {first, second}
    ]
    verdicts = Counter(_verdict(pair, overloaded_batches) for pair in pairs)
    verdicts["not_compared"] += len(of_prompts) - len(pairs)
    compared = [pair for pair in pairs if _verdict(pair, overloaded_batches) == "both_ok"]
    costs = [
        (one, other)
        for one, other in ([_cost(sample, prices) for sample in pair] for pair in pairs)
        if one is not None and other is not None
    ]
    return Comparison(
        first,
        second,
        verdicts,
        e2e=_difference(compared, lambda sample: metrics_of(sample).e2e_ms),
        ttft=_difference(compared, lambda sample: metrics_of(sample).ttft_ms),
        cost_n=len(costs),
        first_usd=sum((one for one, _ in costs), Decimal(0)),
        second_usd=sum((other for _, other in costs), Decimal(0)),
    )


def _verdict(pair: Pair, overloaded_batches: Container[int]) -> Verdict:
    is_late = any(sample.batch in overloaded_batches for sample in pair)
    if is_late or any(sample.outcome in _NOT_SENT for sample in pair):
        return "not_compared"
    first, second = (sample.outcome == "ok" for sample in pair)
    if first and second:
        return "both_ok"
    if first or second:
        return "second_failed" if first else "first_failed"
    return "both_failed"


def _difference(pairs: Sequence[Pair], figure: Callable[[Sample], float | None]) -> Difference:
    known = [
        (one, other)
        for one, other in ((figure(first), figure(second)) for first, second in pairs)
        if one is not None and other is not None
    ]
    differences = [one - other for one, other in known]
    low, high = interval(differences, 0.5) or (None, None)
    return Difference(
        n=len(known),
        first_p50_ms=quantile([one for one, _ in known], 0.5),
        second_p50_ms=quantile([other for _, other in known], 0.5),
        median_ms=quantile(differences, 0.5),
        low_ms=low,
        high_ms=high,
        first_wins_pct=(
            100 * sum(difference < 0 for difference in differences) / len(known) if known else None
        ),
    )


def _cost(sample: Sample, prices: Mapping[str, Price | None]) -> Decimal | None:
    price = prices.get(sample.target)
    if sample.cost_usd is not None or price is None:
        return sample.cost_usd
    return cost_of(sample, price)
