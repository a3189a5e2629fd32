"""Rows of ``marts.provider_table`` for tests of costs: what is not named is as usual."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

SEEN = datetime(2026, 11, 30, 6, 17, tzinfo=UTC)
_PRICES = {
    "input": "input_usd_per_mtok",
    "output": "output_usd_per_mtok",
    "cache_read": "cache_read_usd_per_mtok",
    "cache_write": "cache_write_usd_per_mtok",
}


def endpoint(
    *,
    overrides: list[dict[str, Any]] | None = None,
    others: dict[str, str] | None = None,
    **values: Any,
) -> dict[str, Any]:
    """Return a row; prices by short name, in USD per million tokens as text."""
    prices = {
        column: None if (text := values.pop(name, None)) is None else Decimal(text)
        for name, column in _PRICES.items()
    }
    usual = {
        "endpoint_id": "acme",
        "provider_name": "Acme",
        "tag": "acme",
        "endpoint_ordinal": 1,
        "tier": "standard",
        "is_free": False,
        "is_stale": False,
        "quantization": "fp8",
        "headquarters": "US",
        "context_length": 131072,
        "max_completion_tokens": None,
        "max_prompt_tokens": None,
        "supports_implicit_caching": None,
        "uptime_1d_pct": 99.9,
        "default_rank": 1,
        "overrides_json": json.dumps(overrides or []),
        "other_prices_json": json.dumps(others or {}),
        "observed_at_utc": SEEN,
        "last_seen_utc": SEEN,
    }
    figures = dict.fromkeys(
        (
            "reported_ttft_p50_ms",
            "reported_ttft_p90_ms",
            "reported_ttft_p99_ms",
            "reported_tokens_per_s_p50",
            "probe_ttft_p50_ms",
            "probe_ttft_p95_ms",
            "probe_tokens_per_s_p50",
            "probe_n",
            "probe_is_trusted",
        )
    )
    return usual | figures | prices | values
