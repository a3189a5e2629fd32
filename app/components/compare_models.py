"""Models side by side: of each its facts, and its best endpoint for every figure, named."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

import polars as pl

from app.components import formatting
from app.components.compare_cells import Record, costs, figure, prices
from app.components.compare_rows import Compared
from app.components.compare_sparkline import daily_prices, sparkline
from app.components.markup import Markup, model_link
from pipeline.quantization import QUANTIZATION_BITS
from pipeline.workload.quotes import Quote, quotes_by_cost
from pipeline.workload.shape import Workload

LEAST_UPTIME_PCT = 95.0
LEAST_BITS = 8


@dataclass(frozen=True)
class ComparedModel:
    """A model's row of ``marts.model_facts``, and its rows of two other marts."""

    facts: Mapping[str, Any]
    endpoints: pl.DataFrame
    history: pl.DataFrame


def compare_models(
    models: Sequence[ComparedModel], workload: Workload, now: datetime
) -> list[Compared]:
    """Return a column for each model."""
    offered = [_offered(model) for model in models]
    cheapest = [_best(rows, "input_usd_per_mtok", min) for rows in offered]
    alike = [
        _best(_like_for_like(model, rows, workload), "input_usd_per_mtok", min)
        for model, rows in zip(models, offered, strict=True)
    ]
    quotes = [_cheapest_quote(rows, workload) for rows in offered]
    rows: dict[str, list[Markup | str]] = {
        "input": prices(_column(cheapest, "input_usd_per_mtok"), _names(cheapest)),
        "output": prices(_column(cheapest, "output_usd_per_mtok"), _names(cheapest)),
        "like": prices(_column(alike, "input_usd_per_mtok"), _names(alike)),
    }
    rows |= costs(quotes, _names([quote.record if quote else None for quote in quotes]))
    return [
        Compared(
            model.facts["model_name"],
            _facts(model.facts)
            | _service(offered[index])
            | {"spark": sparkline(daily_prices(model.history, now)) or ""}
            | {key: row[index] for key, row in rows.items()},
        )
        for index, model in enumerate(models)
    ]


def _offered(model: ComparedModel) -> Sequence[Record]:
    """Return the endpoints that serve by default, now."""
    if model.endpoints.is_empty():
        return []
    return model.endpoints.filter(~pl.col("is_stale"), tier="standard").to_dicts()


def _like_for_like(
    model: ComparedModel, offered: Sequence[Record], workload: Workload
) -> list[Record]:
    """Keep what is reliable, roomy, and not cut down more than to 8 bits.

    Who serves closed weights serves its own; only open ones come in formats to compare.
    """
    is_open = bool(model.facts["hugging_face_id"])
    tokens = workload.input_tokens + workload.output_tokens
    return [
        record
        for record in offered
        if (record["uptime_1d_pct"] or 0) >= LEAST_UPTIME_PCT
        and (record["context_length"] or 0) >= tokens
        and (not is_open or QUANTIZATION_BITS.get(record["quantization"] or "", 0) >= LEAST_BITS)
    ]


def _cheapest_quote(offered: Sequence[Record], workload: Workload) -> Quote | None:
    quotes = quotes_by_cost(offered, workload)
    return quotes[0] if quotes and quotes[0].is_offered else None


def _best(records: Sequence[Record], column: str, choose: Callable[..., Record]) -> Record | None:
    known = [record for record in records if record[column] is not None]
    return choose(known, key=lambda record: record[column]) if known else None


def _column(records: Sequence[Record | None], column: str) -> list[Decimal | None]:
    return [None if record is None else record[column] for record in records]


def _names(records: Sequence[Record | None]) -> list[str]:
    return ["" if record is None else record["provider_name"] for record in records]


def _facts(facts: Mapping[str, Any]) -> dict[str, Markup | str]:
    return {
        "page": model_link(facts["model_id"], facts["model_id"]),
        "developer": facts["author"],
        "released": figure(formatting.day_text(facts["created_utc"])),
        "weights": "open" if facts["hugging_face_id"] else "not published",
        "modalities": ", ".join(facts["input_modalities"] or []),
        "context": figure(formatting.count_text(facts["context_length"])),
        "max_output": figure(formatting.count_text(facts["max_completion_tokens"])),
    }


def _service(offered: Sequence[Record]) -> dict[str, Markup | str]:
    providers = {record["provider_name"] for record in offered}
    found: dict[str, Markup | str] = {
        "providers": figure(
            formatting.count_text(len(providers)), formatting.plural(len(offered), "endpoint")
        )
    }
    trusted = [record for record in offered if record["probe_n"] and record["probe_is_trusted"]]
    for key, records, column, choose, write in (
        ("uptime", offered, "uptime_1d_pct", max, formatting.uptime_text),
        ("ttft", offered, "reported_ttft_p50_ms", min, formatting.count_text),
        ("speed", offered, "reported_tokens_per_s_p50", max, formatting.rate_text),
        ("our_ttft", trusted, "probe_ttft_p50_ms", min, formatting.ms_text),
        ("our_speed", trusted, "probe_tokens_per_s_p50", max, formatting.rate_text),
    ):
        best = _best(records, column, choose)
        if best is not None:
            found[key] = figure(write(best[column]), best["provider_name"])
    return found
