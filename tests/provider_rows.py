"""Rows of the provider table, made by hand."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import polars as pl

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
_PRICES = (
    "input_usd_per_mtok",
    "output_usd_per_mtok",
    "cache_read_usd_per_mtok",
    "cache_write_usd_per_mtok",
)
_DOUBLES = (
    "uptime_5m_pct",
    "uptime_30m_pct",
    "uptime_1d_pct",
    "reported_ttft_p50_ms",
    "reported_ttft_p90_ms",
    "reported_ttft_p99_ms",
    "reported_tokens_per_s_p50",
    "probe_ttft_p50_ms",
    "probe_ttft_p95_ms",
    "probe_tokens_per_s_p50",
    "probe_tokens_per_s_p05",
    "probe_ok_pct",
)
_TEXTS = (
    "quantization",
    "headquarters",
    "provider_slug",
    "privacy_policy_url",
    "terms_of_service_url",
    "status_page_url",
)
_TYPES: dict[str, Any] = {
    **dict.fromkeys(_PRICES, pl.Decimal(38, 18)),
    **dict.fromkeys(_DOUBLES, pl.Float64),
    **dict.fromkeys(_TEXTS, pl.String),
    "discount": pl.Decimal(18, 12),
    "datacenters": pl.List(pl.String),
    "max_completion_tokens": pl.Int64,
    "max_prompt_tokens": pl.Int64,
    "reported_requests_30m": pl.Int64,
    "probe_n": pl.Int64,
    "probe_is_trusted": pl.Boolean,
    "probe_last_at_utc": pl.Datetime("us", "UTC"),
}


def endpoint(rank: int, provider: str, **values: Any) -> dict[str, Any]:
    """Return a row of which nothing is known but what ``values`` say."""
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
        "cache_write_usd_per_mtok": None,
        "discount": None,
        "overrides_json": "[]",
        "other_prices_json": "{}",
        "provider_slug": None,
        "headquarters": None,
        "datacenters": None,
        "privacy_policy_url": None,
        "terms_of_service_url": None,
        "status_page_url": None,
        "status": None,
        "supports_implicit_caching": None,
        "max_prompt_tokens": None,
        "max_completion_tokens": None,
        "uptime_5m_pct": None,
        "uptime_30m_pct": None,
        "uptime_1d_pct": None,
        "reported_ttft_p90_ms": None,
        "reported_ttft_p99_ms": None,
        "reported_requests_30m": None,
        "first_seen_utc": NOW,
        "reported_ttft_p50_ms": None,
        "reported_tokens_per_s_p50": None,
        "probe_ttft_p50_ms": None,
        "probe_ttft_p95_ms": None,
        "probe_tokens_per_s_p50": None,
        "probe_tokens_per_s_p05": None,
        "probe_ok_pct": None,
        "probe_n": None,
        "probe_is_trusted": None,
        "probe_last_at_utc": None,
        "context_length": 8192,
        "quantization": None,
        "is_stale": False,
        "is_best_uptime": False,
        "is_cheapest_input": False,
        "default_rank": rank,
        "last_seen_utc": NOW,
    } | values


def endpoints(*rows: dict[str, Any]) -> pl.DataFrame:
    """Return the frame of ``rows``, typed as the mart is."""
    return pl.DataFrame(list(rows), schema_overrides=_TYPES)
