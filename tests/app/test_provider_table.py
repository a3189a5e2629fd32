"""The provider table: order, labels, badges, and nulls that stay nulls."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import polars as pl
import pytest
from html_tables import cells
from provider_rows import NOW, endpoint, endpoints

from app.components import (
    formatting,
    market_index,
    provider_table,
)
from app.components.markup import Markup
from app.components.provider_notes import reading_notes
from app.components.provider_sorting import (
    FIRST_DIRECTIONS,
    SORT_LABELS,
    sort_labels,
    sorted_endpoints,
)
from app.components.table import Sort

HOSTILE = '<img src=x onerror="alert(1)">'


def shown(frame: pl.DataFrame, sort: str = "default") -> Markup:
    return provider_table.provider_table(frame, Sort(sort), now=NOW)


def test_a_cache_price_that_is_not_stated_is_not_taken_from_another_endpoint() -> None:
    table = shown(
        endpoints(
            endpoint(1, "Groq", cache_read_usd_per_mtok=Decimal("0.025")),
            endpoint(2, "Novita"),
        )
    )

    assert [row[4] for row in cells(table)] == ["0.025", formatting.MISSING]


def test_nulls_are_dashes_and_free_is_free() -> None:
    table = shown(
        endpoints(
            endpoint(
                1,
                "Acme",
                is_free=True,
                input_usd_per_mtok=Decimal(0),
                output_usd_per_mtok=Decimal(0),
            ),
            endpoint(2, "Other"),
        )
    )

    dash = formatting.MISSING
    assert cells(table)[0][2:4] == ["free", "free"]
    assert cells(table)[1][2:] == [dash] * 6 + ["8,192"] + [dash] * 3


def test_a_stale_row_is_dimmed_has_one_badge_and_names_when_it_was_seen() -> None:
    table = shown(
        endpoints(
            endpoint(1, "Groq"),
            endpoint(
                2, "Together", is_stale=True, last_seen_utc=datetime(2026, 10, 24, tzinfo=UTC)
            ),
        )
    )

    assert table.count(">stale<") == 1
    assert table.count('class="tt-stale"') == 1
    assert "last seen 2026-10-24" in table


def test_the_banner_names_the_oldest_sighting_of_a_stale_row() -> None:
    rows = [
        endpoint(1, "Groq", last_seen_utc=datetime(2026, 1, 1, tzinfo=UTC)),
        endpoint(2, "A", is_stale=True, last_seen_utc=datetime(2026, 11, 2, tzinfo=UTC)),
        endpoint(3, "B", is_stale=True, last_seen_utc=datetime(2026, 10, 24, tzinfo=UTC)),
    ]

    assert provider_table.stale_since(endpoints(*rows)) == datetime(2026, 10, 24, tzinfo=UTC)
    assert provider_table.stale_since(endpoints(rows[0])) is None


def test_tiers_discounts_and_conditional_prices_are_labelled() -> None:
    table = shown(
        endpoints(
            endpoint(1, "A", discount=Decimal("0.1"), overrides_json='[{"min_prompt_tokens": 1}]'),
            endpoint(2, "B", tier="flex"),
            endpoint(3, "C", discount=Decimal("-0.05")),
        )
    )

    types = [" ".join(row[1].split()) for row in cells(table)]
    assert types == ["API \u221210% discount 1 price tier", "API flex", "API +5.0% markup"]


def test_value_holds_the_badges_or_the_multiple_of_the_cheapest_input() -> None:
    table = shown(
        endpoints(
            endpoint(1, "A", input_usd_per_mtok=Decimal("0.02"), is_cheapest_input=True),
            endpoint(2, "B", input_usd_per_mtok=Decimal("0.05"), is_best_uptime=True),
            endpoint(3, "C", input_usd_per_mtok=Decimal("0.05")),
            endpoint(4, "D", input_usd_per_mtok=Decimal("0.03"), is_stale=True),
        )
    )

    values = [row[-1] for row in cells(table)]
    assert values == ["cheapest", "best uptime", "2.5\u00d7", formatting.MISSING]


@pytest.mark.parametrize(
    ("sort", "providers"),
    [
        ("default", ["B", "A", "C"]),
        ("input", ["C", "B", "A"]),
        ("-input", ["B", "C", "A"]),
        ("provider", ["A", "B", "C"]),
    ],
)
def test_a_null_sorts_last_in_both_directions(sort: str, providers: list[str]) -> None:
    frame = endpoints(
        endpoint(2, "A"),
        endpoint(1, "B", input_usd_per_mtok=Decimal("0.2")),
        endpoint(3, "C", input_usd_per_mtok=Decimal("0.1")),
    )

    assert sorted_endpoints(frame, Sort(sort))["provider_name"].to_list() == providers


def test_a_head_asks_for_its_better_end_first_and_then_for_the_other() -> None:
    frame = endpoints(endpoint(1, "A"))

    table = shown(frame, "-uptime")

    assert 'data-sort="uptime">Uptime' in table  # a second click turns it round
    assert 'data-sort="input">Input' in table
    assert 'data-sort="-context">Context' in table
    assert table.count('aria-sort="descending"') == 1


def test_every_sort_of_the_control_and_of_the_heads_is_possible() -> None:
    frame = endpoints(endpoint(1, "A"))

    for text in SORT_LABELS:
        assert sorted_endpoints(frame, Sort(text)).height == 1
    assert {sort.text for sort in FIRST_DIRECTIONS.values()} <= SORT_LABELS.keys()
    assert {sort.text for sort in market_index.FIRST_DIRECTIONS.values()} <= (
        market_index.SORT_LABELS.keys()
    )


def test_hostile_names_are_shown_as_text() -> None:
    table = shown(endpoints(endpoint(1, HOSTILE, tag=HOSTILE, quantization=HOSTILE)))

    assert "<img" not in table
    assert table.count("&lt;img") == 5


def test_the_notes_ask_for_a_key_only_where_speed_is_missing() -> None:
    without = endpoints(endpoint(1, "A"))
    with_speed = endpoints(endpoint(1, "A", reported_tokens_per_s_p50=50.0))

    assert "OPENROUTER_API_KEY" in reading_notes(without)
    assert "OPENROUTER_API_KEY" not in reading_notes(with_speed)


def measured(rank: int, provider: str, n: int, **values: Any) -> dict[str, Any]:
    seen = {"probe_n": n, "probe_is_trusted": True, "probe_last_at_utc": NOW - timedelta(hours=5)}
    return endpoint(rank, provider, **seen | values)


def test_our_figures_stand_beside_the_reported_ones_with_tail_count_and_age() -> None:
    ours = {
        "probe_ttft_p50_ms": 412.4,
        "probe_ttft_p95_ms": 1577.0,
        "probe_tokens_per_s_p50": 61.2,
        "probe_tokens_per_s_p05": 8.25,
    }
    table = shown(endpoints(measured(1, "A", 60, **ours), endpoint(2, "B")))

    rows = [[" ".join(cell.split()) for cell in row] for row in cells(table)]
    assert rows[0][7:10] == ["412 p95 1,577", "61 p5 8.2", "60 5 hours ago"]
    assert rows[1][7:10] == [formatting.MISSING] * 3
    assert "Not comparable with OpenRouter&#x27;s tok/s" in table


def test_a_tail_of_too_few_requests_is_said_to_be_one() -> None:
    table = shown(endpoints(measured(1, "A", 58, probe_ttft_p50_ms=100.0)))

    assert " ".join(cells(table)[0][7].split()) == "100 p95 n too small"
    assert 'title="p95 needs 59 requests; there are 58"' in table


def test_our_figures_say_when_they_are_untrusted() -> None:
    table = shown(endpoints(measured(1, "A", 60), measured(2, "B", 60, probe_is_trusted=False)))

    assert ["untrusted" in row[9] for row in cells(table)] == [False, True]


def test_our_columns_and_orders_are_there_only_where_something_was_measured() -> None:
    nothing = endpoints(endpoint(1, "A"))
    something = endpoints(measured(1, "A", 5))

    assert "Our TTFT" not in shown(nothing)
    assert "Our TTFT" in shown(something)
    assert "our_ttft" not in sort_labels(has_probes=False)
    assert sort_labels(has_probes=True) == SORT_LABELS
    assert "tokentape probe" in reading_notes(nothing)
    assert "TOKENTAPE_PROBES_FILE" in reading_notes(nothing)
    assert "measured by us" in reading_notes(something)


def test_our_figures_sort_best_first_and_what_was_not_measured_last() -> None:
    frame = endpoints(
        endpoint(1, "A"),
        measured(2, "B", 9, probe_ttft_p50_ms=300.0, probe_tokens_per_s_p50=10.0),
        measured(3, "C", 9, probe_ttft_p50_ms=200.0, probe_tokens_per_s_p50=5.0),
    )

    def order(key: str) -> list[str]:
        sorted_frame = sorted_endpoints(frame, FIRST_DIRECTIONS[key])
        return sorted_frame["provider_name"].to_list()

    assert order("our_ttft") == ["C", "B", "A"]
    assert order("our_speed") == ["B", "C", "A"]
