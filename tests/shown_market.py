"""A published market, made by hand, that shows every state of the app's pages.

Llama has a stale, a flex, a discounted and a tiered endpoint and a gap in its history; there are
a router, an alias, a free model, and a model whose every text tries to be more than text.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from hand_made_marts import TABLES, insert

from pipeline.duck import Database
from pipeline.publishing import publish

NOW = datetime.now(UTC).replace(microsecond=0)
AS_OF = NOW - timedelta(hours=3)
SWEEP_ID = f"{AS_OF:%Y%m%dT%H%M%SZ}-00000001"

LLAMA = "meta-llama/llama-3.1-8b-instruct"
FREE = "acme/tiny:free"
ROUTER = "openrouter/auto"
ALIAS = "~meta-llama/llama-latest"
HOSTILE = "evil/x-script"
HOSTILE_NAME = "<script>alert(1)</script> **bold** [x](javascript:alert(1)) $a^2$ :red[r]"
HOSTILE_PROVIDER = '=<img src=x onerror="alert(2)">'

# Provider, tag, input, output, cache read, uptime, tokens/s, context, and what else is said.
LLAMA_ENDPOINTS: tuple[dict[str, Any], ...] = (
    {"provider_name": "DeepInfra", "tag": "deepinfra/fp8", "prices": ("0.02", "0.04", None)},
    {"provider_name": "Novita", "tag": "novita/fp8", "prices": ("0.02", "0.05", None)},
    {"provider_name": "Groq", "tag": "groq", "prices": ("0.05", "0.08", "0.025")},
    {
        "provider_name": "Nebius",
        "tag": "nebius/fast",
        "prices": ("0.149", "0.29", None),
        "discount": "0.1",
        "overrides_json": json.dumps([{"min_prompt_tokens": 1000, "prompt": "0.0000003"}]),
    },
    {"provider_name": "Cloudflare", "tag": "cloudflare", "prices": ("0.152", "0.287", None)},
    {
        "provider_name": "Together",
        "tag": "together",
        "prices": ("0.18", "0.18", None),
        "is_stale": True,
        "uptime_1d_pct": None,
        "last_seen_utc": datetime(2026, 10, 24, 6, 17, tzinfo=UTC),
    },
    {
        "provider_name": "Google Vertex",
        "tag": "google-vertex/global/flex",
        "prices": ("0.01", "0.02", None),
        "tier": "flex",
        "uptime_1d_pct": 80.8,
    },
)


def publish_shown_market(published_dir: Path, *, market: str = "demo") -> None:
    """Publish the market below ``published_dir``."""
    database = Database.in_memory()
    try:
        database.execute("create schema marts")
        for name, columns in TABLES.items():
            database.execute(f"create table marts.{name} ({columns})")
        _models(database)
        _endpoints(database)
        _changes(database)
        _health(database)
        publish(database, published_dir, market=market, now=AS_OF, keep=3)
    finally:
        database.close()


def _models(database: Database) -> None:
    for model_id, name, more, listed in (
        (
            LLAMA,
            "Meta: Llama 3.1 8B Instruct",
            {"hugging_face_id": "meta-llama/Llama-3.1-8B-Instruct"},
            {"providers": 6, "endpoints": 6, "cheapest_input_usd_per_mtok": "0.02"},
        ),
        (FREE, "Acme: Tiny (free)", {"variant": "free"}, {"is_free": True, "providers": 1}),
        (ROUTER, "Auto Router", {"kind": "router"}, {"providers": 0}),
        (ALIAS, "Llama (latest)", {"kind": "alias", "alias_target": LLAMA}, {"providers": 0}),
        (
            HOSTILE,
            HOSTILE_NAME,
            {"hugging_face_id": '"><b>x', "description": "<b>bold</b> [x](javascript:alert(1))"},
            {"providers": 1, "endpoints": 1, "cheapest_input_usd_per_mtok": "7"},
        ),
    ):
        fact = {
            "model_id": model_id,
            "model_name": name,
            "author": model_id.partition("/")[0],
            "variant": None,
            "kind": "standard",
            "context_length": 131072,
            "input_modalities": ["text"],
            "created_utc": datetime(2024, 7, 23, tzinfo=UTC),
        } | more
        insert(database, "model_facts", fact | {"is_listed": True, "last_seen_utc": AS_OF})
        shared = ("model_id", "model_name", "author", "variant", "kind", "context_length")
        row = {key: fact[key] for key in shared} | {"created_utc": fact["created_utc"]}
        insert(database, "market_table", {"is_free": False, "endpoints": 0} | row | listed)


def _endpoints(database: Database) -> None:
    for rank, endpoint in enumerate(LLAMA_ENDPOINTS, start=1):
        more = {
            "is_cheapest_input": rank == 1,
            "is_best_uptime": rank == 2,
            "default_rank": rank,
        }
        _endpoint(database, LLAMA, endpoint | more)
    _endpoint(
        database,
        FREE,
        {"provider_name": "Acme", "tag": "acme", "prices": ("0", "0", None), "is_free": True},
    )
    hostile = {"provider_name": HOSTILE_PROVIDER, "tag": "evil", "prices": ("7", "9", None)}
    _endpoint(database, HOSTILE, hostile)


def _endpoint(database: Database, model_id: str, endpoint: dict[str, Any]) -> None:
    names = ("input_usd_per_mtok", "output_usd_per_mtok", "cache_read_usd_per_mtok")
    prices = dict(zip(names, endpoint["prices"], strict=True))
    row = {
        "endpoint_id": f"{model_id}|{endpoint['tag']}",
        "model_id": model_id,
        "endpoint_ordinal": 1,
        "tier": "standard",
        "is_free": False,
        "overrides_json": "[]",
    }
    row |= prices | {key: value for key, value in endpoint.items() if key in ("tier", "is_free")}
    row |= {"provider_name": endpoint["provider_name"], "tag": endpoint["tag"]}
    now = {
        "context_length": 131072,
        "uptime_1d_pct": 100.0,
        "is_stale": False,
        "is_best_uptime": False,
        "is_cheapest_input": False,
        "default_rank": 1,
        "last_seen_utc": AS_OF,
    }
    now |= {key: value for key, value in endpoint.items() if key != "prices"}
    insert(database, "provider_table", row | now)
    began = AS_OF - timedelta(days=60)
    if endpoint["provider_name"] != "Cloudflare":
        insert(database, "price_history", row | {"valid_from_utc": began})
        return
    # Cloudflare was away for ten days.
    for first, last in ((60, 40), (30, None)):
        span = {
            "valid_from_utc": AS_OF - timedelta(days=first),
            "valid_to_utc": None if last is None else AS_OF - timedelta(days=last),
        }
        insert(database, "price_history", row | span)


def _changes(database: Database) -> None:
    change = {
        "endpoint_id": f"{LLAMA}|deepinfra/fp8",
        "model_id": LLAMA,
        "provider_name": "DeepInfra",
        "tag": "deepinfra/fp8",
        "last_seen_old_utc": AS_OF - timedelta(days=3),
        "first_seen_new_utc": AS_OF - timedelta(days=2),
        "kind": "cheaper",
    }
    for side, old, new, percent in (
        ("input", "0.03", "0.02", -33.3333),
        ("output", "0.05", "0.04", -20.0),
    ):
        values = {"field": f"{side}_usd_per_mtok", "old_value": old, "new_value": new}
        insert(database, "price_changes", change | values | {"change_pct": percent})


def _health(database: Database) -> None:
    insert(
        database,
        "sweep_log",
        {
            "sweep_id": SWEEP_ID,
            "partition_date": AS_OF.date(),
            "started_at_utc": AS_OF,
            "finished_at_utc": AS_OF + timedelta(seconds=41),
            "market": "demo",
            "base_url": "https://openrouter.ai/api/v1",
            "status": "partial",
            "is_interrupted": False,
            "models_expected": 3,
            "models_answered": 2,
            "endpoints": 9,
            "providers": 8,
            "quarantined": 1,
            "flagged": 1,
            "coverage_pct": 66.7,
            "duration_s": 41.0,
        },
    )
    insert(
        database,
        "quarantine_log",
        {
            "observed_at_utc": AS_OF,
            "table_name": "endpoints",
            "row_key": "<b>bad</b>",
            "rule": "price_not_negative",
            "reason": "input price is -3",
        },
    )
    insert(
        database,
        "flag_log",
        {
            "observed_at_utc": AS_OF,
            "table_name": "endpoints",
            "row_key": f"{LLAMA} | Groq | groq",
            "rule": "cache_read_above_input",
            "detail": "cache read 0.06, input 0.05",
        },
    )
    insert(
        database,
        "data_health",
        {"check_name": "coverage", "status": "warn", "value": 66.7, "detail": "1 model failed"},
    )
