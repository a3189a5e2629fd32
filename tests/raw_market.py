"""Write small markets straight into the raw tables, for tests of what is built upon them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl

import pipeline
from pipeline.duck import Database
from pipeline.probes.sample import Sample
from pipeline.probes.throughput import steady_window
from pipeline.raw_tables import PROBE_REQUESTS, frame_of
from pipeline.sql_models import SqlModel

RAW_SCHEMA = Path(pipeline.__file__).with_name("raw_schema.sql").read_text()


def endpoint(provider_name: str = "Acme", tag: str = "acme", **values: Any) -> dict[str, Any]:
    """Describe an endpoint; prices are texts in USD per million tokens."""
    prices = {
        f"{name}_usd_per_token": None if price is None else Decimal(price) / 1_000_000
        for name, price in (
            ("input", values.pop("input", "1")),
            ("output", values.pop("output", "2")),
            ("cache_read", values.pop("cache_read", None)),
            ("cache_write", values.pop("cache_write", None)),
        )
    }
    return {
        "provider_name": provider_name,
        "tag": tag,
        "quantization": "fp8",
        "context_length": 131072,
        "max_completion_tokens": 16384,
        "max_prompt_tokens": None,
        "tier": "standard",
        "is_free": False,
        "discount": Decimal(0),
        "other_prices_json": "{}",
        "overrides_json": "[]",
        "pricing_json": "{}",
        "status": 0,
        "uptime_1d_pct": 99.5,
        **prices,
        **values,
    }


def models_behind(name: str, models: Sequence[SqlModel]) -> list[SqlModel]:
    """Return ``name`` and the models that it is made from, in their order.

    To plan all queries takes DuckDB seconds.
    """
    wanted = {name}
    for model in reversed(models):
        if model.qualified_name in wanted:
            wanted |= model.references
    return [model for model in models if model.qualified_name in wanted]


class RawMarket:
    """A database with the raw tables, filled sweep by sweep and probe run by probe run."""

    def __init__(self) -> None:
        self.database = Database.in_memory()
        self.database.execute(RAW_SCHEMA)

    def insert(self, table: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """Insert rows given as dictionaries; columns left out are null."""
        for row in rows:
            names = ", ".join(row)
            marks = ", ".join(f"${name}" for name in row)
            self.database.execute(f"insert into {table} ({names}) values ({marks})", row)

    def sweep(
        self,
        at: str,
        listing: Mapping[str, list[dict[str, Any]] | None],
        *,
        status: str | None = None,
        quarantined: Iterable[str] = (),
        sweep_id: str | None = None,
        has_whole_model_list: bool = True,
    ) -> str:
        """Add a sweep at ``at``; a model whose endpoints are None has failed to answer."""
        instant = datetime.fromisoformat(at).replace(tzinfo=UTC)
        sweep_id = sweep_id or f"{instant:%Y%m%dT%H%M%SZ}-00000000"
        common = {"sweep_id": sweep_id, "partition_date": instant.date()}
        observed = {**common, "observed_at_utc": instant}
        answered = [model for model, endpoints in listing.items() if endpoints is not None]
        self.insert(
            "raw.sweeps",
            [
                {
                    **common,
                    "started_at_utc": instant,
                    "finished_at_utc": instant,
                    "market": "live",
                    "base_url": "http://market.test/api/v1",
                    "is_authenticated": False,
                    "is_interrupted": False,
                    "status": status
                    or ("complete" if len(answered) == len(listing) else "partial"),
                    "has_whole_model_list": has_whole_model_list,
                    "models_listed": len(listing),
                    "models_expected": len(listing),
                    "models_answered": len(answered),
                    "endpoints": sum(len(listing[model] or []) for model in answered),
                    "providers": 0,
                    "quarantined": len(list(quarantined)),
                    "flagged": 0,
                    "unknown_keys_json": "{}",
                    "landing_sha256": "0" * 64,
                }
            ],
        )
        for model_id, endpoints in listing.items():
            self.insert(
                "raw.model_coverage",
                [
                    {
                        **observed,
                        "model_id": model_id,
                        "kind": "standard",
                        "outcome": "failed" if endpoints is None else "answered",
                        "reason": "HTTP 503" if endpoints is None else None,
                    }
                ],
            )
            self.insert(
                "raw.models",
                [
                    {
                        **observed,
                        "model_id": model_id,
                        "author": model_id.split("/", maxsplit=1)[0],
                        "kind": "standard",
                        "model_name": model_id,
                        "context_length": 131072,
                        "pricing_json": "{}",
                    }
                ],
            )
            ordinals: dict[tuple[str, str], int] = {}
            for position, row in enumerate(endpoints or [], start=1):
                key = (row["provider_name"], row["tag"])
                ordinals[key] = ordinals.get(key, 0) + 1
                self.insert(
                    "raw.endpoints",
                    [
                        {
                            **observed,
                            "model_id": model_id,
                            "endpoint_ordinal": ordinals[key],
                            "list_position": position,
                            **row,
                        }
                    ],
                )
        self.insert(
            "raw.quarantine",
            [
                {
                    **observed,
                    "table_name": "endpoints",
                    "model_id": model_id,
                    "row_key": model_id,
                    "rule": "price_not_negative",
                    "reason": "the input price is negative",
                    "record_json": json.dumps({}),
                }
                for model_id in quarantined
            ],
        )
        return sweep_id

    def probe_run(
        self,
        at: str,
        samples: Iterable[Sample],
        *,
        self_checks: Mapping[int, float] | None = None,
        overloaded: Iterable[int] = (),
        run_id: str | None = None,
    ) -> str:
        """Add a probe run that started at ``at`` and sent its requests then.

        ``self_checks`` are p99 errors in ms by concurrency, ``overloaded`` batches by number.
        """
        instant = datetime.fromisoformat(at).replace(tzinfo=UTC)
        run_id = run_id or f"{instant:%Y%m%dT%H%M%SZ}-00000000"
        of_run = {"run_id": run_id, "partition_date": instant.date()}
        batches: dict[int, list[Sample]] = defaultdict(list)
        for sample in samples:
            sent_at_utc = None if sample.sent_at_utc is None else instant
            batches[sample.batch].append(replace(sample, sent_at_utc=sent_at_utc))
        requests = [sample for batch in batches.values() for sample in batch]
        self.insert(
            "raw.probe_runs",
            [
                {
                    **of_run,
                    "started_at_utc": instant,
                    "finished_at_utc": instant,
                    "market": "live",
                    "is_interrupted": False,
                    "config_json": "{}",
                    "batches": len(batches),
                    "requests": len(requests),
                    "ok": sum(sample.outcome == "ok" for sample in requests),
                    "problems_json": "[]",
                    "engine_json": "{}",
                    "landing_sha256": "0" * 64,
                }
            ],
        )
        rows = [vars(sample) | of_run for sample in requests]
        self.database.insert("raw.probe_requests", frame_of(rows, PROBE_REQUESTS))
        shared = ("target", "prompt_set", "phase", "loop", "concurrency", "round")
        for number, batch in batches.items():
            tokens, seconds = steady_window(batch) or (None, None)
            self.insert(
                "raw.probe_batches",
                [
                    {
                        **of_run,
                        **{name: getattr(batch[0], name) for name in shared},
                        "batch": number,
                        "requests": len(batch),
                        "started_at_utc": instant,
                        "seconds": 1.0,
                        "busy_share": 0.1,
                        "is_overloaded": number in overloaded,
                        "window_tokens": tokens,
                        "window_s": seconds,
                    }
                ],
            )
        for concurrency, error_ms in (self_checks or {1: 0.1}).items():
            errors = dict.fromkeys(
                ("ttft_error_p50_ms", "gap_error_p50_ms", "gap_error_p99_ms"), 0.01
            )
            self.insert(
                "raw.probe_self_checks",
                [
                    {
                        **of_run,
                        **errors,
                        "concurrency": concurrency,
                        "tokens_per_s": 100.0,
                        "is_tls": True,
                        "requests": 4,
                        "seconds": 2.0,
                        "ttft_error_p99_ms": error_ms,
                        "stamp_source": "kernel",
                    }
                ],
            )
        return run_id

    def frame(self, sql: str) -> pl.DataFrame:
        """Return a query's answer."""
        return self.database.frame(sql)
