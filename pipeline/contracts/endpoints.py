"""The contract of ``raw.endpoints``: one endpoint of one model in one sweep."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from itertools import pairwise

import polars as pl

from pipeline.contracts.common import (
    CONTEXT_RULES,
    PRICE_ABSURD,
    PRICE_RULES,
    any_of,
    is_blank,
    prices_of,
    tokens_out_of_range,
    values_of,
)
from pipeline.contracts.rules import Contract, Rule
from pipeline.raw_tables import ENDPOINTS as COLUMNS
from pipeline.raw_tables import PRICE_COLUMNS

QUANTIZATIONS = (
    "int4",
    "int8",
    "fp4",
    "mxfp4",
    "nvfp4",
    "fp6",
    "fp8",
    "mxfp8",
    "fp16",
    "bf16",
    "fp32",
    "unknown",
)
STATUSES = (0, -1, -2, -3, -5, -10)

_KEY = ("model_id", "provider_name", "tag", "endpoint_ordinal")
_UPTIMES = ("uptime_5m_pct", "uptime_30m_pct", "uptime_1d_pct")
_TTFT = tuple(f"reported_ttft_{rank}_ms" for rank in ("p50", "p75", "p90", "p99"))
_SPEED = tuple(f"reported_tokens_per_s_{rank}" for rank in ("p50", "p75", "p90", "p99"))
_TOKENS = ("context_length", "max_completion_tokens", "max_prompt_tokens")
_INPUT, _OUTPUT = PRICE_COLUMNS[:2]

_UPTIME_30M = pl.col("uptime_30m_pct")
_TAG_PARTS = pl.col("tag").str.split("/")
_TAG_SUFFIX = _TAG_PARTS.list.slice(1).list.last()
# 5,632 of 5,632 recorded rows: the bands of the documentation, without data it counts as normal.
_STATUS_OF_UPTIME = (
    pl.when(_UPTIME_30M.is_null() | (_UPTIME_30M >= 95))
    .then(0)
    .when(_UPTIME_30M >= 80)
    .then(-2)
    .otherwise(-5)
)


def _out_of_order(columns: tuple[str, ...]) -> pl.Expr:
    return pl.any_horizontal(
        (pl.col(low) > pl.col(high)).fill_null(False) for low, high in pairwise(columns)
    )


_HARD = (
    Rule(
        "name_missing",
        any_of(("provider_name", "tag"), is_blank),
        values_of(("provider_name", "tag")),
    ),
    Rule(
        "price_negative",
        any_of(PRICE_COLUMNS, lambda price: price < 0)
        | any_of(
            ("other_prices_json", "overrides_json"), lambda text: text.str.contains(r'":"-[0-9.]')
        ),
        values_of(("pricing_json",)),
    ),
    PRICE_ABSURD,
    Rule("discount_out_of_range", pl.col("discount") >= 1, values_of(("discount",))),
    tokens_out_of_range(_TOKENS),
    Rule(
        "uptime_out_of_range",
        any_of(_UPTIMES, lambda uptime: (uptime < 0) | (uptime > 100)),
        values_of(_UPTIMES),
    ),
    Rule("duplicate", ~pl.struct(_KEY).is_first_distinct(), values_of(_KEY)),
)

_SOFT = (
    *PRICE_RULES,
    *CONTEXT_RULES,
    Rule(
        "price_missing",
        any_of((_INPUT, _OUTPUT), pl.Expr.is_null),
        prices_of((_INPUT, _OUTPUT)),
    ),
    Rule(
        "half_free",
        (pl.col(_INPUT) == 0) != (pl.col(_OUTPUT) == 0),
        prices_of((_INPUT, _OUTPUT)),
    ),
    Rule(
        "free_variant_with_price",
        pl.col("model_id").str.ends_with(":free")
        & any_of((_INPUT, _OUTPUT), lambda price: price > 0),
        prices_of((_INPUT, _OUTPUT)),
    ),
    Rule(
        "discount_unusual",
        (pl.col("discount") < 0) | (pl.col("discount") > Decimal("0.95")),
        values_of(("discount",)),
    ),
    Rule(
        "quantization_unknown",
        ~pl.col("quantization").is_in(QUANTIZATIONS),
        values_of(("quantization",)),
    ),
    Rule(
        "tag_against_quantization",
        _TAG_SUFFIX.is_in(QUANTIZATIONS) & _TAG_SUFFIX.ne_missing(pl.col("quantization")),
        values_of(("tag", "quantization")),
    ),
    Rule("status_unknown", ~pl.col("status").is_in(STATUSES), values_of(("status",))),
    Rule(
        "status_against_uptime",
        pl.col("status").is_in(STATUSES) & (pl.col("status") != _STATUS_OF_UPTIME),
        values_of(("status", "uptime_30m_pct")),
    ),
    Rule(
        "uptime_1d_missing",
        pl.col("uptime_1d_pct").is_null() & _UPTIME_30M.is_not_null(),
        values_of(("uptime_1d_pct", "uptime_30m_pct")),
    ),
    Rule(
        "measurement_negative",
        any_of((*_TTFT, *_SPEED, "reported_requests_30m"), lambda value: value < 0),
        values_of((*_TTFT, *_SPEED, "reported_requests_30m")),
    ),
    Rule("ttft_out_of_order", _out_of_order(_TTFT), values_of(_TTFT)),
    Rule("speed_out_of_order", _out_of_order(_SPEED), values_of(_SPEED)),
)

ENDPOINTS = Contract(COLUMNS, hard=_HARD, soft=_SOFT)


def provider_rules(slugs: Mapping[str, str]) -> tuple[Rule, ...]:
    """Return the soft rules that tie endpoints to ``/providers``; ``slugs`` by provider name."""
    slug = pl.col("provider_name").replace_strict(dict(slugs), default=None, return_dtype=pl.String)
    head = _TAG_PARTS.list.first()
    return (
        Rule("provider_unknown", slug.is_null(), values_of(("provider_name",))),
        Rule(
            "tag_against_provider",
            head != slug,
            lambda row: f"tag {row['tag']!r}, slug {slugs.get(row['provider_name'])!r}",
        ),
    )
