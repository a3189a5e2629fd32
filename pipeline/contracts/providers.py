"""The contract of ``raw.providers``: one provider in one sweep."""

from __future__ import annotations

import polars as pl

from pipeline.contracts.common import any_of, is_blank, values_of
from pipeline.contracts.rules import Contract, Rule
from pipeline.raw_tables import PROVIDERS as COLUMNS

_NAMES = ("provider_name", "provider_slug")
_COUNTRY = r"^[A-Z]{2}$"

PROVIDERS = Contract(
    COLUMNS,
    hard=(
        Rule("name_missing", any_of(_NAMES, is_blank), values_of(_NAMES)),
        Rule("duplicate", ~pl.col("provider_name").is_first_distinct(), values_of(_NAMES)),
    ),
    soft=(
        Rule("slug_repeated", ~pl.col("provider_slug").is_first_distinct(), values_of(_NAMES)),
        Rule(
            "country_unknown",
            ~pl.col("headquarters").str.contains(_COUNTRY)
            | ~pl.col("datacenters")
            .list.eval(pl.element().str.contains(_COUNTRY))
            .list.all()
            .fill_null(True),
            values_of(("headquarters", "datacenters")),
        ),
    ),
)
