"""The price history: spans, gaps, lines, axes, and the table twin."""

from __future__ import annotations

import tomllib
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from app.components import chart_lines, price_chart, price_spans

ROOT = Path(__file__).resolve().parents[2]
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
PRICE = pl.Decimal(38, 18)


def span(endpoint_id: str, first: int, last: int | None, price: str | None, **values: Any) -> Any:
    """Make a span from ``first`` to ``last`` days ago."""
    return {
        "endpoint_id": endpoint_id,
        "provider_name": endpoint_id.partition("/")[0],
        "tag": endpoint_id.lower(),
        "endpoint_ordinal": 1,
        "tier": "standard",
        "input_usd_per_mtok": None if price is None else Decimal(price),
        "valid_from_utc": NOW - timedelta(days=first),
        "valid_to_utc": None if last is None else NOW - timedelta(days=last),
    } | values


def history(*rows: dict[str, Any]) -> pl.DataFrame:
    return pl.DataFrame(
        list(rows),
        schema_overrides={
            "input_usd_per_mtok": PRICE,
            "valid_to_utc": pl.Datetime("us", "UTC"),
        },
    )


def days_ago(spans: pl.DataFrame) -> list[tuple[str, int, int, int]]:
    """Return (price, from, to, run) of each span."""
    return [
        (
            f"{row['price'].normalize()}",
            (NOW - row["from_utc"]).days,
            (NOW - row["to_utc"]).days,
            row["run"],
        )
        for row in spans.iter_rows(named=True)
    ]


def test_a_span_without_an_end_goes_on_to_now_and_begins_in_the_range() -> None:
    spans = price_spans.visible_spans(history(span("Groq", 60, None, "0.05")), "input", "30d", NOW)

    assert days_ago(spans) == [("0.05", 30, 0, 1)]


def test_an_absence_is_a_gap_and_a_change_of_price_is_not() -> None:
    spans = price_spans.visible_spans(
        history(
            span("Groq", 60, 50, "0.05"),
            span("Groq", 50, 40, "0.04"),
            span("Groq", 30, None, "0.04"),
        ),
        "input",
        "all",
        NOW,
    )

    assert days_ago(spans) == [("0.05", 60, 50, 1), ("0.04", 50, 40, 1), ("0.04", 30, 0, 2)]


def test_spans_that_differ_in_something_else_than_the_price_are_one() -> None:
    spans = price_spans.visible_spans(
        history(span("Groq", 60, 50, "0.05"), span("Groq", 50, None, "0.05")), "input", "90d", NOW
    )

    assert days_ago(spans) == [("0.05", 60, 0, 1)]


def test_a_time_without_a_price_is_a_gap() -> None:
    spans = price_spans.visible_spans(
        history(span("A", 9, 6, "1"), span("A", 6, 3, None), span("A", 3, None, "1")),
        "input",
        "30d",
        NOW,
    )

    assert days_ago(spans) == [("1", 9, 6, 1), ("1", 3, 0, 2)]


def test_endpoints_of_one_provider_are_told_apart() -> None:
    spans = price_spans.visible_spans(
        history(
            span("A/fast", 9, None, "1"),
            span("A/slow", 9, None, "1"),
            span("B/1", 9, None, "1", tag="b"),
            span("B/2", 9, None, "1", tag="b", endpoint_ordinal=2),
            span("C", 9, None, "1", tier="flex"),
            span("D", 9, None, "1"),
        ),
        "input",
        "30d",
        NOW,
    )

    assert spans["label"].to_list() == [
        "A (a/fast)",
        "A (a/slow)",
        "B (b #1)",
        "B (b #2)",
        "C (flex)",
        "D",
    ]


def test_a_line_keeps_its_colour_in_every_range() -> None:
    both = history(span("A", 60, 40, "1"), span("B", 60, None, "2"))

    long = price_chart.series_of(price_spans.visible_spans(both, "input", "90d", NOW))
    short = price_chart.series_of(price_spans.visible_spans(both, "input", "7d", NOW))

    assert [item.line.label for item in long] == ["A", "B"]
    assert short == [item for item in long if item.line.label == "B"]


def test_the_chart_spans_the_range_and_says_in_words_what_it_shows() -> None:
    spans = price_spans.visible_spans(
        history(span("Groq", 60, None, "0.05"), span("Novita", 9, None, "0.02")),
        "input",
        "30d",
        NOW,
    )

    spec = price_chart.price_chart(spans, "input", "30d", NOW)

    line = spec["layer"][0]
    assert line["mark"]["interpolate"] == "step-after"
    assert line["encoding"]["x"]["scale"]["domain"] == [
        "2026-10-31T12:00:00Z",
        "2026-11-30T12:00:00Z",
    ]
    assert len(line["data"]["values"]) == 4
    assert spec["description"] == (
        "Step chart of the input price in USD per million tokens over the last 30d. "
        "Last: Novita 0.02, Groq 0.05."
    )
    assert "legend" not in spec


@pytest.mark.parametrize(("dear", "kind"), [("0.2", None), ("0.9", "log")])
def test_prices_far_apart_get_a_logarithmic_axis(dear: str, kind: str | None) -> None:
    spans = price_spans.visible_spans(
        history(span("A", 9, None, "0.02"), span("B", 9, None, dear)), "input", "7d", NOW
    )

    axis = price_chart.price_chart(spans, "input", "7d", NOW)["layer"][0]["encoding"]["y"]

    assert axis["scale"].get("type") == kind
    assert ("log scale" in axis["title"]) == (kind == "log")


def test_the_table_twin_tells_the_same_spans_newest_first() -> None:
    spans = price_spans.visible_spans(
        history(span("A", 9, 6, "0.152"), span("A", 6, None, "0.149")), "input", "30d", NOW
    )

    assert price_spans.span_table(spans, NOW).rows() == [
        ("A", "0.149", "2026-11-24 12:00", "last sweep"),
        ("A", "0.152", "2026-11-21 12:00", "2026-11-24 12:00"),
    ]


def test_every_line_stands_out_from_the_page_in_both_themes() -> None:
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())["theme"]

    for theme in ("light", "dark"):
        page = config[theme]["backgroundColor"]
        for color in chart_lines.PALETTE:
            assert contrast(color, page) >= 3, f"{color} on {page}"


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two #rrggbb colours as WCAG defines it."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(color: str) -> float:
    channels = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
