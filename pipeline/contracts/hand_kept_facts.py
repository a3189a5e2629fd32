"""The contract of ``raw.hand_kept_facts``: one fact kept by hand."""

from __future__ import annotations

import polars as pl

from pipeline.contracts.common import any_of, is_blank, values_of
from pipeline.contracts.rules import Contract, Rule
from pipeline.raw_tables import HAND_KEPT_FACTS as COLUMNS

FIELDS = (
    "developer",
    "origin_country",
    "watermark_statement",
    "transparency_url",
    "params_total_b",
    "params_active_b",
)
_KEY = ("about", "subject", "field")
_WEB = r"^https?://\S+$"

HAND_KEPT_FACTS = Contract(
    COLUMNS,
    hard=(
        Rule("value_missing", any_of(("subject", "value"), is_blank), values_of(_KEY)),
        Rule("about_unknown", ~pl.col("about").is_in(["author", "model"]), values_of(("about",))),
        Rule("field_unknown", ~pl.col("field").is_in(FIELDS), values_of(("field",))),
        Rule(
            "source_missing", ~pl.col("source_url").str.contains(_WEB), values_of(("source_url",))
        ),
        Rule(
            "link_refused",
            (pl.col("field") == "transparency_url") & ~pl.col("value").str.contains(_WEB),
            values_of(("value",)),
        ),
        Rule(
            "country_unknown",
            (pl.col("field") == "origin_country") & ~pl.col("value").str.contains(r"^[A-Z]{2}$"),
            values_of(("value",)),
        ),
        # What is true of one model need not be of its author's others.
        Rule(
            "only_of_a_model",
            pl.col("field").is_in(["watermark_statement", "params_total_b", "params_active_b"])
            & (pl.col("about") != "model"),
            values_of(_KEY),
        ),
        Rule("duplicate", ~pl.struct(_KEY).is_first_distinct(), values_of(_KEY)),
    ),
    soft=(),
)
