"""The contract of ``raw.score_rows``: one score of a file, and what helps where it is refused."""

from __future__ import annotations

from collections.abc import Collection
from datetime import date

import polars as pl

from pipeline.contracts.common import any_of, is_blank, values_of
from pipeline.contracts.rules import Contract, Rule
from pipeline.raw_tables import ColumnTypes
from pipeline.scores.rows import SCORE_DECIMALS

_POINTS = pl.Decimal(18, SCORE_DECIMALS)

SCORE_COLUMNS: ColumnTypes = {
    "source_name": pl.String,
    "metric": pl.String,
    "score": _POINTS,
    "scale_min": _POINTS,
    "scale_max": _POINTS,
    "higher_is_better": pl.Boolean,
    "has_zero": pl.Boolean,
    "variant": pl.String,
    "source": pl.String,
    "source_url": pl.String,
    "as_of": pl.Date,
    "evidence": pl.String,
    "licence": pl.String,
    "citation": pl.String,
}
EVIDENCE = ("direct", "variant", "base_model", "self_reported", "user")
_KEY = ("source_name", "metric", "variant", "source")
_SOURCE = r"^[a-z0-9][a-z0-9._-]{0,63}$"
_URL = r"^https?://[^\s]+$"

REMEDIES = {
    "model_missing": "name the model in model_id: its id at OpenRouter, or as the source writes it",
    "metric_missing": "say in metric what was scored",
    "score_missing": "give the number, or leave the row out: an unknown score is not 0",
    "day_missing": "say in as_of of which day the score is",
    "source_wrong": "name it in short: small letters, digits, . _ -",
    "source_taken": "give the source a name of your own",
    "scale_inverted": "exchange the two, or leave them empty",
    "score_off_scale": "mend the score or its scale",
    "zero_off_scale": "set has_zero to false: a scale that does not begin at 0 has none",
    "elo_has_no_zero": "set has_zero to false: twice an Elo rating is not twice as good",
    "day_in_future": "mend as_of",
    "evidence_unknown": f"write one of {', '.join(EVIDENCE)}",
    "url_wrong": "write it with http:// or https://, or leave it empty",
    "duplicate": "leave one of the rows in",
}


def score_contract(today: date, taken_sources: Collection[str]) -> Contract:
    """Return the contract for a file that came in ``today``.

    ``taken_sources`` are names under which tokentape itself keeps scores.
    """
    return Contract(
        SCORE_COLUMNS,
        hard=(
            Rule("model_missing", is_blank(pl.col("source_name")), lambda _: "model_id is empty"),
            Rule("metric_missing", is_blank(pl.col("metric")), lambda _: "metric is empty"),
            Rule("score_missing", pl.col("score").is_null(), lambda _: "score is empty"),
            Rule("day_missing", pl.col("as_of").is_null(), lambda _: "as_of is empty"),
            Rule(
                "source_wrong",
                pl.col("source").is_null() | ~pl.col("source").str.contains(_SOURCE),
                values_of(("source",)),
            ),
            Rule(
                "source_taken",
                pl.col("source").is_in(sorted(taken_sources)),
                lambda row: f"the source {row['source']} is kept by tokentape itself",
            ),
            Rule(
                "scale_inverted",
                pl.col("scale_min") >= pl.col("scale_max"),
                values_of(("scale_min", "scale_max")),
            ),
            Rule(
                "score_off_scale",
                any_of(
                    ("score",),
                    lambda score: (
                        (score < pl.col("scale_min")).fill_null(False)
                        | (score > pl.col("scale_max")).fill_null(False)
                    ),
                ),
                values_of(("score", "scale_min", "scale_max")),
            ),
            Rule(
                "zero_off_scale",
                pl.col("has_zero") & (pl.col("scale_min") > 0),
                values_of(("has_zero", "scale_min")),
            ),
            Rule(
                "elo_has_no_zero",
                pl.col("has_zero") & pl.col("metric").str.contains(r"(?i)\belo\b"),
                values_of(("has_zero", "metric")),
            ),
            Rule("day_in_future", pl.col("as_of") > today, lambda row: f"as_of {row['as_of']}"),
            Rule("evidence_unknown", ~pl.col("evidence").is_in(EVIDENCE), values_of(("evidence",))),
            Rule("url_wrong", ~pl.col("source_url").str.contains(_URL), values_of(("source_url",))),
            Rule(
                "duplicate",
                ~pl.struct(_KEY).is_first_distinct(),
                lambda row: "a row before it has the same model, metric, variant and source",
            ),
        ),
        soft=(),
    )
