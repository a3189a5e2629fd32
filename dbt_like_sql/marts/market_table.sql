-- The market at a glance: every model listed now, who serves it and from which price.
-- grain: one row per listed model
-- key: model_id
-- units: prices in USD per million tokens; uptime in percent; ttft in ms; null where unknown
-- materialized: table
with

models as (select * from marts.model_facts where is_listed),

endpoints as (select * from marts.provider_table),

newest_sweep as (
    select *
    from staging.stg_sweeps
    where status <> 'failed'
    qualify row_number() over (order by started_at_utc desc, sweep_id desc) = 1
),

offers as (
    select
        model_id,
        count(distinct provider_name) filter (where not is_stale) as providers,
        count(*) filter (where not is_stale) as endpoints,
        count(*) filter (where is_stale) as stale_endpoints,
        coalesce(bool_and(is_free) filter (where not is_stale), false) as is_free,
        max(uptime_1d_pct) filter (where not is_stale) as best_uptime_1d_pct,
        max(reported_tokens_per_s_p50) filter (where not is_stale and tier = 'standard')
            as fastest_tokens_per_s_p50,
        min(reported_ttft_p50_ms) filter (where not is_stale and tier = 'standard')
            as lowest_ttft_p50_ms
    from endpoints
    group by model_id
),

cheapest as (
    select
        model_id,
        input_usd_per_mtok as cheapest_input_usd_per_mtok,
        output_usd_per_mtok as cheapest_output_usd_per_mtok,
        provider_name as cheapest_provider_name
    from endpoints
    where is_cheapest_input
),

price_moves as (
    select
        changes.model_id,
        count(*) as price_changes_30d
    from intermediate.int_state_changes as changes
    cross join newest_sweep
    where
        changes.kind in ('cheaper', 'dearer')
        and changes.partition_date >= newest_sweep.partition_date - 30
        and changes.first_seen_new_utc >= newest_sweep.finished_at_utc - interval 30 days
    group by changes.model_id
),

final as (
    select
        models.model_id,
        models.model_name,
        models.author,
        models.variant,
        models.kind,
        models.created_utc,
        models.context_length,
        models.input_modalities,
        coalesce(offers.providers, 0) as providers,
        coalesce(offers.endpoints, 0) as endpoints,
        coalesce(offers.stale_endpoints, 0) as stale_endpoints,
        coalesce(offers.is_free, false) as is_free,
        case
            when offers.is_free then 0::decimal(38, 18)
            else cheapest.cheapest_input_usd_per_mtok
        end as cheapest_input_usd_per_mtok,
        case
            when offers.is_free then 0::decimal(38, 18)
            else cheapest.cheapest_output_usd_per_mtok
        end as cheapest_output_usd_per_mtok,
        cheapest.cheapest_provider_name,
        offers.best_uptime_1d_pct,
        offers.fastest_tokens_per_s_p50,
        offers.lowest_ttft_p50_ms,
        coalesce(price_moves.price_changes_30d, 0) as price_changes_30d,
        newest_sweep.finished_at_utc as observed_at_utc,
        newest_sweep.sweep_id
    from models
    cross join newest_sweep
    left join offers using (model_id)
    left join cheapest using (model_id)
    left join price_moves using (model_id)
)

select * from final
