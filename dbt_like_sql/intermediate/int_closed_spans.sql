-- Spans of time over which an endpoint was listed without a change, and which have ended.
-- grain: one row per endpoint and span that a sweep ended
-- key: endpoint_id, sweep_id
-- units: prices in USD per million tokens; times in UTC
-- materialized: incremental by partition_date
with

states_now as (
    select *
    from intermediate.int_endpoint_states
    where partition_date = $partition_date and sweep_id = $sweep_id
),

states_before as (
    select before.*
    from intermediate.int_endpoint_states as before
    inner join states_now
        on before.endpoint_id = states_now.endpoint_id
        and before.sweep_id = states_now.before_sweep_id
    where before.is_present
),

final as (
    select
        states_before.endpoint_id,
        states_now.sweep_id,
        states_now.partition_date,
        states_before.sweep_id as first_sweep_id,
        states_before.model_id,
        states_before.provider_name,
        states_before.tag,
        states_before.endpoint_ordinal,
        states_before.quantization,
        states_before.context_length,
        states_before.max_completion_tokens,
        states_before.tier,
        states_before.is_free,
        states_before.input_usd_per_mtok,
        states_before.output_usd_per_mtok,
        states_before.cache_read_usd_per_mtok,
        states_before.cache_write_usd_per_mtok,
        states_before.discount,
        states_before.overrides_json,
        states_before.other_prices_json,
        states_before.seen_from_utc as valid_from_utc,
        states_now.seen_from_utc as valid_to_utc,
        states_now.last_seen_before_utc as last_seen_utc
    from states_now
    inner join states_before using (endpoint_id)
)

select * from final
