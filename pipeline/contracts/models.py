"""The contract of ``raw.models``: one listed model in one sweep."""

from __future__ import annotations

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
from pipeline.raw_tables import MODELS as COLUMNS
from pipeline.raw_tables import PRICE_COLUMNS
from pipeline.sources.openrouter import MODEL_ID

VARIANTS = ("free", "extended", "standard", "thinking", "exacto", "beta", "batch")
INPUT_MODALITIES = ("text", "image", "file", "audio", "video")
OUTPUT_MODALITIES = (
    "text",
    "image",
    "embeddings",
    "audio",
    "video",
    "rerank",
    "speech",
    "transcription",
)

_INPUT, _OUTPUT = PRICE_COLUMNS[:2]
_OBSERVED_DAY = pl.col("observed_at_utc").dt.date()


def _has_other(column: str, known: tuple[str, ...]) -> pl.Expr:
    return pl.col(column).list.set_difference(pl.lit(pl.Series([list(known)]))).list.len() > 0


_HARD = (
    Rule("model_id_unusable", ~pl.col("model_id").str.contains(MODEL_ID), values_of(("model_id",))),
    Rule("name_missing", is_blank(pl.col("model_name")), values_of(("model_name",))),
    Rule("price_negative", any_of(PRICE_COLUMNS, lambda p: p < 0), values_of(("pricing_json",))),
    PRICE_ABSURD,
    tokens_out_of_range(("context_length", "max_completion_tokens")),
    Rule("duplicate", ~pl.col("model_id").is_first_distinct(), values_of(("model_id",))),
)

_SOFT = (
    *PRICE_RULES,
    *CONTEXT_RULES,
    Rule(
        "price_missing",
        (pl.col("kind") == "standard") & any_of((_INPUT, _OUTPUT), pl.Expr.is_null),
        prices_of((_INPUT, _OUTPUT)),
    ),
    Rule(
        "free_variant_with_price",
        (pl.col("variant") == "free") & any_of((_INPUT, _OUTPUT), lambda price: price > 0),
        prices_of((_INPUT, _OUTPUT)),
    ),
    Rule("variant_unknown", ~pl.col("variant").is_in(VARIANTS), values_of(("variant",))),
    Rule(
        "modality_unknown",
        _has_other("input_modalities", INPUT_MODALITIES)
        | _has_other("output_modalities", OUTPUT_MODALITIES),
        values_of(("input_modalities", "output_modalities")),
    ),
    Rule(
        "created_in_future",
        pl.col("created_utc") > pl.col("observed_at_utc") + pl.duration(days=1),
        values_of(("created_utc",)),
    ),
    Rule(
        "listed_after_expiration",
        pl.col("expiration_date") < _OBSERVED_DAY,
        lambda row: f"expiration_date {row['expiration_date']}",
    ),
)

MODELS = Contract(COLUMNS, hard=_HARD, soft=_SOFT)
