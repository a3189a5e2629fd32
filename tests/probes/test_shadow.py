"""A shadow test: which prompts go to whom, and how two targets compare on them."""

from __future__ import annotations

import random
from decimal import Decimal
from typing import Any

import pytest
from probe_plans import config_of, target
from probe_samples import failed, timed

from pipeline.probes.config import Price
from pipeline.probes.planning import PlannedBatch
from pipeline.probes.prompt import Prompt, prompt_of
from pipeline.probes.sample import Sample
from pipeline.probes.shadow import Comparison, compare, plan_shadow

CONFIG = config_of(target("a"), target("b"), warm_up=0)


def prompts(count: int) -> list[Prompt]:
    return [prompt_of("mine", [{"role": "user", "content": f"p{n}"}], 10) for n in range(count)]


def plan(count: int, share: float, *, concurrency: int = 1, seed: int = 1) -> list[PlannedBatch]:
    rng = random.Random(seed)  # noqa: S311 - draws, no secret
    return plan_shadow(CONFIG, prompts(count), share=share, concurrency=concurrency, rng=rng)


def sent_to(batches: list[PlannedBatch], name: str) -> list[str | None]:
    return [
        request.pair_id
        for batch in batches
        if batch.target.name == name
        for request in batch.requests
    ]


@pytest.mark.parametrize(("count", "share", "sent"), [(100, 0.05, 5), (10, 1.0, 10), (3, 0.05, 1)])
def test_a_share_of_the_prompts_goes_to_both_targets(count: int, share: float, sent: int) -> None:
    batches = plan(count, share)

    assert sent_to(batches, "a") == sent_to(batches, "b")
    assert len(set(sent_to(batches, "a"))) == sent


def test_the_sample_is_that_of_the_seed() -> None:
    assert sent_to(plan(100, 0.05), "a") == sent_to(plan(100, 0.05), "a")
    assert sent_to(plan(100, 0.05), "a") != sent_to(plan(100, 0.05, seed=2), "a")


def test_a_prompt_goes_to_one_target_right_after_the_other_and_either_may_be_first() -> None:
    batches = plan(100, 0.2)

    pairs = list(zip(batches[::2], batches[1::2], strict=True))
    assert all(one.requests == other.requests for one, other in pairs)
    assert {(one.target.name, other.target.name) for one, other in pairs} == {
        ("a", "b"),
        ("b", "a"),
    }


def test_as_many_prompts_go_out_together_as_there_are_streams() -> None:
    batches = plan(10, 1.0, concurrency=4)

    assert [len(batch.requests) for batch in batches] == [5, 5, 5, 5]
    assert {batch.concurrency for batch in batches} == {4}


def test_ones_own_prompts_go_as_they_are() -> None:
    assert not any(request.has_nonce for batch in plan(5, 1.0) for request in batch.requests)


def answered(name: str, pair: int, ttft_ms: float, e2e_ms: float, **more: Any) -> Sample:
    return timed(ttft_ms, e2e_ms, target=name, pair_id=str(pair), **more)


def compared(*samples: Sample, **how: Any) -> Comparison:
    return compare(samples, "a", "b", **({"prices": {}} | how))


def test_latencies_are_compared_pair_by_pair() -> None:
    # a - b: -100, -200, +50 ms end to end; -10, +20, +30 ms to the first token.
    found = compared(
        answered("a", 1, 100, 500), answered("b", 1, 110, 600),
        answered("a", 2, 120, 900), answered("b", 2, 100, 1100),
        answered("b", 3, 100, 650), answered("a", 3, 130, 700),
    )  # fmt: skip

    assert found.verdicts["both_ok"] == 3
    assert (found.e2e.n, found.e2e.median_ms) == (3, -100)
    assert (found.e2e.first_p50_ms, found.e2e.second_p50_ms) == (700, 650)
    assert found.e2e.first_wins_pct == pytest.approx(200 / 3)
    assert (found.e2e.low_ms, found.e2e.high_ms) == (None, None)
    assert (found.ttft.median_ms, found.ttft.first_wins_pct) == (20, pytest.approx(100 / 3))


def test_the_interval_of_a_median_of_six_differences_is_their_range() -> None:
    samples = [
        sample
        for pair, difference in enumerate((-5, 1, 2, 3, 4, 90))
        for sample in (answered("a", pair, 100, 500 + difference), answered("b", pair, 100, 500))
    ]

    # The median lies outside of all six with a probability of 2 / 2**6 = 3.1 %.
    assert (compared(*samples).e2e.low_ms, compared(*samples).e2e.high_ms) == (-5, 90)


def test_failures_are_counted_and_enter_no_latency() -> None:
    def broken(name: str, pair: int, outcome: str = "timeout") -> Sample:
        return failed(outcome, target=name, pair_id=str(pair))

    found = compared(
        answered("a", 1, 100, 500), answered("b", 1, 100, 600),
        answered("a", 2, 100, 500), broken("b", 2),
        broken("a", 3), answered("b", 3, 100, 500),
        broken("a", 4), broken("b", 4, "rate_limited"),
        answered("a", 5, 100, 500), broken("b", 5, "cancelled_budget"),
        answered("a", 6, 100, 500),
        answered("a", 7, 100, 500, phase="warm_up"),
    )  # fmt: skip

    assert found.verdicts == {
        "both_ok": 1,
        "second_failed": 1,
        "first_failed": 1,
        "both_failed": 1,
        "not_compared": 2,
    }
    assert found.e2e.n == 1


def test_pairs_for_which_the_probe_was_too_late_are_not_compared() -> None:
    found = compared(
        answered("a", 1, 100, 500, batch=1),
        answered("b", 1, 100, 600, batch=2),
        overloaded_batches={2},
    )

    assert found.verdicts == {"not_compared": 1}
    assert found.e2e.median_ms is None


def test_costs_are_those_reported_else_by_the_price_of_pairs_with_both() -> None:
    price = Price(input_usd_per_mtok=Decimal(1), output_usd_per_mtok=Decimal(10))
    found = compared(
        # By the price: 20 x 1 + 2 x 10 = 40 millionths.
        answered("a", 1, 100, 500), answered("b", 1, 100, 600, cost_usd=Decimal("0.00003")),
        answered("a", 2, 100, 500, cost_usd=Decimal("0.5")), answered("b", 2, 100, 600),
        prices={"a": price},
    )  # fmt: skip

    assert (found.cost_n, found.first_usd, found.second_usd) == (
        1,
        Decimal("0.00004"),
        Decimal("0.00003"),
    )
