"""The budget of a run: estimated before, reserved and settled while it runs, hard at its end."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from probe_plans import NOON, config_of, target
from probe_samples import failed, sample

from pipeline.probes.budget import BudgetError, RunBudget, estimates_of, usd_text
from pipeline.probes.config import Price
from pipeline.probes.planning import PlannedBatch, PlannedRequest
from pipeline.probes.prompt import Prompt
from pipeline.probes.spending import SpendLedger

# (100 x 1 USD + 1,000 x 2 USD) / 1,000,000 = 0.0021 USD a request at most.
PRICE = Price(input_usd_per_mtok=Decimal(1), output_usd_per_mtok=Decimal(2))
PROMPT = Prompt("short_chat", (), 1000, estimated_prompt_tokens=100, sha256="0" * 64)
FREE = Price(input_usd_per_mtok=Decimal(0), output_usd_per_mtok=Decimal(0))


def batch(requests: int, concurrency: int = 1) -> PlannedBatch:
    found = config_of(target("a")).providers[0]
    planned = (PlannedRequest(PROMPT),) * requests
    return PlannedBatch(found, "short_chat", "measure", concurrency, 1, planned)


def budget_of(ledger: SpendLedger, price: Price | None = PRICE, **limits: Any) -> RunBudget:
    budget = config_of(budget={"usd_per_run": None, "usd_per_day": None} | limits).budget
    return RunBudget(budget, {"a": price}, ledger, "run", lambda: NOON)


@pytest.fixture
def ledger(tmp_path: Path) -> SpendLedger:
    return SpendLedger(tmp_path / "spend.jsonl")


def spent_today(ledger: SpendLedger) -> Decimal:
    return ledger.spent_on(NOON.date())


def test_an_estimate_is_the_worst_case_of_all_requests() -> None:
    (found,) = estimates_of([batch(3), batch(2)], {"a": PRICE}).values()

    assert (found.requests, found.prompt_tokens, found.completion_tokens) == (5, 500, 5000)
    assert found.usd == Decimal("0.0105")


def test_an_estimate_without_a_price_is_not_zero() -> None:
    (found,) = estimates_of([batch(3)], {"a": None}).values()

    assert found.usd is None


def test_a_run_that_may_cost_more_than_its_limit_is_refused(ledger: SpendLedger) -> None:
    budget = budget_of(ledger, usd_per_run="0.0104")

    budget.require(estimates_of([batch(4)], {"a": PRICE}))
    with pytest.raises(BudgetError) as error:
        budget.require(estimates_of([batch(5)], {"a": PRICE}))

    assert str(error.value) == (
        "the run may cost 0.0105 USD, budget.usd_per_run is 0.0104; "
        "lower runs, prompts, concurrency or max_tokens, or raise budget.usd_per_run"
    )


def test_what_was_spent_today_counts_before_a_run(ledger: SpendLedger) -> None:
    ledger.add("earlier", NOON, Decimal("0.99"))
    budget = budget_of(ledger, usd_per_day="1")

    with pytest.raises(BudgetError, match=r"usd_per_day is 1\.00, of which 0\.01 are left today"):
        budget.require(estimates_of([batch(5)], {"a": PRICE}))


def test_a_batch_is_cut_to_what_fits(ledger: SpendLedger) -> None:
    budget = budget_of(ledger, usd_per_run="0.0063")

    assert budget.reserve(batch(5)) == (3, "budget.usd_per_run")
    assert spent_today(ledger) == Decimal("0.0063")


def test_a_batch_is_not_cut_below_its_streams(ledger: SpendLedger) -> None:
    budget = budget_of(ledger, usd_per_run="0.0063")

    assert budget.reserve(batch(5, concurrency=4)) == (0, "budget.usd_per_run")
    assert spent_today(ledger) == 0
    assert budget.reserve(batch(5, concurrency=3)) == (3, "budget.usd_per_run")


def test_the_tighter_of_two_limits_holds(ledger: SpendLedger) -> None:
    ledger.add("earlier", NOON, Decimal("0.9958"))
    budget = budget_of(ledger, usd_per_run="0.25", usd_per_day="1")

    assert budget.reserve(batch(5)) == (2, "budget.usd_per_day")


def test_a_reserve_is_settled_by_what_was_reported_else_counted_else_as_reserved(
    ledger: SpendLedger,
) -> None:
    budget = budget_of(ledger, usd_per_run="1")
    budget.reserve(batch(5))

    budget.settle(
        batch(5),
        [
            sample(cost_usd=Decimal("0.0000307")),
            # 20 x 1 + 4 x 2 = 28 millionths.
            sample(cost_usd=None),
            failed("timeout"),
            failed("rate_limited", http_status=429),
            failed("http_error", http_status=None, sent_ns=None),
        ],
    )

    # 0.0000307 + 0.000028 + 0.0021 + 0 + 0
    assert budget.total == Decimal("0.0021587")
    assert budget.spent == {"a": Decimal("0.0021587")}
    assert spent_today(ledger) == Decimal("0.0021587")


def test_a_run_stops_to_the_cent_where_its_budget_ends(ledger: SpendLedger) -> None:
    budget = budget_of(ledger, usd_per_run="0.0200")
    sent = 0
    for _ in range(4):
        fitting, _limit = budget.reserve(batch(4))
        budget.settle(batch(fitting), [failed("timeout")] * fitting)
        sent += fitting

    # Nine cost 0.0189; a tenth would make it 0.0210.
    assert sent == 9
    assert budget.total == spent_today(ledger) == Decimal("0.0189")


def test_a_killed_run_has_its_reserve_in_the_ledger(ledger: SpendLedger) -> None:
    budget_of(ledger, usd_per_run="1").reserve(batch(2))

    next_run = budget_of(ledger, usd_per_day="0.0083")

    # 0.0083 - 0.0042 = 0.0041: one request.
    assert next_run.reserve(batch(2)) == (1, "budget.usd_per_day")


def test_a_free_target_costs_nothing(ledger: SpendLedger) -> None:
    budget = budget_of(ledger, FREE, usd_per_run="0.000001")
    budget.require(estimates_of([batch(500)], {"a": FREE}))

    assert budget.reserve(batch(500))[0] == 500
    budget.settle(batch(1), [failed("timeout")])
    assert spent_today(ledger) == 0


def test_a_target_without_a_price_is_not_held_back_but_what_it_reports_counts(
    ledger: SpendLedger,
) -> None:
    budget = budget_of(ledger, None, usd_per_run="0.01")

    assert budget.reserve(batch(500))[0] == 500
    budget.settle(batch(1), [sample(cost_usd=Decimal("0.004"))])
    assert budget.total == spent_today(ledger) == Decimal("0.004")


@pytest.mark.parametrize(
    ("usd", "text"),
    [
        ("0", "0.00"),
        ("1.5", "1.50"),
        ("0.0189", "0.0189"),
        ("0.0000004", "0.0000004"),
        ("12", "12.00"),
    ],
)
def test_an_amount_has_two_to_eight_decimals(usd: str, text: str) -> None:
    assert usd_text(Decimal(usd)) == text
