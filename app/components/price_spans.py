"""Spans of unchanged price: what of ``marts.price_history`` a chart and its table show."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import polars as pl

from app.components import formatting

Price = Literal["input", "output", "cache"]

PRICE_COLUMNS: dict[Price, str] = {
    "input": "input_usd_per_mtok",
    "output": "output_usd_per_mtok",
    "cache": "cache_read_usd_per_mtok",
}
RANGES: dict[str, timedelta | None] = {
    "7d": timedelta(days=7),
    "30d": timedelta(days=30),
    "90d": timedelta(days=90),
    "1y": timedelta(days=365),
    "all": None,
}


def visible_spans(
    history: pl.DataFrame, price: Price, range_name: str, now: datetime
) -> pl.DataFrame:
    """Cut ``marts.price_history`` of one model to what the chart shows.

    Returns one row per endpoint and time of unchanged price: label, position (of the label among
    all of the history, which keeps its colour the same in every view), price (USD per million
    tokens), from_utc, to_utc (``now`` where it is still so), run (spans without a gap between
    them share one). Times without a price are left out, so that they become gaps.
    """
    labels = _labels(history)
    length = RANGES[range_name]
    start = now - length if length else datetime.min.replace(tzinfo=UTC)
    column = PRICE_COLUMNS[price]
    return (
        history.lazy()
        .select(
            label=pl.col("endpoint_id").replace_strict(labels, return_dtype=pl.String),
            position=pl.col("endpoint_id").replace_strict(
                endpoint_positions(history), return_dtype=pl.UInt32
            ),
            price=pl.col(column),
            from_utc=pl.col("valid_from_utc"),
            to_utc=pl.col("valid_to_utc").fill_null(pl.lit(now)),
        )
        .filter(pl.col("price").is_not_null(), pl.col("to_utc") > start)
        .sort("label", "from_utc")
        .with_columns(starts_run=_differs(pl.col("to_utc"), pl.col("from_utc")))
        .with_columns(run=pl.col("starts_run").cum_sum().over("label"))
        .with_columns(starts_step=pl.col("starts_run") | _differs(pl.col("price"), pl.col("price")))
        .with_columns(step=pl.col("starts_step").cum_sum().over("label"))
        .group_by("label", "position", "run", "step", "price", maintain_order=True)
        .agg(pl.col("from_utc").min(), pl.col("to_utc").max())
        .with_columns(from_utc=pl.max_horizontal("from_utc", pl.lit(start)))
        .select("label", "position", "price", "from_utc", "to_utc", "run")
        .collect()
    )


def span_table(spans: pl.DataFrame, now: datetime) -> pl.DataFrame:
    """Return the chart as a table: Provider, $/M, From, To, newest first."""
    texts = formatting.price_texts(spans["price"].to_list())
    ordered = spans.with_columns(shown=pl.Series(texts, dtype=pl.String)).sort(
        "to_utc", "from_utc", "label", descending=[True, True, False]
    )
    return ordered.select(
        pl.col("label").alias("Provider"),
        pl.col("shown").alias("$/M"),
        pl.col("from_utc").dt.strftime("%Y-%m-%d %H:%M").alias("From (UTC)"),
        pl.when(pl.col("to_utc") >= now)
        .then(pl.lit("last sweep"))
        .otherwise(pl.col("to_utc").dt.strftime("%Y-%m-%d %H:%M"))
        .alias("To (UTC)"),
    )


def endpoint_positions(history: pl.DataFrame) -> dict[str, int]:
    """Return which place (from 0) an endpoint has among all lines of a model, by endpoint id."""
    labels = _labels(history)
    order = sorted(set(labels.values()))
    return {endpoint_id: order.index(label) for endpoint_id, label in labels.items()}


def _labels(history: pl.DataFrame) -> dict[str, str]:
    """Name each endpoint by its provider, adding tag and twin number only where needed."""
    endpoints = history.unique("endpoint_id", keep="last", maintain_order=True).with_columns(
        same_name=pl.len().over("provider_name"), twins=pl.len().over("provider_name", "tag")
    )
    return {row["endpoint_id"]: _label(row) for row in endpoints.iter_rows(named=True)}


def _label(endpoint: dict[str, Any]) -> str:
    name: str = endpoint["provider_name"]
    if endpoint["twins"] > 1:
        return f"{name} ({endpoint['tag']} #{endpoint['endpoint_ordinal']})"
    if endpoint["same_name"] > 1:
        return f"{name} ({endpoint['tag']})"
    # All endpoints of a batch model are batch; the other tiers stand beside the standard one.
    return f"{name} ({endpoint['tier']})" if endpoint["tier"] in ("flex", "priority") else name


def _differs(before: pl.Expr, after: pl.Expr) -> pl.Expr:
    """Whether ``after`` of a row is not ``before`` of the row above it, or there is none."""
    return (after != before.shift(1).over("label")).fill_null(True)
