"""Columns and types of the raw tables, those of ``raw_schema.sql``, as frames carry them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
from polars.datatypes import DataTypeClass

from pipeline.prices import DISCOUNT_SCALE, PRICE_SCALE

ColumnTypes = Mapping[str, pl.DataType | DataTypeClass]

_INSTANT = pl.Datetime("us", "UTC")
_PRICE = pl.Decimal(38, PRICE_SCALE)
_DISCOUNT = pl.Decimal(18, DISCOUNT_SCALE)
_COST = pl.Decimal(18, 12)
_TEXTS = pl.List(pl.String)

_OF_SWEEP: dict[str, pl.DataType | DataTypeClass] = {
    "sweep_id": pl.String,
    "partition_date": pl.Date,
}
_OF_RUN: dict[str, pl.DataType | DataTypeClass] = {
    "run_id": pl.String,
    "partition_date": pl.Date,
}
_OF_RECORD = {**_OF_SWEEP, "observed_at_utc": _INSTANT}

PRICE_COLUMNS = (
    "input_usd_per_token",
    "output_usd_per_token",
    "cache_read_usd_per_token",
    "cache_write_usd_per_token",
)
_PRICES = dict.fromkeys(PRICE_COLUMNS, _PRICE)

SWEEPS: ColumnTypes = {
    **_OF_SWEEP,
    "started_at_utc": _INSTANT,
    "finished_at_utc": _INSTANT,
    "market": pl.String,
    "base_url": pl.String,
    "is_authenticated": pl.Boolean,
    "is_interrupted": pl.Boolean,
    "status": pl.String,
    "has_whole_model_list": pl.Boolean,
    "models_listed": pl.Int32,
    "models_expected": pl.Int32,
    "models_answered": pl.Int32,
    "endpoints": pl.Int32,
    "providers": pl.Int32,
    "quarantined": pl.Int32,
    "flagged": pl.Int32,
    "unknown_keys_json": pl.String,
    "landing_sha256": pl.String,
}

MODEL_COVERAGE: ColumnTypes = {
    **_OF_SWEEP,
    "model_id": pl.String,
    "kind": pl.String,
    "outcome": pl.String,
    "reason": pl.String,
    "observed_at_utc": _INSTANT,
}

MODELS: ColumnTypes = {
    **_OF_RECORD,
    "model_id": pl.String,
    "canonical_slug": pl.String,
    "author": pl.String,
    "variant": pl.String,
    "kind": pl.String,
    "alias_target": pl.String,
    "model_name": pl.String,
    "description": pl.String,
    "hugging_face_id": pl.String,
    "created_utc": _INSTANT,
    "context_length": pl.Int64,
    "max_completion_tokens": pl.Int64,
    "is_moderated": pl.Boolean,
    "modality": pl.String,
    "input_modalities": _TEXTS,
    "output_modalities": _TEXTS,
    "tokenizer": pl.String,
    "instruct_type": pl.String,
    "supported_parameters": _TEXTS,
    "knowledge_cutoff": pl.Date,
    "expiration_date": pl.Date,
    **_PRICES,
    "pricing_json": pl.String,
    "reasoning_json": pl.String,
    "benchmarks_json": pl.String,
}

ENDPOINTS: ColumnTypes = {
    **_OF_RECORD,
    "model_id": pl.String,
    "provider_name": pl.String,
    "tag": pl.String,
    "endpoint_ordinal": pl.Int32,
    "list_position": pl.Int32,
    "endpoint_name": pl.String,
    "quantization": pl.String,
    "context_length": pl.Int64,
    "max_completion_tokens": pl.Int64,
    "max_prompt_tokens": pl.Int64,
    "tier": pl.String,
    "is_free": pl.Boolean,
    **_PRICES,
    "discount": _DISCOUNT,
    "other_prices_json": pl.String,
    "overrides_json": pl.String,
    "pricing_json": pl.String,
    "status": pl.Int32,
    "uptime_5m_pct": pl.Float64,
    "uptime_30m_pct": pl.Float64,
    "uptime_1d_pct": pl.Float64,
    "reported_ttft_p50_ms": pl.Float64,
    "reported_ttft_p75_ms": pl.Float64,
    "reported_ttft_p90_ms": pl.Float64,
    "reported_ttft_p99_ms": pl.Float64,
    "reported_tokens_per_s_p50": pl.Float64,
    "reported_tokens_per_s_p75": pl.Float64,
    "reported_tokens_per_s_p90": pl.Float64,
    "reported_tokens_per_s_p99": pl.Float64,
    "reported_requests_30m": pl.Int64,
    "supports_implicit_caching": pl.Boolean,
    "supported_parameters": _TEXTS,
}

PROVIDERS: ColumnTypes = {
    **_OF_RECORD,
    "provider_name": pl.String,
    "provider_slug": pl.String,
    "headquarters": pl.String,
    "datacenters": _TEXTS,
    "privacy_policy_url": pl.String,
    "terms_of_service_url": pl.String,
    "status_page_url": pl.String,
}

QUARANTINE: ColumnTypes = {
    **_OF_RECORD,
    "table_name": pl.String,
    "model_id": pl.String,
    "row_key": pl.String,
    "rule": pl.String,
    "reason": pl.String,
    "record_json": pl.String,
}

FLAGS: ColumnTypes = {
    **_OF_RECORD,
    "table_name": pl.String,
    "row_key": pl.String,
    "rule": pl.String,
    "detail": pl.String,
}

PROBE_RUNS: ColumnTypes = {
    **_OF_RUN,
    "started_at_utc": _INSTANT,
    "finished_at_utc": _INSTANT,
    "market": pl.String,
    "is_interrupted": pl.Boolean,
    "region": pl.String,
    "config_json": pl.String,
    "batches": pl.Int32,
    "requests": pl.Int32,
    "ok": pl.Int32,
    "cost_usd": _COST,
    "problems_json": pl.String,
    "engine_json": pl.String,
    "landing_sha256": pl.String,
}

PROBE_BATCHES: ColumnTypes = {
    **_OF_RUN,
    "batch": pl.Int32,
    "target": pl.String,
    "prompt_set": pl.String,
    "phase": pl.String,
    "loop": pl.String,
    "concurrency": pl.Int32,
    "offered_rate_per_s": pl.Float64,
    "round": pl.Int32,
    "requests": pl.Int32,
    "started_at_utc": _INSTANT,
    "seconds": pl.Float64,
    "send_lag_p99_ms": pl.Float64,
    "read_lag_p99_ms": pl.Float64,
    "busy_share": pl.Float64,
    "machine_busy_share": pl.Float64,
    "steal_share": pl.Float64,
    "is_overloaded": pl.Boolean,
    "window_tokens": pl.Float64,
    "window_s": pl.Float64,
}

PROBE_REQUESTS: ColumnTypes = {
    **_OF_RUN,
    "request_id": pl.String,
    "target": pl.String,
    "model_id": pl.String,
    "requested_model": pl.String,
    "provider_name": pl.String,
    "tag": pl.String,
    "region": pl.String,
    "prompt_set": pl.String,
    "prompt_sha256": pl.String,
    "pair_id": pl.String,
    "turn": pl.Int32,
    "phase": pl.String,
    "loop": pl.String,
    "concurrency": pl.Int32,
    "offered_rate_per_s": pl.Float64,
    "round": pl.Int32,
    "batch": pl.Int32,
    "max_tokens": pl.Int32,
    "temperature": pl.Float64,
    "outcome": pl.String,
    "reason": pl.String,
    "http_status": pl.Int32,
    "finish_reason": pl.String,
    "is_done_seen": pl.Boolean,
    "served_by": pl.String,
    "served_model": pl.String,
    "generation_id": pl.String,
    "retry_after_s": pl.Float64,
    "rate_limit_json": pl.String,
    "content_encoding": pl.String,
    "stamp_source": pl.String,
    "is_new_connection": pl.Boolean,
    "peer": pl.String,
    "dns_ms": pl.Float64,
    "connect_ms": pl.Float64,
    "tls_ms": pl.Float64,
    "scheduled_ns": pl.Int64,
    "connected_ns": pl.Int64,
    "tls_done_ns": pl.Int64,
    "sent_ns": pl.Int64,
    "first_byte_ns": pl.Int64,
    "first_event_ns": pl.Int64,
    "first_reasoning_ns": pl.Int64,
    "first_token_ns": pl.Int64,
    "first_answer_ns": pl.Int64,
    "last_token_ns": pl.Int64,
    "end_ns": pl.Int64,
    "chunk_ns": pl.List(pl.Int64),
    "chunk_bytes": pl.List(pl.Int32),
    "events": pl.Int32,
    "coalesced_chunks": pl.Int32,
    "is_buffered": pl.Boolean,
    "is_reasoning_hidden": pl.Boolean,
    "prompt_tokens": pl.Int32,
    "completion_tokens": pl.Int32,
    "reasoning_tokens": pl.Int32,
    "cached_tokens": pl.Int32,
    "token_source": pl.String,
    "usage_json": pl.String,
    "server_timing_json": pl.String,
    "cost_usd": _COST,
    "scheduled_at_utc": _INSTANT,
    "sent_at_utc": _INSTANT,
}

PROBE_SELF_CHECKS: ColumnTypes = {
    **_OF_RUN,
    "concurrency": pl.Int32,
    "tokens_per_s": pl.Float64,
    "is_tls": pl.Boolean,
    "requests": pl.Int32,
    "seconds": pl.Float64,
    "ttft_error_p50_ms": pl.Float64,
    "ttft_error_p99_ms": pl.Float64,
    "gap_error_p50_ms": pl.Float64,
    "gap_error_p99_ms": pl.Float64,
    "stamp_source": pl.String,
}

CARD_PULLS: ColumnTypes = {
    "pull_id": pl.String,
    "partition_date": pl.Date,
    "started_at_utc": _INSTANT,
    "finished_at_utc": _INSTANT,
    "market": pl.String,
    "base_url": pl.String,
    "is_authenticated": pl.Boolean,
    "is_interrupted": pl.Boolean,
    "asked": pl.Int32,
    "answered": pl.Int32,
    "landing_sha256": pl.String,
}

MODEL_CARDS: ColumnTypes = {
    "pull_id": pl.String,
    "partition_date": pl.Date,
    "observed_at_utc": _INSTANT,
    "hugging_face_id": pl.String,
    "outcome": pl.String,
    "reason": pl.String,
    "config_outcome": pl.String,
    "is_gated": pl.Boolean,
    "pipeline_tag": pl.String,
    "tags": _TEXTS,
    "licence": pl.String,
    "licence_name": pl.String,
    "licence_url": pl.String,
    "params_total": pl.Int64,
    "params_basis": pl.String,
    "params_active": pl.Int64,
    "params_active_basis": pl.String,
    "config_json": pl.String,
    "gguf_files_json": pl.String,
}

HAND_KEPT_FACTS: ColumnTypes = {
    "about": pl.String,
    "subject": pl.String,
    "field": pl.String,
    "value": pl.String,
    "source_url": pl.String,
    "as_of": pl.Date,
}


# Polars takes its time over Python objects of these types, and in a sweep most of them repeat.
_SLOW_TYPES = (_TEXTS, _PRICE, _DISCOUNT, _INSTANT)


def frame_of(rows: Sequence[Mapping[str, Any]], columns: ColumnTypes) -> pl.DataFrame:
    """Build a frame with exactly ``columns``; every row must have every one of them."""
    return pl.DataFrame(
        [_series(name, [row[name] for row in rows], dtype) for name, dtype in columns.items()]
    )


def _series(name: str, values: list[Any], dtype: pl.DataType | DataTypeClass) -> pl.Series:
    if dtype not in _SLOW_TYPES:
        return pl.Series(name, values, dtype)
    if dtype == _TEXTS:
        values = [None if texts is None else tuple(texts) for texts in values]
    position_of: dict[Any, int] = {}
    positions = [position_of.setdefault(value, len(position_of)) for value in values]
    return pl.Series(name, list(position_of), dtype).gather(positions)
