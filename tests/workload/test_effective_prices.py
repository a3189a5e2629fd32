"""Which prices hold for a prompt of some length at some time: the contract, rule by rule."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from workload_rows import endpoint

from pipeline.workload.tariff import effective_prices, tariff_of

BERLIN = ZoneInfo("Europe/Berlin")
NOON = datetime(2026, 12, 2, 12, tzinfo=UTC)  # a Wednesday


def per_mtok(
    overrides: list[dict[str, Any]], *, tokens: int = 1000, at: datetime = NOON, key: str = "prompt"
) -> Decimal | None:
    row = endpoint(input="1", output="2", cache_read="0.1", overrides=overrides)
    price = effective_prices(tariff_of(row), tokens, at).prices[key]
    return None if price is None else price * 1_000_000


def clock(hour: int, minute: int = 0) -> datetime:
    return NOON.replace(hour=hour, minute=minute)


NIGHT = {"utc_start": 1630, "utc_end": 30, "prompt": "0.0000005"}
LONG = {"min_prompt_tokens": 1000, "prompt": "0.000003"}


def test_the_bound_of_prompt_tokens_is_strict() -> None:
    assert per_mtok([LONG], tokens=1000) == 1
    assert per_mtok([LONG], tokens=1001) == 3


@pytest.mark.parametrize(
    ("at", "price"),
    [
        (clock(16, 29), "1"),
        (clock(16, 30), "0.5"),
        (clock(23, 59), "0.5"),
        (clock(0, 0), "0.5"),
        (clock(0, 29), "0.5"),
        (clock(0, 30), "1"),
    ],
)
def test_a_window_may_wrap_midnight_and_holds_its_start_but_not_its_end(
    at: datetime, price: str
) -> None:
    assert per_mtok([NIGHT], at=at) == Decimal(price)


def test_a_window_may_end_with_the_day() -> None:
    evening = {"utc_start": 1800, "utc_end": 2400, "prompt": "0.000002"}
    assert per_mtok([evening], at=clock(23, 59)) == 2
    assert per_mtok([evening], at=clock(0)) == 1


def test_a_window_without_length_never_holds() -> None:
    assert per_mtok([{"utc_start": 600, "utc_end": 600, "prompt": "9"}], at=clock(6)) == 1


def test_every_condition_of_an_entry_must_hold() -> None:
    both = [LONG | NIGHT]
    assert per_mtok(both, tokens=1001, at=clock(20)) == Decimal("0.5")
    assert per_mtok(both, tokens=1001, at=clock(12)) == 1
    assert per_mtok(both, tokens=1000, at=clock(20)) == 1


def test_of_two_entries_that_hold_the_later_one_wins() -> None:
    assert per_mtok([LONG, NIGHT], tokens=5000, at=clock(20)) == Decimal("0.5")
    assert per_mtok([NIGHT, LONG], tokens=5000, at=clock(20)) == 3


def test_the_later_entry_wins_for_the_keys_that_it_names_only() -> None:
    entries = [LONG | {"completion": "0.000009"}, NIGHT]
    assert per_mtok(entries, tokens=5000, at=clock(20), key="prompt") == Decimal("0.5")
    assert per_mtok(entries, tokens=5000, at=clock(20), key="completion") == 9
    assert per_mtok(entries, tokens=5000, at=clock(20), key="input_cache_read") == Decimal("0.1")


def test_a_lower_bound_that_stands_later_wins_over_a_higher_one() -> None:
    entries = [
        {"min_prompt_tokens": 128000, "prompt": "0.000005"},
        {"min_prompt_tokens": 32000, "prompt": "0.000003"},
    ]
    assert per_mtok(entries, tokens=200000) == 3


def test_an_entry_without_conditions_always_holds() -> None:
    assert per_mtok([{"prompt": "0.000004"}]) == 4


def test_a_null_price_or_condition_counts_as_absent() -> None:
    assert per_mtok([{"min_prompt_tokens": None, "prompt": None, "completion": "0"}]) == 1
    assert per_mtok([{"min_prompt_tokens": None, "completion": "0"}], key="completion") == 0


def test_days_of_the_week_are_those_of_utc() -> None:
    weekend = {"utc_days": ["saturday", "sunday"], "prompt": "0.0000002"}
    sunday_late = datetime(2026, 12, 6, 23, 59, tzinfo=UTC)
    assert per_mtok([weekend], at=sunday_late) == Decimal("0.2")
    assert per_mtok([weekend], at=datetime(2026, 12, 7, tzinfo=UTC)) == 1


@pytest.mark.parametrize(
    ("local", "price"),
    [
        # Berlin puts its clocks back on 25 October 2026: 02:45 happens twice, an hour apart.
        (datetime(2026, 10, 25, 2, 45, fold=0, tzinfo=BERLIN), "0.5"),  # 00:45 UTC
        (datetime(2026, 10, 25, 2, 45, fold=1, tzinfo=BERLIN), "1"),  # 01:45 UTC
        (datetime(2026, 7, 1, 2, 59, tzinfo=BERLIN), "0.5"),  # 00:59 UTC, summer time
        (datetime(2026, 12, 1, 2, 0, tzinfo=BERLIN), "1"),  # 01:00 UTC, winter time
    ],
)
def test_the_clock_is_utc_whatever_summer_time_does(local: datetime, price: str) -> None:
    night = {"utc_start": 1630, "utc_end": 100, "prompt": "0.0000005"}
    assert per_mtok([night], at=local) == Decimal(price)


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="has no time zone"):
        per_mtok([], at=datetime(2026, 12, 1, 12))  # noqa: DTZ001 - that is the point


@pytest.mark.parametrize(
    "riddle",
    [
        {"max_prompt_tokens": 5},
        {"utc_start": 1675, "utc_end": 1800},
        {"utc_days": ["someday"]},
        {"min_prompt_tokens": "many"},
    ],
)
def test_a_condition_that_is_not_understood_leaves_its_prices_unknown(
    riddle: dict[str, Any],
) -> None:
    entry = riddle | {"prompt": "0.000002"}
    assert per_mtok([entry]) is None
    assert per_mtok([entry], key="completion") == 2
    assert per_mtok([entry, {"prompt": "0.000004"}]) == 4


def test_a_new_price_in_an_entry_is_no_condition() -> None:
    assert per_mtok([{"video": "0.01", "prompt": "0.000002"}]) == 2


def test_a_negative_price_is_none() -> None:
    assert per_mtok([{"prompt": "-1"}]) is None
