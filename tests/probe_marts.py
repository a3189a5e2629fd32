"""Rows of the marts of probes, made by hand; a column that is not named is null."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import polars as pl

MOMENT = pl.Datetime("us", "UTC")
IDENTITY = {
    "endpoint_id": pl.String,
    "model_id": pl.String,
    "target": pl.String,
    "provider_name": pl.String,
    "tag": pl.String,
    "region": pl.String,
    "prompt_set": pl.String,
    "phase": pl.String,
    "loop": pl.String,
    "concurrency": pl.Int64,
    "offered_rate_per_s": pl.Float64,
}
OUTCOMES = (
    "rate_limited",
    "overloaded",
    "timeout",
    "http_error",
    "stream_error",
    "truncated",
    "wrong_provider",
    "refused_config",
    "cancelled_budget",
)
_FIGURES = (
    *(f"{name}_{p}_ms" for name in ("ttft", "answer_ttft", "e2e") for p in ("p50", "p95", "p99")),
    "ttft_p50_low_ms",
    "ttft_p50_high_ms",
    "decode_tokens_per_s_p50",
    "decode_tokens_per_s_p05",
    "e2e_tokens_per_s_p50",
    "tokens_per_chunk",
    "aggregate_tokens_per_s",
    "output_usd_per_mtok_paid",
    "connect_p50_ms",
    "cached_prompt_pct",
    "cached_prefix_saving_ms",
    "self_check_ttft_error_p99_ms",
)
SUMMARY = (
    IDENTITY
    | {"window_hours": pl.Int64, "requests": pl.Int64, "n": pl.Int64}
    | {"ok_pct": pl.Float64, "rate_limited_pct": pl.Float64}
    | {f"n_{outcome}": pl.Int64 for outcome in (*OUTCOMES, "probe_overloaded")}
    | dict.fromkeys(_FIGURES, pl.Float64)
    | {"is_trusted": pl.Boolean, "first_sent_utc": MOMENT, "last_sent_utc": MOMENT}
)
HISTORY = IDENTITY | {
    "run_id": pl.String,
    "started_at_utc": MOMENT,
    "partition_date": pl.Date,
    "requests": pl.Int64,
    "n": pl.Int64,
    "failures": pl.Int64,
    "is_trusted": pl.Boolean,
}
SAMPLES = IDENTITY | {
    "run_id": pl.String,
    "request_id": pl.String,
    "batch": pl.Int64,
    "outcome": pl.String,
    "sent_at_utc": MOMENT,
    "ttft_ms": pl.Float64,
    "answer_ttft_ms": pl.Float64,
    "e2e_ms": pl.Float64,
    "decode_tokens_per_s": pl.Float64,
    "e2e_tokens_per_s": pl.Float64,
    "is_in_figures": pl.Boolean,
}
T0 = datetime(2026, 11, 30, 12, tzinfo=UTC)


def target(name: str = "groq", **values: Any) -> dict[str, Any]:
    """Return the identity of a group of requests: a short chat with one stream."""
    return {
        "endpoint_id": f"acme/tiny|{name}",
        "model_id": "acme/tiny",
        "target": name,
        "provider_name": name.title(),
        "tag": name,
        "region": None,
        "prompt_set": "short_chat",
        "phase": "measure",
        "loop": "closed",
        "concurrency": 1,
        "offered_rate_per_s": None,
    } | values


def summary_row(name: str = "groq", **values: Any) -> dict[str, Any]:
    """Return a row of ``probe_summary``; counts that are not given are 0, figures null."""
    row = target(name) | {"window_hours": 72, "requests": 0, "n": 0, "is_trusted": True}
    row |= {f"n_{outcome}": 0 for outcome in (*OUTCOMES, "probe_overloaded")}
    return row | {"first_sent_utc": T0 - timedelta(days=3), "last_sent_utc": T0} | values


def sample(name: str = "groq", **values: Any) -> dict[str, Any]:
    """Return a row of ``probe_samples`` that went well."""
    row = target(name) | {"run_id": "run", "batch": 1, "outcome": "ok", "sent_at_utc": T0}
    return row | {"is_in_figures": values.get("outcome", "ok") == "ok"} | values


def history_row(name: str = "groq", **values: Any) -> dict[str, Any]:
    """Return a row of ``performance_history``."""
    return target(name) | {"run_id": "run", "started_at_utc": T0, "is_trusted": True} | values


def summary_frame(*rows: dict[str, Any]) -> pl.DataFrame:
    """Return rows of ``probe_summary``."""
    return _frame(rows, SUMMARY)


def sample_frame(*rows: dict[str, Any]) -> pl.DataFrame:
    """Return rows of ``probe_samples``."""
    return _frame(rows, SAMPLES)


def history_frame(*rows: dict[str, Any]) -> pl.DataFrame:
    """Return rows of ``performance_history``."""
    return _frame(rows, HISTORY)


def _frame(rows: Sequence[dict[str, Any]], schema: dict[str, Any]) -> pl.DataFrame:
    whole = [{name: row.get(name) for name in schema} for row in rows]
    return pl.DataFrame(whole, schema=schema, orient="row")
