"""What a request and a month cost, to the cent and below, worked by hand."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from workload_rows import endpoint

from pipeline.workload.costs import (
    READ_AS_INPUT,
    WRITTEN_AS_INPUT,
    Cost,
    mean_request_cost,
    monthly_cost,
    request_cost,
)
from pipeline.workload.shape import Workload, WrongWorkload, hours_between
from pipeline.workload.tariff import tariff_of

NOON = datetime(2026, 12, 2, 12, tzinfo=UTC)
USUAL = Workload(input_tokens=1000, output_tokens=500, requests_per_month=100_000)


def at_noon(row: dict[str, Any], workload: Workload) -> Decimal | None:
    return request_cost(tariff_of(row), workload, NOON).usd


def month(row: dict[str, Any], workload: Workload) -> Decimal | None:
    return monthly_cost(tariff_of(row), workload).usd


def test_input_and_output_are_billed_by_their_prices() -> None:
    # 1,000 x 0.02/M + 500 x 0.04/M = 0.00002 + 0.00002
    row = endpoint(input="0.02", output="0.04")
    assert at_noon(row, USUAL) == Decimal("0.00004")
    assert month(row, USUAL) == Decimal("4")


@pytest.mark.parametrize(
    ("share", "usd"),
    [
        ("0", "0.005"),  # 1,000 x 3/M + 500 x 4/M
        ("0.5", "0.00365"),  # 500 x 3/M + 500 x 0.3/M + 500 x 4/M
        ("1", "0.0023"),  # 1,000 x 0.3/M + 500 x 4/M
    ],
)
def test_the_cached_share_is_billed_by_the_cache_price(share: str, usd: str) -> None:
    row = endpoint(input="3", output="4", cache_read="0.3")
    assert at_noon(row, replace(USUAL, cached_share=Decimal(share))) == Decimal(usd)


def test_without_a_cache_price_cached_tokens_are_billed_as_input_and_it_is_said() -> None:
    row = endpoint(input="3", output="4")
    cost = monthly_cost(tariff_of(row), replace(USUAL, cached_share=Decimal("0.5")))
    assert cost == Cost(Decimal(500), assumed=(READ_AS_INPUT,))


def test_nothing_is_assumed_where_nothing_is_cached() -> None:
    assert mean_request_cost(tariff_of(endpoint(input="3", output="4")), USUAL).assumed == ()


def test_tokens_written_to_a_cache_are_billed_by_their_price() -> None:
    # 200 x 3/M + 600 x 0.3/M + 200 x 3.75/M + 500 x 15/M
    workload = replace(USUAL, cached_share=Decimal("0.6"), written_share=Decimal("0.2"))
    row = endpoint(input="3", output="15", cache_read="0.3", cache_write="3.75")
    assert at_noon(row, workload) == Decimal("0.00903")
    cost = request_cost(tariff_of(row | {"cache_write_usd_per_mtok": None}), workload, NOON)
    assert cost == Cost(Decimal("0.00888"), assumed=(WRITTEN_AS_INPUT,))


def test_a_price_per_request_is_added_once() -> None:
    row = endpoint(input="0", output="0", others={"request": "0.005"})
    assert at_noon(row, USUAL) == Decimal("0.005")
    assert month(row, USUAL) == 500


def test_free_stays_free() -> None:
    cost = monthly_cost(tariff_of(endpoint(input="0", output="0", is_free=True)), USUAL)
    assert cost.is_free
    assert cost.usd == 0


def test_a_needed_price_that_is_not_stated_gives_no_cost_and_says_which() -> None:
    cost = monthly_cost(tariff_of(endpoint(input="1")), USUAL)
    assert cost == Cost(None, "no output price is stated")


def test_a_price_that_is_not_needed_may_be_missing() -> None:
    assert at_noon(endpoint(input="1"), replace(USUAL, output_tokens=0)) == Decimal("0.001")


def test_a_price_under_a_condition_not_understood_gives_no_cost_and_says_why() -> None:
    row = endpoint(input="1", output="1", overrides=[{"plan": 3, "prompt": "0.000002"}])
    cost = monthly_cost(tariff_of(row), USUAL)
    assert cost.usd is None
    assert cost.lacks == "input price: it depends on plan, not understood here"


def test_one_token_more_than_the_bound_costs_the_whole_prompt_more() -> None:
    # Claude's list: above 200,000 tokens 6 and 22.5 instead of 3 and 15.
    tier = {"min_prompt_tokens": 200_000, "prompt": "0.000006", "completion": "0.0000225"}
    row = endpoint(input="3", output="15", overrides=[tier])
    # 200,000 x 3/M + 1,000 x 15/M; 200,001 x 6/M + 1,000 x 22.5/M
    assert at_noon(row, Workload(200_000, 1000)) == Decimal("0.615")
    assert at_noon(row, Workload(200_001, 1000)) == Decimal("1.222506")


def test_cached_tokens_count_towards_the_length_of_the_prompt() -> None:
    tier = {"min_prompt_tokens": 100, "prompt": "0.000002", "input_cache_read": "0.000001"}
    row = endpoint(input="1", output="0", cache_read="0.5", overrides=[tier])
    # 101 tokens, all cached, at 1/M: 101 / 1,000,000
    assert at_noon(row, Workload(101, 0, cached_share=Decimal(1))) == Decimal("0.000101")


# DeepSeek's list: half price from 16:30 to 00:30 UTC.
DAY = {"utc_start": 30, "utc_end": 1630, "prompt": "0.00000028", "completion": "0.00000042"}
NIGHT = {"utc_start": 1630, "utc_end": 30, "prompt": "0.00000014", "completion": "0.00000021"}
TIMED = endpoint(input="0.28", output="0.42", overrides=[DAY, NIGHT])
# A request costs 0.00049 by day (280 + 210 millionths) and 0.000245 by night.


@pytest.mark.parametrize(
    ("start", "end", "usd"),
    [
        (1, 16, "49"),  # day only
        (17, 0, "24.5"),  # night only
        (0, 1, "36.75"),  # half an hour each
        (16, 17, "36.75"),
        (22, 2, "33.6875"),  # 2.5 hours of night, 1.5 of day: (61.25 + 73.5) / 4
        (0, 0, "40.8333333333"),  # 8 hours of night, 16 of day: 122.5 / 3
    ],
)
def test_a_month_averages_over_the_chosen_hours_to_the_minute(
    start: int, end: int, usd: str
) -> None:
    cost = month(TIMED, replace(USUAL, hours=hours_between(start, end)))
    assert cost is not None
    assert round(cost, 10) == Decimal(usd)


@pytest.mark.parametrize(
    ("order", "usd"),
    [
        # Night and long both name the prompt price: the later one holds from 16:30 to 00:30.
        (["long", "night"], "0.00000014"),
        (["night", "long"], "0.0000009"),
    ],
)
def test_tiers_and_windows_together_follow_the_order_of_the_list(
    order: list[str], usd: str
) -> None:
    entries = {"night": NIGHT, "long": {"min_prompt_tokens": 999, "prompt": "0.0000009"}}
    row = endpoint(input="0.28", output="0", overrides=[entries[name] for name in order])
    workload = Workload(1000, 0, requests_per_month=10_000, hours=frozenset({20}))
    assert month(row, workload) == Decimal(usd) * 1000 * 10_000


def test_days_of_the_week_weigh_as_many_as_are_chosen() -> None:
    weekend = {"utc_days": ["saturday", "sunday"], "prompt": "0.0000003"}
    row = endpoint(input="1", output="0", overrides=[weekend])
    workload = Workload(1_000_000, 0, requests_per_month=7)
    # Five days at 1 and two at 0.3; a Friday and a Saturday at 1.3 / 2 each
    assert month(row, workload) == Decimal("5.6")
    assert month(row, replace(workload, weekdays=frozenset({4, 5}))) == Decimal("4.55")


def test_a_price_missing_in_one_window_gives_no_mean() -> None:
    row = endpoint(input="1", output="1", overrides=[{"utc_start": 300, "prompt": "-1"}])
    assert month(row, USUAL) is None
    assert month(row, replace(USUAL, hours=hours_between(0, 3))) == 150


def test_the_longest_price_on_record_is_not_rounded() -> None:
    # 1,000 x 0.08333333333333334/M x 100,000 requests
    row = endpoint(input="0.08333333333333334", output="0")
    assert month(row, USUAL) == Decimal("8.333333333333334")


def test_no_requests_cost_nothing() -> None:
    assert month(TIMED, replace(USUAL, requests_per_month=0)) == 0


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"input_tokens": -1}, "input_tokens is -1"),
        ({"cached_share": Decimal("1.1")}, "cached_share 1.1"),
        ({"cached_share": Decimal("0.6"), "written_share": Decimal("0.5")}, "at most 1"),
        ({"hours": frozenset()}, "choose some of 0 to 23"),
        ({"hours": frozenset({24})}, "choose some of 0 to 23"),
        ({"weekdays": frozenset({7})}, "choose some of 0 to 6"),
    ],
)
def test_a_workload_that_cannot_be_is_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(WrongWorkload, match=message):
        replace(USUAL, **wrong)


def test_hours_run_through_midnight_and_the_same_hour_twice_is_the_day() -> None:
    assert hours_between(22, 2) == {22, 23, 0, 1}
    assert hours_between(9, 10) == {9}
    assert len(hours_between(5, 5)) == 24
