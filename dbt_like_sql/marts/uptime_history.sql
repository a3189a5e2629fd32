-- Uptime history: what OpenRouter reported of each endpoint's uptime and speed, sweep by sweep.
-- The figures come from OpenRouter's own traffic over the last 5 minutes, 30 minutes and day.
-- grain: one row per endpoint and sweep
-- key: endpoint_id, sweep_id
-- units: uptime in percent, ttft in ms, throughput in tokens per second; null where not reported
-- materialized: incremental by partition_date
with

this_sweep as (
    select *
    from staging.stg_sweeps
    where partition_date = $partition_date and sweep_id = $sweep_id
),

seen as (
    select *
    from staging.stg_endpoints
    where partition_date = $partition_date and sweep_id = $sweep_id
),

newest_states as (
    select
        states.endpoint_id,
        max_by(states.sweep_id, (states.sweep_started_at_utc, states.sweep_id)) as sweep_id
    from intermediate.int_endpoint_states as states, this_sweep
    where
        (states.sweep_started_at_utc, states.sweep_id)
        <= (this_sweep.started_at_utc, this_sweep.sweep_id)
    group by states.endpoint_id
),

states_at_this_sweep as (
    select states.*
    from intermediate.int_endpoint_states as states
    inner join newest_states using (endpoint_id, sweep_id)
),

final as (
    select
        states.endpoint_id,
        seen.model_id,
        seen.provider_name,
        seen.tag,
        seen.endpoint_ordinal,
        seen.status,
        seen.uptime_5m_pct,
        seen.uptime_30m_pct,
        seen.uptime_1d_pct,
        seen.reported_ttft_p50_ms,
        seen.reported_ttft_p90_ms,
        seen.reported_tokens_per_s_p50,
        seen.reported_requests_30m,
        seen.observed_at_utc,
        seen.partition_date,
        seen.sweep_id
    from seen
    inner join states_at_this_sweep as states using (
        model_id, provider_name, tag, endpoint_ordinal
    )
    where states.is_present
)

select * from final
