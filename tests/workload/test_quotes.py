"""What an endpoint asks for a workload, with its limits, notes and the prices it rests on."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from workload_rows import endpoint

from pipeline.workload.quotes import basis_of, prices_of, quote_endpoint, quotes_by_cost
from pipeline.workload.shape import Workload, hours_between

USUAL = Workload(1000, 500, requests_per_month=1000)
NIGHT = {"utc_start": 1630, "utc_end": 30, "prompt": "0.0000005"}


def test_cheapest_comes_first_then_no_cost_then_what_is_not_offered() -> None:
    rows = [
        endpoint(endpoint_id="dear", input="3", output="3"),
        endpoint(endpoint_id="small", input="0.1", output="0.1", context_length=1000),
        endpoint(endpoint_id="unpriced"),
        endpoint(endpoint_id="stale", input="0.1", output="0.1", is_stale=True),
        endpoint(endpoint_id="free", input="0", output="0"),
        endpoint(endpoint_id="cheap", input="1", output="1"),
    ]
    order = [quote.record["endpoint_id"] for quote in quotes_by_cost(rows, USUAL)]
    assert order == ["free", "cheap", "dear", "unpriced", "small", "stale"]


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"context_length": 1499}, "prompt and answer of 1,500 tokens exceed its context of 1,499"),
        ({"max_prompt_tokens": 999}, "prompt of 1,000 tokens exceed its longest prompt of 999"),
        ({"max_completion_tokens": 499}, "answer of 500 tokens exceed its longest answer of 499"),
    ],
)
def test_a_request_that_does_not_fit_says_why(limits: dict[str, Any], said: str) -> None:
    assert quote_endpoint(endpoint(input="1", output="1", **limits), USUAL).limits == (said,)


def test_a_request_that_just_fits_does() -> None:
    limits = {"context_length": 1500, "max_prompt_tokens": 1000, "max_completion_tokens": 500}
    assert quote_endpoint(endpoint(input="1", output="1", **limits), USUAL).limits == ()


def test_a_context_of_zero_is_not_stated() -> None:
    assert quote_endpoint(endpoint(input="1", output="1", context_length=0), USUAL).is_offered


@pytest.mark.parametrize("tier", ["flex", "priority", "batch"])
def test_other_tiers_are_labelled(tier: str) -> None:
    notes = quote_endpoint(endpoint(input="1", output="1", tier=tier), USUAL).notes
    assert notes[0].startswith(tier)


def test_a_price_of_reasoning_of_its_own_is_said() -> None:
    row = endpoint(input="1", output="2", others={"internal_reasoning": "0.000003"})
    assert "reasoning tokens have a price of their own, left out here" in (
        quote_endpoint(row, USUAL).notes
    )
    same = endpoint(input="1", output="2", others={"internal_reasoning": "0.000002"})
    assert quote_endpoint(same, USUAL).notes == ()


@pytest.mark.parametrize(
    ("seen_at", "hours", "is_said"),
    [
        (20, (0, 0), True),  # listed in the window, and hours outside it are asked for
        (20, (17, 23), False),  # all hours asked for lie in the window
        (12, (0, 0), False),  # listed outside the window: that is the price there
    ],
)
def test_a_price_that_may_be_that_of_a_window_only_is_said(
    seen_at: int, hours: tuple[int, int], is_said: bool
) -> None:
    seen = datetime(2026, 11, 30, seen_at, tzinfo=UTC)
    row = endpoint(input="1", output="1", overrides=[NIGHT], observed_at_utc=seen)
    notes = quote_endpoint(row, Workload(1000, 500, hours=hours_between(*hours))).notes
    assert (notes == ("outside its price windows the price as last listed is used",)) is is_said


def test_the_basis_names_the_conditions_that_held() -> None:
    tier = {"min_prompt_tokens": 999, "completion": "0.000009"}
    row = endpoint(input="1", output="2", overrides=[tier, NIGHT])
    parts = quote_endpoint(row, USUAL).parts
    assert [basis_of(part) for part in parts] == [
        "prompts above 999 tokens, 16:30 to 00:30 UTC",
        "prompts above 999 tokens",
        "prompts above 999 tokens, 16:30 to 00:30 UTC",
    ]
    assert prices_of(parts[0])["input"] == Decimal("0.5")
    assert prices_of(parts[1])["input"] == 1
    assert prices_of(parts[1])["output"] == 9
    assert prices_of(parts[1])["cache read"] is None


def test_without_conditions_the_basis_is_the_list() -> None:
    (part,) = quote_endpoint(endpoint(input="1", output="2"), USUAL).parts
    assert basis_of(part) == "listed price"
