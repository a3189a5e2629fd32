"""Amounts of money: to the cent, finer where a cent would hide something."""

from __future__ import annotations

from decimal import Decimal

import pytest

from app.components.workload_money import money_cells, money_texts
from pipeline.workload.costs import Cost


@pytest.mark.parametrize(
    ("amounts", "texts"),
    [
        (["40.8333", "122.5", "1234567.891"], ["40.83", "122.50", "1,234,567.89"]),
        (["0.005"], ["0.0050"]),
        (["0.00003249"], ["0.000032"]),
        (["0.004", "0.0041"], ["0.0040", "0.0041"]),
        # 2.344 and 2.3449 are both 2.34 cents-wise, yet not the same
        (["2.344", "2.3449", "9"], ["2.344", "2.345", "9.00"]),
        (["0.125", "0.135"], ["0.13", "0.14"]),  # half up
        (["0"], ["free"]),
        (["0.999"], ["1.00"]),
    ],
)
def test_amounts_are_rounded_to_the_cent_unless_that_hides_a_difference(
    amounts: list[str], texts: list[str]
) -> None:
    assert money_texts([Decimal(amount) for amount in amounts]) == texts


def test_the_same_amount_twice_is_no_difference() -> None:
    assert money_texts([Decimal("1.5"), Decimal("1.50"), None]) == ["1.50", "1.50", "\u2013"]


def test_a_cost_that_is_not_known_says_what_it_lacks() -> None:
    known, unknown = money_cells([Cost(Decimal("1.234567")), Cost(None, "no <b> price is stated")])
    assert 'title="1.234567 USD"' in known
    assert ">1.23<" in known
    assert "not known" in unknown
    assert 'title="no &lt;b&gt; price is stated"' in unknown


def test_the_largest_amounts_are_written_in_full() -> None:
    third = Cost(Decimal("123456789012345678901234567890.125"))
    assert ">123,456,789,012,345,678,901,234,567,890.13<" in money_cells([third])[0]
    assert 'title="123456789012345678901234567890.125 USD"' in money_cells([third])[0]
