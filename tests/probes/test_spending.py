"""Costs in exact decimals, and the ledger of what was spent."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path

import pytest
from probe_samples import failed, sample

from pipeline.probes.config import DEFAULT_CONFIG, Price, load_probe_config
from pipeline.probes.prompts import prompts_of
from pipeline.probes.spending import SpendLedger, cost_of, estimate

PRICE = Price(input_usd_per_mtok=Decimal("0.075"), output_usd_per_mtok=Decimal("0.3"))
DAY = date(2026, 11, 30)
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def test_an_estimate_is_the_prompt_and_the_longest_answer() -> None:
    (prompts,) = prompts_of(load_probe_config(DEFAULT_CONFIG))
    (prompt,) = prompts.sequence(0)
    assert (prompt.estimated_prompt_tokens, prompt.max_tokens) == (135, 300)

    # 135 x 0.075 + 300 x 0.3 = 100.125 millionths
    assert estimate(prompt, PRICE) == Decimal("0.000100125")


def test_a_cost_is_exact_to_the_last_digit() -> None:
    price = Price(
        input_usd_per_mtok=Decimal("0.08333333333333333334"), output_usd_per_mtok=Decimal("0.1")
    )

    cost = cost_of(sample(prompt_tokens=3, completion_tokens=1), price)

    assert cost == Decimal("0.00000035000000000000000002")


@pytest.mark.parametrize(
    ("cached_tokens", "cache_price", "usd"),
    [
        (None, "0.01", "0.000150"),  # 1,000 x 0.1 + 100 x 0.5
        (800, "0.01", "0.000078"),  # 200 x 0.1 + 800 x 0.01 + 100 x 0.5
        (800, "0", "0.000070"),  # nothing for the cached ones
        (800, None, "0.000150"),  # no cache price stated: as input
        (2_000, "0.01", "0.000060"),  # no more can be cached than was sent
    ],
)
def test_cached_tokens_cost_the_cache_price_where_one_is_stated(
    cached_tokens: int | None, cache_price: str | None, usd: str
) -> None:
    price = Price(
        input_usd_per_mtok=Decimal("0.1"),
        output_usd_per_mtok=Decimal("0.5"),
        cache_read_usd_per_mtok=None if cache_price is None else Decimal(cache_price),
    )
    asked = sample(prompt_tokens=1_000, completion_tokens=100, cached_tokens=cached_tokens)

    assert cost_of(asked, price) == Decimal(usd)


def test_a_sample_without_counts_has_no_cost_rather_than_none_to_pay() -> None:
    assert cost_of(failed("timeout"), PRICE) is None
    assert cost_of(sample(prompt_tokens=None), PRICE) is None


def test_the_default_plan_stays_within_its_budget_at_any_price_of_its_market() -> None:
    config = load_probe_config(DEFAULT_CONFIG)
    # Twice as dear as the dearest of these targets was in 2026.
    dear = Price(input_usd_per_mtok=Decimal("0.15"), output_usd_per_mtok=Decimal("0.6"))
    (prompts,) = prompts_of(config)
    requests = len(config.providers) * len(config.concurrency) * config.runs
    warm_ups = len(config.providers) * sum(config.concurrency) * config.warm_up

    run_usd = (requests + warm_ups) * estimate(prompts.sequence(0)[0], dear)

    assert (requests, warm_ups) == (120, 66)
    assert config.budget.usd_per_run is not None
    assert config.budget.usd_per_day is not None
    assert run_usd < config.budget.usd_per_run
    assert 8 * run_usd < config.budget.usd_per_day


def test_spending_is_summed_exactly_by_the_day_in_utc(tmp_path: Path) -> None:
    ledger = SpendLedger(tmp_path / "new" / "spending.jsonl")
    assert ledger.spent_on(DAY) == 0

    for _ in range(10):
        ledger.add("run", NOON, Decimal("0.1"))
    ledger.add("run", NOON, Decimal("-0.05"))
    east = timezone(timedelta(hours=9))
    ledger.add("run", datetime(2026, 12, 1, 8, 59, tzinfo=east), Decimal(2))
    ledger.add("run", datetime(2026, 12, 1, 9, 0, tzinfo=east), Decimal(4))

    assert ledger.spent_on(DAY) == Decimal("2.95")
    assert ledger.spent_on(date(2026, 12, 1)) == 4


def test_a_torn_line_is_left_out_and_reported_and_the_next_one_stands_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "spending.jsonl"
    ledger = SpendLedger(path)
    ledger.add("run", NOON, Decimal(1))
    with path.open("ab") as file:
        file.write(b'{"at_utc": "2026-11-30T12:0')

    with caplog.at_level(logging.WARNING, "tokentape"):
        assert ledger.spent_on(DAY) == 1
    assert [record.getMessage() for record in caplog.records] == [
        f"{path}: line 2 is torn and left out"
    ]

    ledger.add("run", NOON, Decimal(2))
    assert ledger.spent_on(DAY) == 3


def test_writers_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "spending.jsonl"

    with ThreadPoolExecutor(8) as pool:
        for _ in range(40):
            pool.submit(SpendLedger(path).add, "run", NOON, Decimal("0.01"))

    assert SpendLedger(path).spent_on(DAY) == Decimal("0.40")
