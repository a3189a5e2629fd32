-- The provider table of the model pages: every endpoint now, and those gone for 30 days or less.
-- Default order: standard tier first, then throughput among endpoints with 95 % uptime or more,
-- then latency, input price, output price.
-- grain: one row per endpoint
-- key: endpoint_id
-- units: prices in USD per million tokens; uptime in percent; ttft in ms; null where not stated
-- materialized: table
with

endpoints_now as (select * from intermediate.int_endpoints_now),

newest_sweep as (
    select *
    from staging.stg_sweeps
    where status <> 'failed'
    qualify row_number() over (order by started_at_utc desc, sweep_id desc) = 1
),

-- Joined on the day too, so that only the days in question are read.
last_sightings as (
    select sightings.*
    from staging.stg_endpoints as sightings
    inner join (
        select distinct
            endpoints_now.last_seen_date as partition_date,
            endpoints_now.last_seen_sweep_id as sweep_id
        from endpoints_now
        cross join newest_sweep
        where endpoints_now.last_seen_date >= newest_sweep.partition_date - 31
    ) as last_sweeps using (partition_date, sweep_id)
),

newest_providers as (
    select *
    from staging.stg_providers
    where partition_date = (select max(partition_date) from staging.stg_providers)
    qualify row_number() over (partition by provider_name order by observed_at_utc desc) = 1
),

-- Short prompts one at a time, or as few at a time as there are: what compares best.
probes as (
    select *
    from marts.probe_summary
    where
        endpoint_id is not null
        and window_hours = 72
        and prompt_set = 'short_chat'
        and phase = 'measure'
        and loop = 'closed'
    -- Of several targets that are one endpoint, the pinned one is asked as OpenRouter asks.
    qualify row_number() over (
        partition by endpoint_id order by concurrency, tag is null, n desc, target, region
    ) = 1
),

listed as (
    select
        endpoints_now.endpoint_id,
        endpoints_now.model_id,
        endpoints_now.provider_name,
        endpoints_now.tag,
        endpoints_now.endpoint_ordinal,
        newest_providers.provider_slug,
        newest_providers.headquarters,
        newest_providers.datacenters,
        newest_providers.privacy_policy_url,
        newest_providers.terms_of_service_url,
        newest_providers.status_page_url,
        endpoints_now.quantization,
        endpoints_now.context_length,
        endpoints_now.max_completion_tokens,
        endpoints_now.max_prompt_tokens,
        sightings.status,
        endpoints_now.tier,
        endpoints_now.is_free,
        -- The price as last seen: under a timetable of prices a state holds the first seen one.
        case when endpoints_now.is_present then sightings.input_usd_per_mtok
            else endpoints_now.input_usd_per_mtok end as input_usd_per_mtok,
        case when endpoints_now.is_present then sightings.output_usd_per_mtok
            else endpoints_now.output_usd_per_mtok end as output_usd_per_mtok,
        case when endpoints_now.is_present then sightings.cache_read_usd_per_mtok
            else endpoints_now.cache_read_usd_per_mtok end as cache_read_usd_per_mtok,
        case when endpoints_now.is_present then sightings.cache_write_usd_per_mtok
            else endpoints_now.cache_write_usd_per_mtok end as cache_write_usd_per_mtok,
        endpoints_now.discount,
        endpoints_now.overrides_json,
        endpoints_now.other_prices_json,
        sightings.uptime_5m_pct,
        sightings.uptime_30m_pct,
        sightings.uptime_1d_pct,
        sightings.reported_ttft_p50_ms,
        sightings.reported_ttft_p90_ms,
        sightings.reported_ttft_p99_ms,
        sightings.reported_tokens_per_s_p50,
        sightings.reported_tokens_per_s_p90,
        sightings.reported_requests_30m,
        probes.ttft_p50_ms as probe_ttft_p50_ms,
        probes.ttft_p95_ms as probe_ttft_p95_ms,
        probes.decode_tokens_per_s_p50 as probe_tokens_per_s_p50,
        probes.decode_tokens_per_s_p05 as probe_tokens_per_s_p05,
        probes.ok_pct as probe_ok_pct,
        probes.n as probe_n,
        probes.is_trusted as probe_is_trusted,
        probes.last_sent_utc as probe_last_at_utc,
        sightings.supports_implicit_caching,
        endpoints_now.is_stale,
        endpoints_now.first_seen_utc,
        endpoints_now.last_seen_utc,
        coalesce(sightings.observed_at_utc, endpoints_now.last_seen_utc) as observed_at_utc,
        newest_sweep.sweep_id
    from endpoints_now
    cross join newest_sweep
    left join last_sightings as sightings
        on endpoints_now.last_seen_sweep_id = sightings.sweep_id
        and endpoints_now.model_id = sightings.model_id
        and endpoints_now.provider_name = sightings.provider_name
        and endpoints_now.tag = sightings.tag
        and endpoints_now.endpoint_ordinal = sightings.endpoint_ordinal
    left join newest_providers
        on endpoints_now.provider_name = newest_providers.provider_name
    left join probes
        on endpoints_now.endpoint_id = probes.endpoint_id
    where endpoints_now.last_seen_utc >= newest_sweep.finished_at_utc - interval 30 days
),

ranked as (
    select
        *,
        (row_number() over (
            partition by model_id
            order by
                tier <> 'standard',
                case when uptime_1d_pct >= 95 then reported_tokens_per_s_p50 end desc nulls last,
                reported_ttft_p50_ms asc nulls last,
                input_usd_per_mtok asc nulls last,
                output_usd_per_mtok asc nulls last,
                provider_name,
                tag,
                endpoint_ordinal,
                endpoint_id
        ))::integer as default_rank,
        -- Only what one gets by default, now, for money sets a price.
        not is_stale and tier = 'standard' and input_usd_per_mtok > 0 as sets_the_price,
        not is_stale and uptime_1d_pct is not null as has_uptime
    from listed
),

final as (
    select
        ranked.* exclude (sets_the_price, has_uptime, observed_at_utc, sweep_id, first_seen_utc,
        last_seen_utc, default_rank),
        has_uptime and row_number() over (
            partition by model_id, has_uptime order by uptime_1d_pct desc, default_rank
        ) = 1 as is_best_uptime,
        sets_the_price and row_number() over (
            partition by model_id, sets_the_price
            order by input_usd_per_mtok, output_usd_per_mtok, default_rank
        ) = 1 as is_cheapest_input,
        default_rank,
        first_seen_utc,
        last_seen_utc,
        observed_at_utc,
        sweep_id
    from ranked
)

select * from final
