"""The comparison: figures of two methods in two rows, prices that differ shown as different."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from html import unescape
from typing import Any

import polars as pl
from html_tables import cells
from workload_rows import SEEN, endpoint

from app.components.compare_models import ComparedModel, compare_models
from app.components.compare_providers import compare_providers, endpoint_labels, endpoints_of
from app.components.compare_sparkline import daily_prices, sparkline
from app.components.compare_table import compare_table
from pipeline.workload.shape import Workload

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
_LABEL_END = re.compile(r" (?:\$|tokens|ms|p50|decode)")
USUAL = Workload(1000, 500, requests_per_month=1000)


def span(price: str, first: int, last: int | None, **values: Any) -> dict[str, Any]:
    return {
        "endpoint_id": "acme",
        "tier": "standard",
        "input_usd_per_mtok": Decimal(price),
        "valid_from_utc": NOW - timedelta(days=first),
        "valid_to_utc": None if last is None else NOW - timedelta(days=last),
    } | values


def history(*spans: dict[str, Any]) -> pl.DataFrame:
    schema = {
        "endpoint_id": pl.String,
        "tier": pl.String,
        "input_usd_per_mtok": pl.Decimal(38, 18),
        "valid_from_utc": pl.Datetime("us", "UTC"),
        "valid_to_utc": pl.Datetime("us", "UTC"),
    }
    return pl.DataFrame(spans, schema=schema, orient="row")


def figures(html: str) -> dict[str, list[str]]:
    """Return the cells of each row by its label."""
    rows = [[" ".join(unescape(text).split()) for text in row] for row in cells(html)]
    return {_LABEL_END.split(row[0])[0]: row[1:] for row in rows}


def test_providers_side_by_side_keep_two_methods_apart() -> None:
    rows = [
        endpoint(
            input="0.152",
            output="1",
            reported_ttft_p50_ms=300.0,
            reported_tokens_per_s_p50=80.0,
            probe_ttft_p50_ms=210.0,
            probe_tokens_per_s_p50=120.0,
            probe_n=60,
            probe_is_trusted=True,
        ),
        endpoint(provider_name="Other", tag="other", input="0.149", output="1"),
    ]
    shown = figures(compare_table(compare_providers(rows, history(), USUAL, NOW)))
    assert shown["Input"] == ["0.152", "0.149"]
    assert [shown["TTFT, OpenRouter's"][0], shown["TTFT, ours"][0].split()[0]] == ["300", "210"]
    assert shown["Tok/s, OpenRouter's"] == ["80", "\u2013"]
    assert shown["Tok/s, ours"][0].startswith("120")
    # 1,000 x 0.152/M + 500 x 1/M = 0.000652
    assert shown["Your month"] == ["0.652", "0.649"]


def test_a_row_that_nobody_fills_is_left_out() -> None:
    shown = figures(
        compare_table(compare_providers([endpoint(input="1", output="1")], history(), USUAL, NOW))
    )
    assert "TTFT, ours" not in shown
    assert "Cache read" not in shown


def test_a_request_that_does_not_fit_has_no_cost_but_a_reason() -> None:
    row = endpoint(input="1", output="1", context_length=100)
    shown = figures(compare_table(compare_providers([row], history(), USUAL, NOW)))
    assert shown["Your month"][0].startswith("not known")
    assert "exceed its context of 100" in shown["Your month"][0]


def test_twins_are_told_apart_in_the_choice() -> None:
    rows = [endpoint(), endpoint(endpoint_ordinal=2), endpoint(tag="b/fp8")]
    frame = pl.DataFrame(rows, infer_schema_length=None)
    assert list(endpoint_labels(frame)) == ["acme", "acme#2", "b/fp8"]
    assert [row["tag"] for row in endpoints_of(frame, ["b/fp8", "no such", "acme"])] == [
        "b/fp8",
        "acme",
    ]


def model(name: str, *rows: dict[str, Any], weights: str | None = "a/b") -> ComparedModel:
    facts = {
        "model_id": f"acme/{name}",
        "model_name": name,
        "author": "acme",
        "created_utc": SEEN,
        "hugging_face_id": weights,
        "input_modalities": ["text"],
        "context_length": 131072,
        "max_completion_tokens": None,
    }
    return ComparedModel(facts, pl.DataFrame(rows, infer_schema_length=None), history())


def test_like_for_like_leaves_out_what_is_cut_down_unreliable_small_or_not_served_now() -> None:
    rows = [
        endpoint(provider_name="Cut", input="0.1", output="1", quantization="int4"),
        endpoint(provider_name="Vague", input="0.1", output="1", quantization="unknown"),
        endpoint(provider_name="Shaky", input="0.2", output="1", uptime_1d_pct=94.9),
        endpoint(provider_name="Small", input="0.3", output="1", context_length=1499),
        endpoint(provider_name="Flex", input="0.05", output="1", tier="flex"),
        endpoint(provider_name="Gone", input="0.05", output="1", is_stale=True),
        endpoint(provider_name="Good", input="0.5", output="1"),
    ]
    columns = compare_models(
        [model("Open", *rows), model("Closed", *rows, weights=None)], USUAL, NOW
    )
    shown = figures(compare_table(columns))
    assert shown["Input, like for like"] == ["0.50 Good", "0.10 Cut"]
    assert shown["Input"] == ["0.10 Cut", "0.10 Cut"]
    # 1,000 requests of 1,000 x 0.1/M + 500 x 1/M
    assert shown["Your month"] == ["0.60 Cut", "0.60 Cut"]


def test_a_model_that_nobody_serves_has_dashes() -> None:
    shown = figures(compare_table(compare_models([model("Nobody")], USUAL, NOW)))
    assert shown["Your month"][0].startswith("not known")
    assert "Input" not in shown


def test_the_line_follows_the_lowest_price_of_each_day_with_gaps_where_there_is_none() -> None:
    spans = history(
        span("0.3", 200, 60),
        span("0.2", 40, None),
        span("0.1", 10, None, endpoint_id="other"),
        span("0.01", 90, None, tier="flex"),
        span("0", 90, None),
    )
    prices = daily_prices(spans, NOW)
    assert len(prices) == 91
    assert prices[0] == prices[29] == Decimal("0.3")
    assert prices[45] is None
    assert prices[60] == Decimal("0.2")
    assert prices[-1] == Decimal("0.1")
    line = sparkline(prices)
    assert line is not None
    assert 'aria-label="0.30 to 0.10 $/M in 90 days; lowest 0.10, highest 0.30"' in line
    assert len(re.findall(r"M[\d.]+ ", line)) == 2  # two runs, a gap between them
    assert sparkline([None, None]) is None
