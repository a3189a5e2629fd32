"""What the pages read: right values on small markets, worked out by hand."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from raw_market import RawMarket, endpoint

from pipeline.building import build_all
from pipeline.sql_models import load_sql_models

MODELS = load_sql_models()
MODEL = "meta-llama/llama-3.1-8b-instruct"


def built(*sweeps: tuple[str, dict[str, list[dict[str, Any]] | None]]) -> RawMarket:
    market = RawMarket()
    for at, listing in sweeps:
        market.sweep(at, listing)
    build_all(market.database, MODELS)
    return market


# The table of the page that this product was conceived from; prices by OpenRouter.
DEEPINFRA = endpoint("DeepInfra", "deepinfra/fp8", input="0.02", output="0.04", uptime_1d_pct=100)
NOVITA = endpoint("Novita", "novita/fp8", input="0.02", output="0.05", uptime_1d_pct=100)
GROQ = endpoint("Groq", "groq", input="0.05", output="0.08", cache_read="0.025", uptime_1d_pct=100)
CLOUDFLARE = endpoint("Cloudflare", "cloudflare", input="0.152", output="0.287", uptime_1d_pct=100)
TOGETHER = endpoint("Together", "together", input="0.18", output="0.18")
FIREWORKS = endpoint("Fireworks", "fireworks", input="0.20", output="0.20")
COREWEAVE = endpoint(
    "CoreWeave",
    "coreweave/bf16",
    input="0.22",
    output="0.22",
    cache_read="0.22",
    uptime_1d_pct=100,
)


@pytest.fixture(scope="module")
def seed_market() -> RawMarket:
    """Together and Fireworks were last seen a week before the newest sweep."""
    today = [COREWEAVE, GROQ, NOVITA, CLOUDFLARE, DEEPINFRA]
    return built(
        ("2026-10-24T06:17", {MODEL: [*today, TOGETHER, FIREWORKS]}),
        ("2026-10-31T06:17", {MODEL: today}),
    )


def test_without_throughput_the_default_order_is_input_then_output_price(
    seed_market: RawMarket,
) -> None:
    assert seed_market.database.rows(
        "select provider_name, is_stale from marts.provider_table order by default_rank"
    ) == [
        ("DeepInfra", False),
        ("Novita", False),
        ("Groq", False),
        ("Cloudflare", False),
        ("Together", True),
        ("Fireworks", True),
        ("CoreWeave", False),
    ]


def test_the_first_in_default_order_of_the_highest_uptime_gets_the_badge(
    seed_market: RawMarket,
) -> None:
    assert seed_market.database.rows(
        "select provider_name from marts.provider_table where is_best_uptime"
    ) == [("DeepInfra",)]


def test_a_cache_price_is_never_inherited_from_another_endpoint(seed_market: RawMarket) -> None:
    assert seed_market.database.rows(
        "select provider_name, cache_read_usd_per_mtok from marts.provider_table "
        "where cache_read_usd_per_mtok is not null order by all"
    ) == [("CoreWeave", Decimal("0.22")), ("Groq", Decimal("0.025"))]


def test_prices_are_kept_to_the_last_decimal(seed_market: RawMarket) -> None:
    assert seed_market.database.rows(
        "select input_usd_per_mtok, output_usd_per_mtok from marts.provider_table "
        "where provider_name = 'Cloudflare'"
    ) == [(Decimal("0.152"), Decimal("0.287"))]


def test_a_stale_row_keeps_its_price_and_loses_its_live_figures(seed_market: RawMarket) -> None:
    assert seed_market.database.rows(
        "select input_usd_per_mtok, uptime_1d_pct, last_seen_utc::date::varchar "
        "from marts.provider_table where provider_name = 'Together'"
    ) == [(Decimal("0.18"), None, "2026-10-24")]


def test_throughput_ranks_first_where_uptime_is_95_or_more() -> None:
    market = built(
        (
            "2026-11-01T06:17",
            {
                MODEL: [
                    endpoint("Cheap", "cheap", input="0.01"),
                    endpoint("Fast", "fast", reported_tokens_per_s_p50=105, uptime_1d_pct=95),
                    endpoint("Flaky", "flaky", reported_tokens_per_s_p50=500, uptime_1d_pct=94.9),
                    endpoint("Slow", "slow", reported_tokens_per_s_p50=13, uptime_1d_pct=100),
                    endpoint("Flex", "fast/flex", tier="flex", input="0.001"),
                ]
            },
        )
    )
    assert market.database.rows(
        "select provider_name from marts.provider_table order by default_rank"
    ) == [("Fast",), ("Slow",), ("Cheap",), ("Flaky",), ("Flex",)]


def test_an_endpoint_gone_for_more_than_30_days_leaves_the_table_but_not_history() -> None:
    market = built(
        ("2026-10-01T06:17", {MODEL: [GROQ, TOGETHER]}),
        ("2026-11-01T06:17", {MODEL: [GROQ]}),
    )
    assert market.database.rows("select provider_name from marts.provider_table") == [("Groq",)]
    assert market.database.rows(
        "select provider_name, valid_to_utc from marts.price_history order by all"
    ) == [("Groq", None), ("Together", datetime(2026, 11, 1, 6, 17, tzinfo=UTC))]


def test_a_model_that_fails_for_36_hours_makes_its_endpoints_stale_but_not_gone() -> None:
    market = built(
        ("2026-11-01T06:17", {MODEL: [GROQ], "a/b": [GROQ]}),
        ("2026-11-02T06:17", {MODEL: None, "a/b": [GROQ]}),
    )
    stale = f"select is_stale from marts.provider_table where model_id = '{MODEL}'"
    assert market.database.rows(stale) == [(False,)]
    market.sweep("2026-11-03T06:17", {MODEL: None, "a/b": [GROQ]})
    build_all(market.database, MODELS)
    assert market.database.rows(stale) == [(True,)]
    assert market.database.rows("select kind from marts.price_changes") == []


@pytest.mark.parametrize(
    "never_cheapest",
    [
        pytest.param(endpoint("X", "x/flex", input="0.001", tier="flex"), id="flex"),
        pytest.param(endpoint("X", "x", input="0.001", tier="batch"), id="batch"),
        pytest.param(endpoint("X", "x", input="0", output="0", is_free=True), id="free"),
        pytest.param(endpoint("X", "x", input=None, output=None), id="unpriced"),
    ],
)
def test_the_cheapest_price_is_one_that_is_served_by_default_for_money(
    never_cheapest: dict[str, Any],
) -> None:
    market = built(("2026-11-01T06:17", {MODEL: [never_cheapest, GROQ, COREWEAVE]}))
    assert market.database.rows(
        "select cheapest_provider_name, cheapest_input_usd_per_mtok, cheapest_output_usd_per_mtok, "
        "is_free from marts.market_table"
    ) == [("Groq", Decimal("0.05"), Decimal("0.08"), False)]


def test_a_model_whose_endpoints_are_all_free_is_free() -> None:
    free = endpoint("X", "x", input="0", output="0", is_free=True)
    market = built(("2026-11-01T06:17", {f"{MODEL}:free": [free]}))
    assert market.database.rows(
        "select is_free, cheapest_input_usd_per_mtok, cheapest_provider_name "
        "from marts.market_table"
    ) == [(True, Decimal(0), None)]


def test_a_model_nobody_prices_is_neither_free_nor_cheap() -> None:
    market = built(("2026-11-01T06:17", {MODEL: []}))
    assert market.database.rows(
        "select is_free, cheapest_input_usd_per_mtok, providers, endpoints from marts.market_table"
    ) == [(False, None, 0, 0)]


def test_price_history_is_a_line_of_spans_without_overlap() -> None:
    market = built(
        ("2026-11-01T06:17", {MODEL: [endpoint(input="3"), GROQ]}),
        ("2026-11-02T06:17", {MODEL: [endpoint(input="2"), GROQ]}),
        ("2026-11-03T06:17", {MODEL: [GROQ]}),
        ("2026-11-05T06:17", {MODEL: [endpoint(input="2"), GROQ]}),
        ("2026-11-06T06:17", {MODEL: [endpoint(input="2"), GROQ]}),
    )
    assert market.database.rows(
        "select input_usd_per_mtok, valid_from_utc::date::varchar, valid_to_utc::date::varchar, "
        "last_seen_utc::date::varchar from marts.price_history "
        "where provider_name = 'Acme' order by valid_from_utc"
    ) == [
        (Decimal(3), "2026-11-01", "2026-11-02", "2026-11-01"),
        (Decimal(2), "2026-11-02", "2026-11-03", "2026-11-02"),
        (Decimal(2), "2026-11-05", None, "2026-11-06"),
    ]


def test_uptime_history_follows_an_endpoint_through_a_tag_drift() -> None:
    market = built(
        ("2026-11-01T06:17", {MODEL: [endpoint("Alibaba", "alibaba", uptime_1d_pct=0.9967)]}),
        ("2026-11-02T06:17", {MODEL: [endpoint("Alibaba", "alibaba/fp8", uptime_1d_pct=100)]}),
        ("2026-11-03T06:17", {MODEL: [endpoint("Alibaba", "alibaba/fp8", uptime_1d_pct=None)]}),
    )
    assert market.database.rows(
        "select tag, uptime_1d_pct, count(distinct endpoint_id) over () "
        "from marts.uptime_history order by observed_at_utc"
    ) == [("alibaba", 0.9967, 1), ("alibaba/fp8", 100.0, 1), ("alibaba/fp8", None, 1)]


def test_twins_each_keep_their_own_uptime_when_their_order_flips() -> None:
    small = endpoint("Google", "google", context_length=32000, uptime_1d_pct=90)
    large = endpoint("Google", "google", context_length=262144, uptime_1d_pct=99)
    market = built(
        ("2026-11-01T06:17", {MODEL: [small, large]}),
        ("2026-11-02T06:17", {MODEL: [large, small]}),
    )
    assert market.database.rows(
        "select list(distinct uptime_1d_pct) from marts.uptime_history "
        "group by endpoint_id order by all"
    ) == [([90.0],), ([99.0],)]


def test_a_model_no_longer_listed_keeps_its_facts_and_leaves_the_market() -> None:
    stays = {f"acme/stays-{number}": [GROQ] for number in range(9)}
    market = built(
        ("2026-11-01T06:17", {**stays, MODEL: [GROQ]}),
        ("2026-11-02T06:17", stays),
    )
    assert market.database.rows(
        f"select is_listed, last_seen_utc::date::varchar from marts.model_facts "
        f"where model_id = '{MODEL}'"
    ) == [(False, "2026-11-01")]
    assert market.database.value("select count(*) from marts.market_table") == 9


def test_a_failed_sweep_leaves_the_market_up_and_shows_on_health() -> None:
    market = built(("2026-11-01T06:17", {MODEL: [GROQ]}))
    market.sweep("2026-11-02T06:17", {}, status="failed")
    build_all(market.database, MODELS)
    assert market.database.value("select count(*) from marts.market_table") == 1
    assert market.database.rows(
        "select status, value from marts.data_health where check_name = 'sweep'"
    ) == [("error", "failed")]


def test_health_names_the_models_that_failed() -> None:
    listing: dict[str, list[dict[str, Any]] | None] = {f"a/m{n}": [GROQ] for n in range(19)}
    market = built(("2026-11-01T06:17", {**listing, MODEL: None}))
    assert market.database.rows(
        "select status, value, detail from marts.data_health where check_name = 'coverage'"
    ) == [("warn", "95.0 %", f"1 failed: {MODEL}: HTTP 503")]
