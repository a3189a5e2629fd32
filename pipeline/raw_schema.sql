-- What the warehouse believes of each sweep, as it was observed. One transaction a sweep.
-- No keys or indexes: contracts check uniqueness, and DuckDB replays a plain table more surely.

create schema if not exists raw;

-- One row per sweep: one pass over the market at one time.
create table if not exists raw.sweeps (
    sweep_id varchar not null,
    partition_date date not null,             -- UTC day on which the sweep started
    started_at_utc timestamptz not null,
    finished_at_utc timestamptz not null,
    market varchar not null,                  -- live or demo; one warehouse holds one market
    base_url varchar not null,
    is_authenticated boolean not null,
    is_interrupted boolean not null,          -- the process died; what had landed was kept
    status varchar not null,                  -- complete, partial (some models failed), failed (no model list)
    has_whole_model_list boolean not null,    -- else a page is missing, and models with it
    models_listed integer not null,
    models_expected integer not null,         -- asked for endpoints: neither alias nor router
    models_answered integer not null,
    endpoints integer not null,
    providers integer not null,
    quarantined integer not null,
    flagged integer not null,
    unknown_keys_json varchar not null,       -- keys of the answers that no contract knows, with counts
    landing_sha256 varchar not null
);

-- One row per model listed in a sweep: was its endpoint list asked for and answered?
create table if not exists raw.model_coverage (
    sweep_id varchar not null,
    partition_date date not null,
    model_id varchar not null,
    kind varchar not null,                    -- standard, router, alias
    outcome varchar not null,                 -- answered, failed, not_asked
    reason varchar,                           -- why it failed or was not asked
    observed_at_utc timestamptz not null      -- arrival of the answer, else end of the sweep
);

-- One row per model and sweep, from /models.
create table if not exists raw.models (
    sweep_id varchar not null,
    partition_date date not null,
    observed_at_utc timestamptz not null,
    model_id varchar not null,
    canonical_slug varchar,
    author varchar not null,
    variant varchar,                          -- free, thinking, batch ...; null for the plain model
    kind varchar not null,                    -- standard, router, alias
    alias_target varchar,
    model_name varchar not null,
    description varchar,
    hugging_face_id varchar,
    created_utc timestamptz,
    context_length bigint,
    max_completion_tokens bigint,
    is_moderated boolean,
    modality varchar,
    input_modalities varchar[],
    output_modalities varchar[],
    tokenizer varchar,
    instruct_type varchar,
    supported_parameters varchar[],
    knowledge_cutoff date,
    expiration_date date,
    input_usd_per_token decimal(38, 24),      -- null for routers, whose price is "-1": not priced
    output_usd_per_token decimal(38, 24),
    cache_read_usd_per_token decimal(38, 24),
    cache_write_usd_per_token decimal(38, 24),
    pricing_json varchar not null,            -- the price texts as they came
    reasoning_json varchar,
    benchmarks_json varchar
);

-- One row per endpoint and sweep, from /models/{id}/endpoints.
create table if not exists raw.endpoints (
    sweep_id varchar not null,
    partition_date date not null,
    observed_at_utc timestamptz not null,
    model_id varchar not null,
    provider_name varchar not null,
    tag varchar not null,
    endpoint_ordinal integer not null,        -- 1.. among rows that share model, provider and tag
    list_position integer not null,           -- 1.. place in the answer
    endpoint_name varchar,
    quantization varchar,
    context_length bigint,
    max_completion_tokens bigint,
    max_prompt_tokens bigint,
    tier varchar not null,                    -- standard, flex, priority, batch
    is_free boolean not null,
    input_usd_per_token decimal(38, 24),
    output_usd_per_token decimal(38, 24),
    cache_read_usd_per_token decimal(38, 24),
    cache_write_usd_per_token decimal(38, 24),
    discount decimal(18, 12),                 -- share already taken off the prices; null when not stated
    other_prices_json varchar not null,       -- remaining price texts, zero-valued keys left out, keys sorted
    overrides_json varchar not null,          -- conditional prices (prompt length, hour), [] when none
    pricing_json varchar not null,            -- the price texts as they came
    status integer,
    uptime_5m_pct double,
    uptime_30m_pct double,
    uptime_1d_pct double,
    reported_ttft_p50_ms double,
    reported_ttft_p75_ms double,
    reported_ttft_p90_ms double,
    reported_ttft_p99_ms double,
    reported_tokens_per_s_p50 double,
    reported_tokens_per_s_p75 double,
    reported_tokens_per_s_p90 double,
    reported_tokens_per_s_p99 double,
    reported_requests_30m bigint,
    supports_implicit_caching boolean,
    supported_parameters varchar[]
);

-- One row per provider and sweep, from /providers.
create table if not exists raw.providers (
    sweep_id varchar not null,
    partition_date date not null,
    observed_at_utc timestamptz not null,
    provider_name varchar not null,
    provider_slug varchar not null,
    headquarters varchar,                     -- ISO 3166 two letters
    datacenters varchar[],
    privacy_policy_url varchar,
    terms_of_service_url varchar,
    status_page_url varchar
);

-- One row per record that broke a hard rule and was kept out of the tables above.
create table if not exists raw.quarantine (
    sweep_id varchar not null,
    partition_date date not null,
    observed_at_utc timestamptz not null,
    table_name varchar not null,              -- models, endpoints, providers
    model_id varchar,                         -- the model it belongs to, null for providers
    row_key varchar not null,                 -- what the record calls itself, for a person
    rule varchar not null,
    reason varchar not null,
    record_json varchar not null
);

-- One row per record and soft rule: loaded, and surprising.
create table if not exists raw.flags (
    sweep_id varchar not null,
    partition_date date not null,
    observed_at_utc timestamptz not null,
    table_name varchar not null,
    row_key varchar not null,
    rule varchar not null,
    detail varchar not null
);
