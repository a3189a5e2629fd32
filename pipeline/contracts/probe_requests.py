"""The contract of ``raw.probe_requests``: one request of a probe."""

from __future__ import annotations

from itertools import pairwise
from typing import get_args

import polars as pl

from pipeline.contracts.common import any_of, tokens_out_of_range, values_of
from pipeline.contracts.rules import Contract, Rule
from pipeline.probes.sample import Outcome
from pipeline.raw_tables import PROBE_REQUESTS as COLUMNS

_NAMES = ("request_id", "target", "model_id")
_DURATIONS = ("dns_ms", "connect_ms", "tls_ms", "retry_after_s")
_TOKENS = ("prompt_tokens", "completion_tokens", "reasoning_tokens", "cached_tokens")
# What cannot have come in another order. The first event may come before the first token only.
_IN_ORDER = ("sent_ns", "first_byte_ns", "first_event_ns", "first_token_ns", "last_token_ns")
_LATER = (*pairwise(_IN_ORDER), ("sent_ns", "first_token_ns"), ("last_token_ns", "end_ns"))

PROBE_REQUESTS = Contract(
    COLUMNS,
    hard=(
        Rule("duplicate", ~pl.col("request_id").is_first_distinct(), values_of(_NAMES)),
        Rule("outcome_unknown", ~pl.col("outcome").is_in(get_args(Outcome)), values_of(_NAMES)),
        Rule("duration_negative", any_of(_DURATIONS, lambda ms: ms < 0), values_of(_DURATIONS)),
        Rule(
            "times_out_of_order",
            pl.any_horizontal(
                (pl.col(before) > pl.col(after)).fill_null(False) for before, after in _LATER
            ),
            values_of((*_IN_ORDER, "end_ns")),
        ),
        Rule(
            "ok_without_token",
            (pl.col("outcome") == "ok") & pl.col("first_token_ns").is_null(),
            values_of(_NAMES),
        ),
        Rule("cost_negative", pl.col("cost_usd") < 0, values_of(("cost_usd",))),
        tokens_out_of_range(_TOKENS),
    ),
    soft=(),
)
