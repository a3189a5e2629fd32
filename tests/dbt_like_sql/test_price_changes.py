"""The change log: the right kind, the right figures, the right span of time."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from raw_market import RawMarket, endpoint

from pipeline.building import build_all
from pipeline.sql_models import load_sql_models

MODELS = load_sql_models()
MODEL = "acme/small-8b"


def changes(
    before: dict[str, Any], after: dict[str, Any]
) -> list[tuple[str, str, str | None, str | None, float | None]]:
    market = RawMarket()
    market.sweep("2026-11-01T06:17", {MODEL: [before]})
    market.sweep("2026-11-02T06:17", {MODEL: [after]})
    build_all(market.database, MODELS)
    return market.database.rows(
        "select kind, field, old_value, new_value, change_pct from marts.price_changes "
        "order by kind, field"
    )


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param(
            {"input": "0.20"},
            {"input": "0.15"},
            ("cheaper", "input_usd_per_mtok", "0.2", "0.15", -25.0),
            id="a fall of a quarter",
        ),
        pytest.param(
            {"output": "0.08"},
            {"output": "0.10"},
            ("dearer", "output_usd_per_mtok", "0.08", "0.1", 25.0),
            id="a rise of a quarter",
        ),
        pytest.param(
            {"input": "0.08333333333333334"},
            {"input": "0.08333333333333335"},
            ("dearer", "input_usd_per_mtok", "0.08333333333333334", "0.08333333333333335", 0.0),
            id="a change in the 17th decimal",
        ),
        pytest.param(
            {"input": "0", "output": "2"},
            {"input": "10", "output": "2"},
            ("dearer", "input_usd_per_mtok", "0", "10", None),
            id="from nothing",
        ),
        pytest.param(
            {"cache_read": None},
            {"cache_read": "0.025"},
            ("price_stated", "cache_read_usd_per_mtok", None, "0.025", None),
            id="a price stated for the first time is no rise",
        ),
        pytest.param(
            {"cache_read": "0.025"},
            {"cache_read": None},
            ("price_withdrawn", "cache_read_usd_per_mtok", "0.025", None, None),
            id="a price no longer stated is no fall",
        ),
        pytest.param(
            {"quantization": "bf16"},
            {"quantization": "fp8"},
            ("quantization", "quantization", "bf16", "fp8", None),
            id="quantization",
        ),
        pytest.param(
            {"context_length": 131072},
            {"context_length": 32000},
            ("context", "context_length", "131072", "32000", None),
            id="context",
        ),
        pytest.param(
            {"max_completion_tokens": None},
            {"max_completion_tokens": 4096},
            ("limits", "max_completion_tokens", None, "4096", None),
            id="limit",
        ),
        pytest.param(
            {"tag": "acme"},
            {"tag": "acme/fp8"},
            ("tag", "tag", "acme", "acme/fp8", None),
            id="tag drift",
        ),
        pytest.param(
            {"discount": Decimal("0.25")},
            {"discount": Decimal(0)},
            ("discount", "discount", "0.25", "0", None),
            id="promotion ends",
        ),
        pytest.param(
            {"overrides_json": "[]"},
            {"overrides_json": '[{"min_prompt_tokens":32000,"prompt":"0.0000001"}]'},
            (
                "tiers",
                "overrides_json",
                "[]",
                '[{"min_prompt_tokens":32000,"prompt":"0.0000001"}]',
                None,
            ),
            id="tiers",
        ),
        pytest.param(
            {"other_prices_json": "{}"},
            {"other_prices_json": '{"web_search":"0.01"}'},
            ("other_price", "other_prices_json", "{}", '{"web_search":"0.01"}', None),
            id="another price",
        ),
    ],
)
def test_a_change_is_logged_once_with_exact_values(
    before: dict[str, Any], after: dict[str, Any], expected: tuple[Any, ...]
) -> None:
    assert changes(endpoint(**before), endpoint(**after)) == [expected]


def test_a_change_lies_between_the_last_answer_before_and_the_first_after() -> None:
    market = RawMarket()
    market.sweep("2026-11-01T06:17", {MODEL: [endpoint(input="1")]})
    market.sweep("2026-11-02T06:17", {MODEL: [endpoint(input="1")]})
    market.sweep("2026-11-03T06:17", {MODEL: None})
    market.sweep("2026-11-04T06:17", {MODEL: [endpoint(input="2")]})
    build_all(market.database, MODELS)
    assert market.database.rows(
        "select last_seen_old_utc::varchar, first_seen_new_utc::varchar from marts.price_changes"
    ) == [("2026-11-02 06:17:00+00", "2026-11-04 06:17:00+00")]


def test_an_endpoint_that_comes_back_dearer_is_both_back_and_dearer() -> None:
    market = RawMarket()
    other = endpoint("Other", "other")
    market.sweep("2026-11-01T06:17", {MODEL: [endpoint(input="1"), other]})
    market.sweep("2026-11-02T06:17", {MODEL: [other]})
    market.sweep("2026-11-03T06:17", {MODEL: [endpoint(input="2"), other]})
    build_all(market.database, MODELS)
    assert market.database.rows(
        "select kind, old_value, new_value, last_seen_old_utc::date::varchar, "
        "first_seen_new_utc::date::varchar from marts.price_changes order by all"
    ) == [
        ("back", None, "acme", "2026-11-01", "2026-11-03"),
        ("dearer", "1", "2", "2026-11-01", "2026-11-03"),
        ("gone", "acme", None, "2026-11-01", "2026-11-02"),
    ]


def test_a_price_leap_is_flagged_and_loaded() -> None:
    market = RawMarket()
    market.sweep("2026-11-01T06:17", {MODEL: [endpoint(input="0.5")]})
    market.sweep("2026-11-02T06:17", {MODEL: [endpoint(input="2.5")]})
    build_all(market.database, MODELS)
    assert market.database.rows("select rule, row_key, detail from marts.flag_log") == [
        (
            "price_leap",
            "acme/small-8b Acme acme",
            "input_usd_per_mtok went from 0.5 to 2.5 between two sweeps",
        )
    ]
    assert market.database.rows("select input_usd_per_mtok from marts.provider_table") == [
        (Decimal("2.5"),)
    ]
