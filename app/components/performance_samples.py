"""The requests behind rows of the summary, and which of them count as answered or failed."""

from __future__ import annotations

import polars as pl

# What names a row of the marts of probes, beside run and window.
IDENTITY = (
    "target",
    "provider_name",
    "tag",
    "region",
    "prompt_set",
    "phase",
    "loop",
    "concurrency",
    "offered_rate_per_s",
)
# Never sent, or stopped by ourselves: no failure of the provider.
OUR_OWN = ("refused_config", "cancelled_budget")


def samples_behind(summary: pl.DataFrame, samples: pl.DataFrame) -> pl.DataFrame:
    """Keep the rows of ``marts.probe_samples`` that rows of ``marts.probe_summary`` rest on.

    Of the requests that were ``ok`` but are in no figure (the second ones of cached-prefix pairs,
    those of an overloaded probe) the whole batch is left out, so that its failures weigh nothing
    either. What we never sent or stopped ourselves is left out too. Adds ``is_failure``.
    """
    spans = summary.select(*IDENTITY, "label", "first_sent_utc", "last_sent_utc")
    kept = samples.filter(pl.col("outcome").is_in(OUR_OWN).not_()).join(
        spans, on=list(IDENTITY), nulls_equal=True
    )
    is_refused = (pl.col("outcome") == "ok") & pl.col("is_in_figures").not_()
    return (
        kept.filter(pl.col("sent_at_utc").is_between("first_sent_utc", "last_sent_utc"))
        .filter(is_refused.any().over("label", "run_id", "batch").not_())
        .with_columns(is_failure=pl.col("outcome") != "ok")
        .drop("first_sent_utc", "last_sent_utc")
    )
