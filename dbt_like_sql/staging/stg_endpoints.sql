-- Endpoints as each sweep saw them: listing, prices, and what OpenRouter reports of their running.
-- grain: one row per sweep and endpoint
-- key: sweep_id, model_id, provider_name, tag, endpoint_ordinal
-- units: prices in USD per million tokens, null where not stated; uptime in percent; ttft in ms
-- materialized: view
select
    sweep_id,
    partition_date,
    model_id,
    provider_name,
    tag,
    endpoint_ordinal,
    list_position,
    quantization,
    tier,
    other_prices_json,
    overrides_json,
    context_length,
    max_completion_tokens,
    max_prompt_tokens,
    (input_usd_per_token * 1000000)::decimal(38, 18) as input_usd_per_mtok,
    (output_usd_per_token * 1000000)::decimal(38, 18) as output_usd_per_mtok,
    (cache_read_usd_per_token * 1000000)::decimal(38, 18) as cache_read_usd_per_mtok,
    (cache_write_usd_per_token * 1000000)::decimal(38, 18) as cache_write_usd_per_mtok,
    discount,
    status,
    uptime_5m_pct,
    uptime_30m_pct,
    uptime_1d_pct,
    reported_ttft_p50_ms,
    reported_ttft_p90_ms,
    reported_ttft_p99_ms,
    reported_tokens_per_s_p50,
    reported_tokens_per_s_p90,
    reported_requests_30m,
    is_free,
    supports_implicit_caching,
    observed_at_utc
from raw.endpoints
