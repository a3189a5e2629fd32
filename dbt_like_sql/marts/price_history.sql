-- Price history: over which span of time which endpoint was listed at which price.
-- grain: one row per endpoint and span of unchanged listing
-- key: endpoint_id, valid_from_utc
-- units: prices in USD per million tokens, null where not stated; times in UTC
-- materialized: view
with

spans as (
    select
        * exclude (sweep_id, partition_date, first_sweep_id),
        first_sweep_id as sweep_id
    from intermediate.int_closed_spans
    union all by name
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
        seen_from_utc as valid_from_utc,
        null as valid_to_utc,
        last_seen_utc,
        state_sweep_id as sweep_id
    from intermediate.int_endpoints_now
    where is_present
),

final as (
    select
        * exclude (sweep_id),
        'openrouter' as source,
        'endpoint' as grain,
        valid_from_utc as observed_at_utc,
        sweep_id
    from spans
)

select * from final
