"""The contract of ``raw.model_cards``: what one pull learned of one repository."""

from __future__ import annotations

import polars as pl

from pipeline.contracts.common import any_of, values_of
from pipeline.contracts.rules import Contract, Rule
from pipeline.raw_tables import MODEL_CARDS as COLUMNS

OUTCOMES = ("answered", "gated", "absent", "failed")

_COUNTS = ("params_total", "params_active")
_REPOSITORY = ("hugging_face_id",)
_MOST_PARAMETERS = 100 * 10**12  # fifty times the largest model that was ever published

MODEL_CARDS = Contract(
    COLUMNS,
    hard=(
        Rule("duplicate", ~pl.col("hugging_face_id").is_first_distinct(), values_of(_REPOSITORY)),
        Rule("outcome_unknown", ~pl.col("outcome").is_in(OUTCOMES), values_of(("outcome",))),
        Rule(
            "parameters_out_of_range",
            any_of(_COUNTS, lambda count: (count <= 0) | (count > _MOST_PARAMETERS)),
            values_of(_COUNTS),
        ),
        Rule(
            "active_above_total",
            pl.col("params_active") > pl.col("params_total"),
            values_of(_COUNTS),
        ),
        Rule(
            "basis_missing",
            pl.col("params_total").is_not_null() & pl.col("params_basis").is_null(),
            values_of((*_COUNTS, "params_basis")),
        ),
    ),
    soft=(),
)
