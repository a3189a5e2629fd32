"""A warehouse with a long, regular past, made in SQL: for measuring what history costs.

Every day has one complete sweep of 350 models and 1,200 endpoints; each endpoint's input price
moves every 60 days, so that about 20 endpoints change a day, as in the recorded market.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta

from pipeline.built_models import lineage_fingerprint
from pipeline.duck import Database
from pipeline.sql_models import SqlModel

MODELS = 350
ENDPOINTS = 1200
DAYS_BETWEEN_MOVES = 60
LAST_DAY = date(2026, 11, 30)

SWEEP = """
    strftime(day, '%Y%m%dT061700Z-00000000') as sweep_id,
    day::date as partition_date,
    (day + interval 377 minutes)::timestamptz as observed_at_utc
"""
ENDPOINT = f"""
    format('author-{{}}/model-{{}}', e % {MODELS} % 40, e % {MODELS}) as model_id,
    format('Provider {{}}', e % 64) as provider_name,
    format('provider-{{}}/fp8', e % 64) as tag,
    1 + e // ({MODELS} * 64) as endpoint_ordinal,
    'fp8' as quantization, 131072 as context_length, 16384 as max_completion_tokens,
    'standard' as tier, false as is_free
"""
MOVES = f"((day_number + e * 7) // {DAYS_BETWEEN_MOVES})"
PRICE = f"(0.0000001 * (1 + e % 50) * (1 + 0.1 * ({MOVES} % 3)))"


def fill(database: Database, models: Sequence[SqlModel], days: int) -> None:
    """Fill the raw tables and the incremental models with ``days`` days up to ``LAST_DAY``."""
    add_days(database, LAST_DAY - timedelta(days=days - 1), LAST_DAY)
    for model in models:
        if model.materialized == "incremental":
            columns = ", ".join(f"{column.name} {column.type}" for column in model.columns)
            database.execute(f"create schema if not exists {model.schema}")
            database.execute(f"create table {model.qualified_name} ({columns})")
    _fill_incremental(database, LAST_DAY - timedelta(days=days - 1), days)
    database.execute("create schema if not exists meta")
    database.execute(
        "create table meta.built_sweeps (model varchar, fingerprint varchar, sweep_id varchar, "
        "partition_date date, started_at_utc timestamptz)"
    )
    for model in models:
        if model.materialized == "incremental":
            database.execute(
                "insert into meta.built_sweeps select $model, $fingerprint, sweep_id, "
                "partition_date, started_at_utc from raw.sweeps",
                {
                    "model": model.qualified_name,
                    "fingerprint": lineage_fingerprint(model, models),
                },
            )


def add_days(database: Database, first: date, last: date) -> None:
    """Add one complete sweep a day to the raw tables."""
    days = {"first": first, "last": last}
    calendar = (
        "(select day, (day::date - date '2000-01-01') as day_number "
        "from generate_series($first::timestamp, $last::timestamp, interval 1 day) as g(day))"
    )
    database.execute(
        f"""insert into raw.sweeps by name select sweep_id, partition_date,
        observed_at_utc as started_at_utc, observed_at_utc as finished_at_utc, 'live' as market,
        'synthetic' as base_url, false as is_authenticated, false as is_interrupted,
        'complete' as status, true as has_whole_model_list,
        {MODELS} as models_listed, {MODELS} as models_expected,
        {MODELS} as models_answered, {ENDPOINTS} as endpoints, 64 as providers, 0 as quarantined,
        0 as flagged, '{{}}' as unknown_keys_json, '' as landing_sha256
        from (select {SWEEP} from {calendar})""",
        days,
    )
    database.execute(
        f"""insert into raw.model_coverage by name select {SWEEP},
        format('author-{{}}/model-{{}}', m % 40, m) as model_id, 'standard' as kind,
        'answered' as outcome from {calendar}, range({MODELS}) as g(m)""",
        days,
    )
    database.execute(
        f"""insert into raw.models by name select {SWEEP},
        format('author-{{}}/model-{{}}', m % 40, m) as model_id, format('author-{{}}', m % 40)
        as author, 'standard' as kind, format('Model {{}}', m) as model_name,
        repeat('Words that describe the model. ', 8) as description,
        131072 as context_length, '{{}}' as pricing_json
        from {calendar}, range({MODELS}) as g(m)""",
        days,
    )
    database.execute(
        f"""insert into raw.providers by name select {SWEEP}, format('Provider {{}}', p)
        as provider_name, format('provider-{{}}', p) as provider_slug
        from {calendar}, range(64) as g(p)""",
        days,
    )
    database.execute(
        f"""insert into raw.endpoints by name select {SWEEP}, {ENDPOINT}, 1 as list_position,
        {PRICE}::decimal(38, 24) as input_usd_per_token,
        {PRICE}::decimal(38, 24) * 2 as output_usd_per_token, 0 as discount,
        '{{}}' as other_prices_json, '[]' as overrides_json, '{{}}' as pricing_json, 0 as status,
        95 + (e * 31 + day_number * 17) % 500 / 100 as uptime_1d_pct
        from {calendar}, range({ENDPOINTS}) as g(e) order by partition_date, e""",
        days,
    )


def _fill_incremental(database: Database, first: date, days: int) -> None:
    span = {"first": first, "last": first + timedelta(days=days - 1)}
    calendar = (
        "(select day, (day::date - date '2000-01-01') as day_number "
        "from generate_series($first::timestamp, $last::timestamp, interval 1 day) as g(day))"
    )
    endpoint_id = "left(md5(e::varchar), 16) as endpoint_id"
    moved = f"(day_number + e * 7) % {DAYS_BETWEEN_MOVES} = 0"
    database.execute(
        f"""insert into intermediate.int_endpoint_states by name
        select * exclude (observed_at_utc, day, day_number, e),
        observed_at_utc as sweep_started_at_utc, observed_at_utc as seen_from_utc,
        case when event = 'changed' then observed_at_utc - interval 1 day end
        as last_seen_before_utc,
        lag(sweep_id) over (partition by endpoint_id order by sweep_id) as before_sweep_id
        from (
            select day, day_number, e, {endpoint_id}, {SWEEP}, {ENDPOINT},
            case when day = $first::timestamp then 'first' else 'changed' end as event,
            true as is_present, ({PRICE} * 1000000)::decimal(38, 18) as input_usd_per_mtok,
            ({PRICE} * 2000000)::decimal(38, 18) as output_usd_per_mtok, 0 as discount,
            '{{}}' as other_prices_json, '[]' as overrides_json
            from {calendar}, range({ENDPOINTS}) as g(e)
            where day = $first::timestamp or {moved}
        ) order by sweep_id""",
        span,
    )
    database.execute(
        f"""insert into intermediate.int_state_changes by name
        select * exclude (observed_at_utc), observed_at_utc as first_seen_new_utc from (
            select {endpoint_id}, {SWEEP},
            format('author-{{}}/model-{{}}', e % {MODELS} % 40, e % {MODELS}) as model_id,
            format('Provider {{}}', e % 64) as provider_name,
            format('provider-{{}}/fp8', e % 64) as tag, 1 as endpoint_ordinal,
            'dearer' as kind, 'input_usd_per_mtok' as field,
            '1' as old_value, '1.1' as new_value, 10.0 as change_pct
            from {calendar}, range({ENDPOINTS}) as g(e)
            where day > $first::timestamp and {moved}
        ) order by sweep_id""",
        span,
    )
    database.execute(
        """insert into intermediate.int_closed_spans by name
        select before.* exclude (
            sweep_id, partition_date, sweep_started_at_utc, event, is_present, before_sweep_id,
            max_prompt_tokens, last_seen_before_utc, seen_from_utc
        ), states.sweep_id, states.partition_date, before.sweep_id as first_sweep_id,
        before.seen_from_utc as valid_from_utc, states.seen_from_utc as valid_to_utc,
        states.last_seen_before_utc as last_seen_utc
        from intermediate.int_endpoint_states as states
        inner join intermediate.int_endpoint_states as before
            on before.endpoint_id = states.endpoint_id and before.sweep_id = states.before_sweep_id
        order by states.sweep_id"""
    )
    database.execute(
        """insert into marts.uptime_history by name
        select left(md5(e::varchar), 16) as endpoint_id, endpoints.* exclude (e) from (
            select model_id, provider_name, tag, endpoint_ordinal, status, uptime_1d_pct,
            observed_at_utc, partition_date, sweep_id,
            row_number() over (partition by sweep_id order by rowid) - 1 as e
            from raw.endpoints
        ) as endpoints order by sweep_id"""
    )
