"""A small market, made by hand: all marts, two models, three endpoints, sweeps of three months.

The rows are inserted by name; a column that is not named is null.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, date, datetime
from pathlib import Path

from pipeline.duck import Database
from pipeline.sql_models import load_sql_models

LLAMA = "meta-llama/llama-3.1-8b-instruct"
FREE = "acme/tiny:free"
SWEEP_DAYS = (date(2026, 9, 30), date(2026, 10, 1), date(2026, 11, 29), date(2026, 11, 30))
AS_OF = datetime(2026, 11, 30, 6, 17, tzinfo=UTC)

PRICE = "decimal(38, 18)"
IDENTITY = "endpoint_id varchar, model_id varchar, provider_name varchar, tag varchar, "
IDENTITY += "endpoint_ordinal integer, "
PRICES = (
    f"is_free boolean, input_usd_per_mtok {PRICE}, output_usd_per_mtok {PRICE}, "
    f"cache_read_usd_per_mtok {PRICE}, cache_write_usd_per_mtok {PRICE}, "
    "discount decimal(18, 12), overrides_json varchar, other_prices_json varchar, "
)
SEEN = "observed_at_utc timestamptz, sweep_id varchar"

TABLES = {
    "provider_table": (
        IDENTITY + "provider_slug varchar, headquarters varchar, datacenters varchar[], "
        "privacy_policy_url varchar, terms_of_service_url varchar, status_page_url varchar, "
        "quantization varchar, "
        "context_length bigint, max_completion_tokens bigint, max_prompt_tokens bigint, "
        "status integer, tier varchar, " + PRICES + "uptime_5m_pct double, uptime_30m_pct double, "
        "uptime_1d_pct double, reported_ttft_p50_ms double, reported_ttft_p90_ms double, "
        "reported_ttft_p99_ms double, reported_tokens_per_s_p50 double, "
        "reported_tokens_per_s_p90 double, reported_requests_30m bigint, "
        "probe_ttft_p50_ms double, probe_ttft_p95_ms double, probe_tokens_per_s_p50 double, "
        "probe_tokens_per_s_p05 double, probe_ok_pct double, probe_n bigint, "
        "probe_is_trusted boolean, "
        "probe_last_at_utc timestamptz, supports_implicit_caching boolean, is_stale boolean, "
        "is_best_uptime boolean, is_cheapest_input boolean, default_rank bigint, "
        "first_seen_utc timestamptz, last_seen_utc timestamptz, " + SEEN
    ),
    "price_history": (
        IDENTITY + "quantization varchar, context_length bigint, max_completion_tokens bigint, "
        "tier varchar, " + PRICES + "valid_from_utc timestamptz, valid_to_utc timestamptz, "
        "last_seen_utc timestamptz, source varchar, grain varchar, " + SEEN
    ),
    "uptime_history": (
        IDENTITY + "status integer, uptime_5m_pct double, uptime_30m_pct double, "
        "uptime_1d_pct double, reported_ttft_p50_ms double, reported_ttft_p90_ms double, "
        "reported_tokens_per_s_p50 double, reported_requests_30m bigint, "
        "observed_at_utc timestamptz, partition_date date, sweep_id varchar"
    ),
    "price_changes": (
        IDENTITY + "kind varchar, field varchar, old_value varchar, new_value varchar, "
        "change_pct double, last_seen_old_utc timestamptz, first_seen_new_utc timestamptz, "
        "sweep_id varchar"
    ),
    "model_facts": (
        "model_id varchar, model_name varchar, author varchar, variant varchar, kind varchar, "
        "alias_target varchar, description varchar, canonical_slug varchar, "
        "hugging_face_id varchar, created_utc timestamptz, context_length bigint, "
        "max_completion_tokens bigint, modality varchar, input_modalities varchar[], "
        "output_modalities varchar[], tokenizer varchar, instruct_type varchar, "
        "is_moderated boolean, supported_parameters varchar[], knowledge_cutoff date, "
        f"expiration_date date, headline_input_usd_per_mtok {PRICE}, "
        f"headline_output_usd_per_mtok {PRICE}, benchmarks_json varchar, developer varchar, "
        "origin_country varchar, origin_source_url varchar, licence varchar, "
        "licence_name varchar, licence_url varchar, params_total_b decimal(18, 9), "
        "params_active_b decimal(18, 9), params_basis varchar, params_active_basis varchar, "
        "params_source_url varchar, size_class varchar, is_gated boolean, card_outcome varchar, "
        "pipeline_tag varchar, tags varchar[], config_json varchar, gguf_files_json varchar, "
        "hugging_face_url varchar, watermark_statement varchar, watermark_source_url varchar, "
        "transparency_url varchar, hand_kept_as_of date, facts_as_of_utc timestamptz, "
        "is_listed boolean, "
        "first_seen_utc timestamptz, last_seen_utc timestamptz, " + SEEN
    ),
    "market_table": (
        "model_id varchar, model_name varchar, author varchar, variant varchar, kind varchar, "
        "created_utc timestamptz, context_length bigint, input_modalities varchar[], "
        "providers hugeint, endpoints bigint, stale_endpoints bigint, is_free boolean, "
        f"cheapest_input_usd_per_mtok {PRICE}, cheapest_output_usd_per_mtok {PRICE}, "
        "cheapest_provider_name varchar, best_uptime_1d_pct double, "
        "fastest_tokens_per_s_p50 double, lowest_ttft_p50_ms double, price_changes_30d bigint, "
        + SEEN
    ),
    "sweep_log": (
        "sweep_id varchar not null, partition_date date, started_at_utc timestamptz, "
        "finished_at_utc timestamptz, market varchar, base_url varchar, is_authenticated boolean, "
        "is_interrupted boolean, status varchar, models_listed integer, models_expected integer, "
        "models_answered integer, endpoints integer, providers integer, quarantined integer, "
        "flagged integer, unknown_keys_json varchar, landing_sha256 varchar, coverage_pct double, "
        "duration_s double"
    ),
    "quarantine_log": (
        "sweep_id varchar, partition_date date, observed_at_utc timestamptz, table_name varchar, "
        "row_key varchar, rule varchar, reason varchar, record_json varchar"
    ),
    "flag_log": (
        "sweep_id varchar, partition_date date, observed_at_utc timestamptz, table_name varchar, "
        "row_key varchar, rule varchar, detail varchar"
    ),
    "data_health": (
        "check_name varchar, status varchar, value double, detail varchar, as_of_utc timestamptz"
    ),
}
# Nothing here depends on the columns of these.
AS_BUILT = (
    "model_scores",
    "offers",
    "performance_history",
    "probe_samples",
    "probe_summary",
    "score_per_dollar",
    "unmatched_names",
)
TABLES |= {
    model.name: ", ".join(f"{column.name} {column.type}" for column in model.columns)
    for model in load_sql_models()
    if model.name in AS_BUILT
}


def sweep_id_of(day: date) -> str:
    """Return the id of the one sweep of ``day``."""
    return f"{day:%Y%m%d}T061700Z-00000001"


def make_marts(database: Database, days: Iterable[date] = SWEEP_DAYS) -> None:
    """Create schema ``marts`` with a sweep on each of ``days``."""
    database.execute("create schema marts")
    for name, columns in TABLES.items():
        database.execute(f"create table marts.{name} ({columns})")
    for day in days:
        add_sweep(database, day)
    for fact in (
        {
            "model_id": LLAMA,
            "model_name": "Llama 3.1 8B Instruct",
            "author": "meta-llama",
            "kind": "standard",
            "description": 'Says "hi" é\nin two lines',
            "input_modalities": ["text"],
            "context_length": 131072,
            "headline_input_usd_per_mtok": "0.02",
            "is_listed": True,
            "knowledge_cutoff": date(2023, 12, 31),
        },
        {
            "model_id": FREE,
            "model_name": "Tiny (free)",
            "author": "acme",
            "variant": "free",
            "kind": "standard",
            "description": "=1+1",
            "input_modalities": ["text", "image"],
            "is_listed": True,
        },
    ):
        insert(database, "model_facts", fact | {"observed_at_utc": AS_OF})
        listed = {key: fact[key] for key in ("model_id", "model_name", "author", "kind")}
        insert(database, "market_table", listed | {"providers": 2, "observed_at_utc": AS_OF})
    for rank, (provider, price) in enumerate(
        (("DeepInfra", "0.020000000000000001"), ("Groq", "0.05")), start=1
    ):
        endpoint = endpoint_of(LLAMA, provider) | {
            "tier": "standard",
            "is_free": False,
            "input_usd_per_mtok": price,
            "output_usd_per_mtok": "100",
            "discount": "0",
        }
        insert(
            database,
            "provider_table",
            endpoint
            | {
                "default_rank": rank,
                "uptime_1d_pct": 99.9,
                "is_stale": False,
                "observed_at_utc": datetime(2026, 11, 30, 6, 17, 1, 250000, tzinfo=UTC),
            },
        )
        insert(
            database,
            "price_history",
            endpoint | {"valid_from_utc": AS_OF, "last_seen_utc": AS_OF, "grain": "endpoint"},
        )
    insert(
        database,
        "provider_table",
        endpoint_of(FREE, "Acme") | {"is_free": True, "input_usd_per_mtok": "0", "default_rank": 1},
    )
    insert(
        database,
        "price_changes",
        endpoint_of(LLAMA, "Groq")
        | {
            "kind": "cheaper",
            "field": "input_usd_per_mtok",
            "old_value": "0.06",
            "new_value": "0.05",
            "first_seen_new_utc": AS_OF,
        },
    )
    insert(database, "data_health", {"check_name": "coverage", "status": "ok", "value": 100.0})
    for hour in (3, 6):
        add_probe_run(database, AS_OF.replace(hour=hour))


def add_probe_run(database: Database, at: datetime) -> None:
    """Add a probe run: two targets of a model in each of the marts."""
    for provider, ttft_ms in (("Groq", 171.5), ("DeepInfra", 412.0)):
        endpoint = endpoint_of(LLAMA, provider)
        del endpoint["endpoint_ordinal"]
        asked = endpoint | {
            "target": f"{provider} pinned",
            "prompt_set": "short_chat",
            "phase": "measure",
            "loop": "closed",
            "concurrency": 1,
        }
        run = asked | {"run_id": f"{at:%Y%m%dT%H%M%SZ}-0000000a"}
        figures = {"n": 10, "ttft_p50_ms": ttft_ms, "is_trusted": True}
        insert(database, "performance_history", run | figures | {"started_at_utc": at})
        request = {"request_id": provider, "ttft_ms": ttft_ms, "sent_at_utc": at}
        insert(database, "probe_samples", run | request | {"cost_listed_usd": "0.0000123"})
        database.execute(
            "delete from marts.probe_summary where target = $target", {"target": asked["target"]}
        )
        for hours in (72, 24):
            insert(database, "probe_summary", asked | figures | {"window_hours": hours})


def add_sweep(database: Database, day: date, landing_sha256: str = "ab" * 32) -> None:
    """Add a sweep of ``day``: its line in the log and the uptime of two endpoints."""
    started = datetime(day.year, day.month, day.day, 6, 17, tzinfo=UTC)
    insert(
        database,
        "sweep_log",
        {
            "sweep_id": sweep_id_of(day),
            "partition_date": day,
            "started_at_utc": started,
            "finished_at_utc": started,
            "market": "live",
            "status": "complete",
            "landing_sha256": landing_sha256,
        },
    )
    for provider in ("DeepInfra", "Groq"):
        insert(
            database,
            "uptime_history",
            endpoint_of(LLAMA, provider)
            | {
                "uptime_1d_pct": 99.5,
                "observed_at_utc": started,
                "partition_date": day,
                "sweep_id": sweep_id_of(day),
            },
        )


def endpoint_of(model_id: str, provider_name: str) -> dict[str, object]:
    """Return the identifying columns of an endpoint."""
    return {
        "endpoint_id": f"{model_id}|{provider_name}",
        "model_id": model_id,
        "provider_name": provider_name,
        "tag": provider_name.lower(),
        "endpoint_ordinal": 1,
    }


def insert(database: Database, mart: str, row: dict[str, object]) -> None:
    """Insert one row; decimals may be given as text."""
    names = ", ".join(row)
    values = ", ".join(f"${name}" for name in row)
    database.execute(f"insert into marts.{mart} ({names}) values ({values})", row)


def warehouse_file(path: Path) -> Database:
    """Create a database file with the marts in it, opened as the pipeline opens its warehouse."""
    database = Database.open_file(path, memory_limit="512MB", threads=2)
    make_marts(database)
    return database
