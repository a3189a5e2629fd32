"""Endpoints of one model side by side."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import polars as pl

from app.components import formatting
from app.components.compare_cells import Record, costs, figure, prices
from app.components.compare_rows import Compared
from app.components.compare_sparkline import daily_prices, sparkline
from app.components.markup import Markup
from pipeline.workload.quotes import quote_endpoint
from pipeline.workload.shape import Workload


def endpoint_labels(endpoints: pl.DataFrame) -> dict[str, str]:
    """Name the rows of ``marts.provider_table`` of a model, by tag, with a number for twins."""
    return {
        _tag(row): f"{row['provider_name']} ({_tag(row)})"
        for row in endpoints.iter_rows(named=True)
    }


def endpoints_of(endpoints: pl.DataFrame, tags: Sequence[str]) -> list[Record]:
    """Return the rows that the keys of ``endpoint_labels`` stand for, in their order."""
    by_tag = {_tag(row): row for row in endpoints.iter_rows(named=True)}
    return [by_tag[tag] for tag in tags if tag in by_tag]


def compare_providers(
    records: Sequence[Record], history: pl.DataFrame, workload: Workload, now: datetime
) -> list[Compared]:
    """Return a column for each row of ``marts.provider_table``.

    ``history`` are the rows of ``marts.price_history`` of the model.
    """
    nobody = [""] * len(records)
    offered = [quote_endpoint(record, workload) for record in records]
    rows: dict[str, list[Markup | str]] = {
        key: prices([record[column] for record in records], nobody)
        for key, column in (
            ("input", "input_usd_per_mtok"),
            ("output", "output_usd_per_mtok"),
            ("cache", "cache_read_usd_per_mtok"),
        )
    }
    limits = [quote.limits[0] if quote.limits else "" for quote in offered]
    rows |= costs([quote if quote.is_offered else None for quote in offered], limits)
    return [
        Compared(
            f"{record['provider_name']} ({_tag(record)})",
            _facts(record, history, now) | {key: row[index] for key, row in rows.items()},
        )
        for index, record in enumerate(records)
    ]


def _facts(record: Record, history: pl.DataFrame, now: datetime) -> dict[str, Markup | str]:
    own = history.filter(endpoint_id=record["endpoint_id"])
    n = record["probe_n"] or 0
    trust = "" if record["probe_is_trusted"] else ", untrusted"
    ours = f"{formatting.plural(n, 'request')}{trust}" if n else ""
    state = "stale" if record["is_stale"] else ""
    return {
        "based": record["headquarters"] or "",
        "tier": figure(record["tier"], state),
        "quantization": record["quantization"] or "",
        "context": figure(formatting.count_text(record["context_length"])),
        "max_output": figure(formatting.count_text(record["max_completion_tokens"])),
        "spark": sparkline(daily_prices(own, now)) or "",
        "uptime": figure(formatting.uptime_text(record["uptime_1d_pct"])),
        "ttft": figure(formatting.count_text(record["reported_ttft_p50_ms"])),
        "speed": figure(formatting.rate_text(record["reported_tokens_per_s_p50"])),
        "our_ttft": figure(formatting.ms_text(record["probe_ttft_p50_ms"]), ours),
        "our_speed": figure(formatting.rate_text(record["probe_tokens_per_s_p50"]), ours),
    }


def _tag(record: Record) -> str:
    twin = f"#{record['endpoint_ordinal']}" if record["endpoint_ordinal"] > 1 else ""
    return f"{record['tag']}{twin}"
