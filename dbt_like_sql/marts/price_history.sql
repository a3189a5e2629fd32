-- Price history: over which span of time which endpoint was listed at which price.
-- grain: one row per endpoint and span of unchanged listing
-- key: endpoint_id, valid_from_utc
-- units: prices in USD per million tokens, null where not stated; times in UTC
-- materialized: table
select
    endpoint_id,
    model_id,
    provider_name,
    tag,
    endpoint_ordinal,
    quantization,
    context_length,
    max_completion_tokens,
    tier,
    is_free,
    input_usd_per_mtok,
    output_usd_per_mtok,
    cache_read_usd_per_mtok,
    cache_write_usd_per_mtok,
    discount,
    overrides_json,
    other_prices_json,
    valid_from_utc,
    valid_to_utc,
    last_seen_utc,
    'openrouter' as source,
    'endpoint' as grain,
    seen_from_utc as observed_at_utc,
    sweep_id
from intermediate.int_price_spans
