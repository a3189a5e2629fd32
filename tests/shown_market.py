"""A published market, made by hand, that shows every state of the app's pages.

Llama has a stale, a flex, a discounted and a tiered endpoint, a gap in its history, and probes of
four of its endpoints and of a provider asked directly; there are a router, an alias, a free model,
and a model whose every text tries to be more than text.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from hand_made_marts import TABLES, insert
from shown_probes import measured
from shown_scores import insert_scores

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
    {
        "provider_name": "DeepInfra",
        "tag": "deepinfra/fp8",
        "prices": ("0.02", "0.04", None),
        "quantization": "fp8",
        "headquarters": "US",
        "privacy_policy_url": "https://deepinfra.example/privacy",
        "status_page_url": "https://status.deepinfra.example/",
    },
    {
        "provider_name": "Novita",
        "tag": "novita/fp8",
        "prices": ("0.02", "0.05", None),
        "quantization": "fp8",
        "context_length": 16384,
    },
    {"provider_name": "Groq", "tag": "groq", "prices": ("0.05", "0.08", "0.025")},
    {
        "provider_name": "Nebius",
        "tag": "nebius/fast",
        "prices": ("0.149", "0.29", None),
        "discount": "0.1",
        "overrides_json": json.dumps(
            [
                {"min_prompt_tokens": 1000, "prompt": "0.0000003"},
                {"utc_start": 1630, "utc_end": 30, "completion": "0.000000145"},
            ]
        ),
        "quantization": "bf16",
        "headquarters": "NL",
        "datacenters": ["FI", "US"],
    },
    {
        "provider_name": "Cloudflare",
        "tag": "cloudflare",
        "prices": ("0.152", "0.287", None),
        "max_completion_tokens": 4096,
    },
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

# What the card of its weights and the facts kept by hand say.
LLAMA_CARD: dict[str, Any] = {
    "hugging_face_id": "meta-llama/Llama-3.1-8B-Instruct",
    "developer": "Meta",
    "origin_country": "US",
    "origin_source_url": "https://www.meta.com/about/",
    "licence": "llama3.1",
    "params_total_b": "8.030261248",
    "params_basis": "safetensors",
    "size_class": "consumer",
    "is_gated": True,
    "card_outcome": "answered",
    "pipeline_tag": "text-generation",
    "tags": ["transformers", "conversational", "license:llama3.1"],
    "config_json": json.dumps(
        {
            "model_type": "llama",
            "num_hidden_layers": 32,
            "num_attention_heads": 32,
            "num_key_value_heads": 8,
            "head_dim": 128,
            "hidden_size": 4096,
        }
    ),
    "hugging_face_url": "https://huggingface.co/meta-llama/Llama-3.1-8B-Instruct",
    "transparency_url": "https://github.com/meta-llama/llama-models",
    "facts_as_of_utc": AS_OF,
}

# Novita fails often, Nebius was measured by an instrument that was not good enough.
LLAMA_TARGETS: tuple[dict[str, Any], ...] = (
    {
        "target": "groq",
        "provider_name": "Groq",
        "tag": "groq",
        "levels": (1, 4, 16),
        "ttft_ms": 171,
        "tokens_per_s": 486,
        "failures": {"rate_limited": 0.03},
        "error_ms": 0.14,
        "paid": 0.0836,
    },
    {
        "target": "deepinfra",
        "provider_name": "DeepInfra",
        "tag": "deepinfra/fp8",
        "levels": (1, 4, 16),
        "ttft_ms": 412,
        "tokens_per_s": 61,
        "failures": {},
        "error_ms": 0.14,
        "paid": 0.0408,
    },
    {
        "target": "novita",
        "provider_name": "Novita",
        "tag": "novita/fp8",
        "levels": (1, 4),
        "ttft_ms": 298,
        "tokens_per_s": 92,
        "failures": {"overloaded": 0.12, "timeout": 0.06, "truncated": 0.05, "stream_error": 0.02},
        "error_ms": 0.14,
        "paid": 0.0511,
    },
    {
        "target": "nebius",
        "provider_name": "Nebius",
        "tag": "nebius/fast",
        "levels": (1,),
        "ttft_ms": 240,
        "tokens_per_s": 118,
        "failures": {},
        "error_ms": 9.37,
        "paid": 0.302,
    },
    {
        "target": "groq direct",
        "provider_name": None,
        "tag": None,
        "region": "eu-west",
        "levels": (1, 4),
        "ttft_ms": 139,
        "tokens_per_s": 501,
        "failures": {"rate_limited": 0.08, "cancelled_budget": 0.04},
        "error_ms": 0.14,
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
        _offers(database)
        insert_scores(database)
        _uptimes(database)
        _probes(database)
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
            LLAMA_CARD,
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
        _endpoint(database, LLAMA, endpoint | more | _probed(endpoint["provider_name"]))
    _endpoint(
        database,
        FREE,
        {"provider_name": "Acme", "tag": "acme", "prices": ("0", "0", None), "is_free": True},
    )
    hostile = {
        "provider_name": HOSTILE_PROVIDER,
        "tag": "evil",
        "prices": ("7", "9", None),
        "privacy_policy_url": "javascript:alert(3)",
        "terms_of_service_url": 'https://evil.example/"><img src=x onerror=alert(4)>',
        "quantization": HOSTILE_NAME,
        "overrides_json": json.dumps([{"min_prompt_tokens": HOSTILE_NAME, HOSTILE_NAME: "1"}]),
    }
    _endpoint(database, HOSTILE, hostile)


def _offers(database: Database) -> None:
    for provider, plan, price, pattern, url in (
        ("Acme Plus", "Pro", "20", "acme/*", "https://acme.example/plans"),
        (HOSTILE_PROVIDER, HOSTILE_NAME, "9.99", "evil/*", "javascript:alert(5)"),
    ):
        offer = {"provider_name": provider, "plan": plan, "usd_per_month": price, "url": url}
        kept = {"model_pattern": pattern, "source": "their page", "as_of": AS_OF.date()}
        insert(database, "offers", offer | kept)


def _probed(provider_name: str) -> dict[str, Any]:
    """Return our columns of the provider table."""
    for target in LLAMA_TARGETS:
        if target["provider_name"] == provider_name:
            return {
                "probe_ttft_p50_ms": target["ttft_ms"],
                "probe_ttft_p95_ms": 1.4 * target["ttft_ms"] if not target["failures"] else None,
                "probe_tokens_per_s_p50": target["tokens_per_s"],
                "probe_tokens_per_s_p05": None
                if target["failures"]
                else 0.9 * target["tokens_per_s"],
                "probe_ok_pct": 100.0 if not target["failures"] else 88.3,
                "probe_n": 60 if not target["failures"] else 53,
                "probe_is_trusted": target["provider_name"] != "Nebius",
                "probe_last_at_utc": AS_OF,
            }
    return {}


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
        span = {"valid_from_utc": began, "last_seen_utc": AS_OF}
        insert(database, "price_history", row | span)
        return
    # Cloudflare was away for ten days.
    for first, last in ((60, 40), (30, None)):
        span = {
            "valid_from_utc": AS_OF - timedelta(days=first),
            "valid_to_utc": None if last is None else AS_OF - timedelta(days=last),
            "last_seen_utc": AS_OF - timedelta(days=last or 0),
        }
        insert(database, "price_history", row | span)


def _uptimes(database: Database) -> None:
    """Forty daily looks: DeepInfra and Novita were out together once, Groq on a day of its own."""
    out = {("DeepInfra", 3), ("Novita", 3), ("Groq", 5), ("Groq", 9)}
    for endpoint in LLAMA_ENDPOINTS:
        name = endpoint["provider_name"]
        for back in range(40):
            seen = AS_OF - timedelta(days=back)
            row = {
                "endpoint_id": f"{LLAMA}|{endpoint['tag']}",
                "model_id": LLAMA,
                "provider_name": name,
                "tag": endpoint["tag"],
                "endpoint_ordinal": 1,
                "uptime_30m_pct": 80.0 if (name, back) in out else 99.9,
                "uptime_1d_pct": 98.5 if name == "Novita" else 99.5,
                "observed_at_utc": seen,
                "partition_date": seen.date(),
                "sweep_id": f"{seen:%Y%m%dT%H%M%SZ}-00000001",
            }
            insert(database, "uptime_history", row)


def _probes(database: Database) -> None:
    llama = [
        {"region": None, "endpoint_id": f"{LLAMA}|{target['tag']}" if target["tag"] else None}
        | target
        for target in LLAMA_TARGETS
    ]
    hostile = {
        "target": HOSTILE_NAME,
        "provider_name": HOSTILE_PROVIDER,
        "tag": HOSTILE_PROVIDER,
        "region": HOSTILE_NAME,
        "endpoint_id": f"{HOSTILE}|evil",
        "levels": (1,),
        "ttft_ms": 500,
        "tokens_per_s": 20,
        "failures": {},
        "error_ms": None,
    }
    for model_id, targets in ((LLAMA, llama), (HOSTILE, [hostile])):
        for mart, frame in measured(model_id, targets, AS_OF).items():
            database.insert(f"marts.{mart}", frame)


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
