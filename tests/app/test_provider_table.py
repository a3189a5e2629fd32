"""The provider table: order, labels, badges, and nulls that stay nulls."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import polars as pl
import pytest
from html_tables import cells

from app.components import (
    formatting,
    market_index,
    provider_table,
)
from app.components.provider_sorting import FIRST_DIRECTIONS, SORT_LABELS, sorted_endpoints
from app.components.table import Sort

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
PRICE = pl.Decimal(38, 18)
HOSTILE = '<img src=x onerror="alert(1)">'


def endpoint(rank: int, provider: str, **values: Any) -> dict[str, Any]:
    return {
        "endpoint_id": f"{provider}-{rank}",
        "model_id": "acme/tiny",
        "provider_name": provider,
        "tag": provider.lower(),
        "endpoint_ordinal": 1,
        "tier": "standard",
        "is_free": False,
        "input_usd_per_mtok": None,
        "output_usd_per_mtok": None,
        "cache_read_usd_per_mtok": None,
        "discount": None,
        "overrides_json": "[]",
        "uptime_1d_pct": None,
        "reported_ttft_p50_ms": None,
        "reported_tokens_per_s_p50": None,
        "context_length": 8192,
        "quantization": None,
        "is_stale": False,
        "is_best_uptime": False,
        "is_cheapest_input": False,
        "default_rank": rank,
        "last_seen_utc": NOW,
    } | values


def endpoints(*rows: dict[str, Any]) -> pl.DataFrame:
    decimals = ("input_usd_per_mtok", "output_usd_per_mtok", "cache_read_usd_per_mtok")
    return pl.DataFrame(
        list(rows),
        schema_overrides=dict.fromkeys(decimals, PRICE)
        | {
            "discount": pl.Decimal(18, 12),
            "uptime_1d_pct": pl.Float64,
            "reported_ttft_p50_ms": pl.Float64,
            "reported_tokens_per_s_p50": pl.Float64,
            "quantization": pl.String,
        },
    )


def test_a_cache_price_that_is_not_stated_is_not_taken_from_another_endpoint() -> None:
    table = provider_table.provider_table(
        endpoints(
            endpoint(1, "Groq", cache_read_usd_per_mtok=Decimal("0.025")),
            endpoint(2, "Novita"),
        )
    )

    assert [row[4] for row in cells(table)] == ["0.025", formatting.MISSING]


def test_nulls_are_dashes_and_free_is_free() -> None:
    table = provider_table.provider_table(
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
    assert cells(table)[1][2:] == [dash, dash, dash, dash, dash, dash, "8,192", dash, dash]


def test_a_stale_row_is_dimmed_has_one_badge_and_names_when_it_was_seen() -> None:
    table = provider_table.provider_table(
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
    table = provider_table.provider_table(
        endpoints(
            endpoint(1, "A", discount=Decimal("0.1"), overrides_json='[{"min_prompt_tokens": 1}]'),
            endpoint(2, "B", tier="flex"),
            endpoint(3, "C", discount=Decimal("-0.05")),
        )
    )

    types = [" ".join(row[1].split()) for row in cells(table)]
    assert types == ["API \u221210% discount 1 price tier", "API flex", "API +5.0% markup"]


def test_value_holds_the_badges_or_the_multiple_of_the_cheapest_input() -> None:
    table = provider_table.provider_table(
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

    table = provider_table.provider_table(frame, Sort("-uptime"))

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
    table = provider_table.provider_table(
        endpoints(endpoint(1, HOSTILE, tag=HOSTILE, quantization=HOSTILE))
    )

    assert "<img" not in table
    assert table.count("&lt;img") == 3


def test_the_notes_ask_for_a_key_only_where_speed_is_missing() -> None:
    without = endpoints(endpoint(1, "A"))
    with_speed = endpoints(endpoint(1, "A", reported_tokens_per_s_p50=50.0))

    assert "OPENROUTER_API_KEY" in provider_table.reading_notes(without)
    assert "OPENROUTER_API_KEY" not in provider_table.reading_notes(with_speed)
