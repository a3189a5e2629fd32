"""The table of costs and the strip of hours: what is dear, and what that rests on."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from html_tables import cells
from workload_rows import endpoint

from app.components.workload_strip import price_strips, strip_table, timed
from app.components.workload_table import workload_table
from pipeline.workload.quotes import quotes_by_cost
from pipeline.workload.shape import Workload, hours_between

USUAL = Workload(1000, 500, cached_share=Decimal("0.5"), requests_per_month=1000)
NIGHT = {"utc_start": 1630, "utc_end": 30, "prompt": "0.0000005"}
HOSTILE = '<img src=x onerror="alert(1)">'


def test_each_row_says_cost_multiple_prices_and_what_was_assumed() -> None:
    rows = [
        endpoint(provider_name="Cheap", input="1", output="2", cache_read="0.2"),
        # 1,000 x 2/M + 500 x 4/M, cached tokens billed as input
        endpoint(provider_name="Plain", input="2", output="4"),
        endpoint(provider_name="Open", input="2"),
        endpoint(provider_name="Gone", input="2", output="4", is_stale=True),
    ]
    shown = cells(workload_table(quotes_by_cost(rows, USUAL), USUAL))
    # 500 x 1/M + 500 x 0.2/M + 500 x 2/M = 0.0016
    cheap, plain, no_cost, gone = ([text.strip() for text in row] for row in shown)
    assert cheap[0].startswith("Cheap")
    assert "cheapest" in cheap[0]
    assert cheap[1:4] == ["0.0016", "1.60", "1\u00d7"]
    assert cheap[4].startswith("1.00 in, 2.00 out, 0.20 cached")
    assert plain[1:4] == ["0.0040", "4.00", "2.5\u00d7"]
    assert plain[5] == "no cache price: cached tokens billed as input"
    assert no_cost[1:4] == ["not known", "not known", "\u2013"]
    assert "no output price is stated" in no_cost[5]
    assert gone[3] == "\u2013"
    assert "last seen 2026-11-30" in gone[5]


def test_free_and_other_tiers_never_set_what_the_others_are_held_against() -> None:
    rows = [
        endpoint(provider_name="Free", input="0", output="0"),
        endpoint(provider_name="Flex", input="0.5", output="0.5", tier="flex"),
        endpoint(provider_name="Paid", input="1", output="1"),
    ]
    shown = [
        [t.strip() for t in row]
        for row in cells(workload_table(quotes_by_cost(rows, USUAL), USUAL))
    ]
    assert [row[2] for row in shown] == ["free", "0.75", "1.50"]
    assert [row[3] for row in shown] == ["\u2013", "0.5\u00d7", "1\u00d7"]
    assert "cheapest" in shown[2][0]


def test_a_table_shows_hostile_names_as_text() -> None:
    row = endpoint(provider_name=HOSTILE, tag=HOSTILE, input="1", output="1", overrides=[NIGHT])
    quotes = quotes_by_cost([row], USUAL)
    for shown in (workload_table(quotes, USUAL), price_strips(timed(quotes), USUAL)):
        assert "<img" not in shown
        assert "&lt;img" in shown


def test_the_strip_shows_the_whole_day_whatever_hours_are_chosen() -> None:
    rows = [
        endpoint(input="1", output="0", overrides=[NIGHT]),
        endpoint(provider_name="Steady", input="1", output="0"),
    ]
    workload = Workload(1000, 0, hours=hours_between(9, 10))
    quotes = timed(quotes_by_cost(rows, workload))
    assert strip_table(quotes, workload).rows() == [
        ("Acme", "00:00", "00:30", "0.00050"),
        ("Acme", "00:30", "16:30", "0.0010"),
        ("Acme", "16:30", "24:00", "0.00050"),
    ]
    strips = price_strips(quotes, workload)
    assert strips.count("tt-hour-low") == 2
    assert strips.count("tt-hour-high") == 1
    assert "flex-grow: 960" in strips


def test_days_of_their_own_get_a_strip_each() -> None:
    weekend = {"utc_days": ["saturday", "sunday"], "prompt": "0.0000005"}
    quotes = timed(quotes_by_cost([endpoint(input="1", output="0", overrides=[weekend])], USUAL))
    names = strip_table(quotes, replace(USUAL, output_tokens=0))["Provider"].to_list()
    assert names[0] == "Acme, Monday"
    assert names[-1] == "Acme, Sunday"
    assert len(names) == 7
