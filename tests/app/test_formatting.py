"""Numbers, prices and ages as text."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from app.components import (
    formatting,
)

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def prices(*texts: str | None) -> list[Decimal | None]:
    return [None if text is None else Decimal(text) for text in texts]


@pytest.mark.parametrize(
    ("price", "text"),
    [
        ("0.02", "0.02"),
        ("0.020000000000000000", "0.02"),
        ("0.152", "0.152"),
        ("3", "3.00"),
        ("0", "0.00"),
        ("0.0375", "0.0375"),
        ("1E+2", "100.00"),
        ("0.123456789", "0.123457"),
    ],
)
def test_a_price_is_written_exactly_until_six_digits(price: str, text: str) -> None:
    assert formatting.price_text(Decimal(price)) == text


def test_two_prices_that_differ_are_never_written_the_same() -> None:
    shown = formatting.price_texts(
        prices("0.149", "0.152", "0.083333333333333333", "0.083333333333333334", "0.15", None)
    )

    assert shown == [
        "0.149",
        "0.152",
        "0.083333333333333333",
        "0.083333333333333334",
        "0.15",
        formatting.MISSING,
    ]


def test_the_points_of_a_price_column_stand_in_a_line() -> None:
    space = formatting.FIGURE_SPACE

    assert formatting.aligned(["0.152", "0.02", "free", "3.00"]) == [
        "0.152",
        f"0.02{space}",
        "free",
        f"3.00{space}",
    ]


@pytest.mark.parametrize(
    ("percent", "text"),
    [(100.0, "100.00%"), (99.996, "99.99%"), (57.29, "57.29%"), (0.0, "0.00%"), (None, "\u2013")],
)
def test_an_uptime_is_cut_so_that_only_all_of_it_is_a_hundred(
    percent: float | None, text: str
) -> None:
    assert formatting.uptime_text(percent) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (20, "just now"),
        (60, "1 minute ago"),
        (3 * 3600 + 59 * 60, "3 hours ago"),
        (47 * 3600, "47 hours ago"),
        (48 * 3600, "2 days ago"),
    ],
)
def test_an_age_is_told_in_the_largest_unit_that_fits(seconds: int, text: str) -> None:
    assert formatting.age_text(NOW - timedelta(seconds=seconds), NOW) == text


@pytest.mark.parametrize(
    ("percent", "text"),
    [(-33.3333, "\u221233%"), (8.75, "+8.8%"), (-0.04, "\u22120.040%"), (None, "")],
)
def test_a_change_keeps_its_sign_and_its_first_digit(percent: float | None, text: str) -> None:
    assert formatting.change_text(percent) == text


@pytest.mark.parametrize(
    ("percent", "text"),
    [
        (100.0, "100%"),
        (99.99, "99.9%"),
        (96.666, "96.7%"),
        (0.01, "0.1%"),
        (0.0, "0%"),
        (None, "\u2013"),
    ],
)
def test_a_share_is_all_or_none_only_when_it_is(percent: float | None, text: str) -> None:
    assert formatting.share_text(percent) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0836149, "0.0836"),
        (1.0, "1.00"),
        (41.32, "41.3"),
        (302.0, "302"),
        (999.6, "1,000"),
        (15400.2, "15,400"),
        (0.0000123, "0.0000123"),
        (0.0, "0.00"),
        (None, "\u2013"),
    ],
)
def test_a_measured_number_has_three_digits(number: float | None, text: str) -> None:
    assert formatting.three_digits(number) == text
