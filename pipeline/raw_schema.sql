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

-- One row per record that broke a hard rule and was kept out of the other tables.
create table if not exists raw.quarantine (
    sweep_id varchar not null,                -- of a probe's request: the run_id
    partition_date date not null,
    observed_at_utc timestamptz not null,
    table_name varchar not null,              -- models, endpoints, providers, probe_requests
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

-- One row per run of probes: some targets measured one after the other.
create table if not exists raw.probe_runs (
    run_id varchar not null,
    partition_date date not null,             -- UTC day on which the run started
    started_at_utc timestamptz not null,
    finished_at_utc timestamptz not null,
    market varchar not null,
    is_interrupted boolean not null,          -- it was stopped, or its process died
    region varchar,                           -- label of the place that measured
    config_json varchar not null,
    batches integer not null,
    requests integer not null,                -- planned, warm-ups and those never sent included
    ok integer not null,
    cost_usd decimal(18, 12),                 -- sum of what providers reported; null when none did
    problems_json varchar not null,           -- a list: what was not measured, and why
    engine_json varchar not null,             -- version of the code and of Python, platform
    landing_sha256 varchar not null
);

-- One row per batch: requests to one target that ran together.
create table if not exists raw.probe_batches (
    run_id varchar not null,
    partition_date date not null,
    batch integer not null,                   -- 1.. within the run
    target varchar not null,
    prompt_set varchar not null,
    phase varchar not null,                   -- warm_up, measure, cold_start
    loop varchar not null,                    -- closed, open
    concurrency integer not null,
    offered_rate_per_s double,                -- of an open loop
    round integer not null,
    requests integer not null,
    started_at_utc timestamptz not null,
    seconds double not null,
    send_lag_p99_ms double,                   -- how late requests went out
    read_lag_p99_ms double,                   -- how long bytes lay in the kernel
    busy_share double not null,               -- the engine's share of a core
    machine_busy_share double,
    steal_share double,                       -- what the hypervisor took
    is_overloaded boolean not null,           -- the probe was too late: no figure is made of it
    window_tokens double,                     -- tokens that came while all streams were busy
    window_s double                           -- length of that time
);

-- One row per request of a probe. Times are CLOCK_MONOTONIC of the probe, ns.
create table if not exists raw.probe_requests (
    run_id varchar not null,
    partition_date date not null,
    request_id varchar not null,
    target varchar not null,
    model_id varchar not null,                -- the model under which it is shown
    requested_model varchar not null,
    provider_name varchar,                    -- who must serve it
    tag varchar,                              -- the pinned endpoint
    region varchar,
    prompt_set varchar not null,
    prompt_sha256 varchar not null,           -- without the nonce
    pair_id varchar,
    turn integer not null,                    -- 1.. within a pair
    phase varchar not null,
    loop varchar not null,
    concurrency integer not null,
    offered_rate_per_s double,
    round integer not null,
    batch integer not null,
    max_tokens integer not null,
    temperature double,
    outcome varchar not null,
    reason varchar,
    http_status integer,
    finish_reason varchar,
    is_done_seen boolean not null,
    served_by varchar,
    served_model varchar,
    generation_id varchar,
    retry_after_s double,
    rate_limit_json varchar not null,
    content_encoding varchar,
    stamp_source varchar,                     -- kernel, user
    is_new_connection boolean,
    peer varchar,
    dns_ms double,
    connect_ms double,
    tls_ms double,
    scheduled_ns bigint,
    connected_ns bigint,
    tls_done_ns bigint,
    sent_ns bigint,
    first_byte_ns bigint,
    first_event_ns bigint,
    first_reasoning_ns bigint,
    first_token_ns bigint,                    -- of any channel
    first_answer_ns bigint,
    last_token_ns bigint,
    end_ns bigint,
    chunk_ns bigint[] not null,               -- arrival of every chunk with text
    chunk_bytes integer[] not null,           -- length of its text, UTF-8
    events integer not null,
    coalesced_chunks integer not null,        -- came in one read with the chunk before
    is_buffered boolean not null,
    is_reasoning_hidden boolean not null,
    prompt_tokens integer,
    completion_tokens integer,                -- reasoning included
    reasoning_tokens integer,
    cached_tokens integer,
    token_source varchar,                     -- usage, x_groq, chunks
    usage_json varchar,
    server_timing_json varchar,
    cost_usd decimal(18, 12),                 -- as the provider reported it
    scheduled_at_utc timestamptz not null,
    sent_at_utc timestamptz
);

-- One row per self-check of the instrument in a run.
create table if not exists raw.probe_self_checks (
    run_id varchar not null,
    partition_date date not null,
    concurrency integer not null,
    tokens_per_s double not null,             -- of each stream
    is_tls boolean not null,
    requests integer not null,
    seconds double not null,
    ttft_error_p50_ms double not null,
    ttft_error_p99_ms double not null,
    gap_error_p50_ms double not null,
    gap_error_p99_ms double not null,
    stamp_source varchar not null
);

-- Cards of models with open weights, as the hub that holds them answered. One transaction a pull.

-- One row per pull: one pass over the cards that were due.
create table if not exists raw.card_pulls (
    pull_id varchar not null,
    partition_date date not null,             -- UTC day on which the pull started
    started_at_utc timestamptz not null,
    finished_at_utc timestamptz not null,
    market varchar not null,
    base_url varchar not null,
    is_authenticated boolean not null,
    is_interrupted boolean not null,          -- the process died; what had landed was kept
    asked integer not null,                   -- repositories
    answered integer not null,
    landing_sha256 varchar not null
);

-- One row per pull and repository that was asked for. Facts that nobody states are null.
create table if not exists raw.model_cards (
    pull_id varchar not null,
    partition_date date not null,
    observed_at_utc timestamptz not null,
    hugging_face_id varchar not null,         -- as it was asked for; it may since have another name
    outcome varchar not null,                 -- answered, gated, absent (or private), failed
    reason varchar,
    config_outcome varchar,                   -- the same of config.json; null when not asked for
    is_gated boolean,                         -- its files are given only to those who were let in
    pipeline_tag varchar,
    tags varchar[],
    licence varchar,                          -- identifier as the hub has it: apache-2.0, llama3.1, other
    licence_name varchar,                     -- of a licence of the maker's own
    licence_url varchar,
    params_total bigint,
    params_basis varchar,                     -- safetensors, gguf (headers of the files), name
    params_active bigint,                     -- that work on a token; null where all do or nobody says
    params_active_basis varchar,              -- name, config (worked out from the number of experts)
    config_json varchar,                      -- the keys of config.json that memory depends on
    gguf_files_json varchar                   -- a list of {repository, path, size_bytes, quant, sha256}
);

-- What no API states, kept by hand in pipeline/facts/hand_kept.csv; filled anew when it changes.
-- One row per subject and field.
create table if not exists raw.hand_kept_facts (
    about varchar not null,                   -- author, model
    subject varchar not null,                 -- first part of model ids, or a model id without variant
    field varchar not null,
    value varchar not null,
    source_url varchar not null,
    as_of date not null
);

-- Scores from files: those bundled with tokentape, and imports as landing keeps them. These three
-- tables are filled anew from the files at each publication.

-- One row per score of a file.
create table if not exists raw.score_rows (
    file_id varchar not null,                 -- bundled, or the id of the import
    landed_at_utc timestamptz,                -- null for the bundled ones
    source_name varchar not null,             -- the model as the file writes it
    metric varchar not null,
    score decimal(18, 6) not null,
    scale_min decimal(18, 6),
    scale_max decimal(18, 6),
    higher_is_better boolean not null,
    has_zero boolean not null,                -- twice the score is twice as good
    variant varchar,
    source varchar not null,
    source_url varchar,
    as_of date not null,
    evidence varchar not null,                -- direct, variant, base_model, self_reported, user
    licence varchar,
    citation varchar
);

-- One row per source and name: the model that it was matched with, or why with none.
create table if not exists raw.score_names (
    source varchar not null,
    source_name varchar not null,
    model_id varchar,
    matched_by varchar,                       -- alias, id, normalised
    kind varchar,                             -- of an alias: exact, variant, base
    variant varchar,                          -- of an alias
    reason varchar                            -- why it is unmatched
);

-- One row per source that tokentape knows of.
create table if not exists raw.score_sources (
    source varchar not null,
    title varchar not null,
    source_url varchar,
    licence varchar not null,
    citation varchar not null
);

-- Subscriptions, from the file of offers; filled anew from it at each publication.
-- One row per plan and pattern of models.
create table if not exists raw.offers (
    provider_name varchar not null,
    plan varchar not null,
    usd_per_month decimal(18, 6) not null,
    model_pattern varchar not null,           -- model ids; * stands for any text
    url varchar,
    source varchar not null,
    as_of date not null
);
