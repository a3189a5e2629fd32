-- What is surprising about the newest sweep beside those before it: loaded all the same.
-- grain: one row per finding
-- key: rule, row_key, detail
-- units: prices in USD per million tokens
-- materialized: table
with

ranked_sweeps as (
    select
        *,
        row_number() over (order by started_at_utc desc, sweep_id desc) as age
    from staging.stg_sweeps
    where status <> 'failed'
),

newest_sweep as (select * from ranked_sweeps where age = 1),

sweep_before as (select * from ranked_sweeps where age = 2),

price_leaps as (
    select
        changes.sweep_id,
        'endpoints' as table_name,
        concat_ws(' ', changes.model_id, changes.provider_name, changes.tag) as row_key,
        'price_leap' as rule,
        concat(
            changes.field, ' went from ', changes.old_value, ' to ', changes.new_value,
            ' between two sweeps'
        ) as detail,
        changes.first_seen_new_utc as observed_at_utc
    from intermediate.int_state_changes as changes
    inner join newest_sweep using (sweep_id)
    where
        changes.kind in ('cheaper', 'dearer')
        and (changes.change_pct >= 400 or changes.change_pct <= -80)
),

shrunk_market as (
    select
        newest_sweep.sweep_id,
        'models' as table_name,
        'market' as row_key,
        'market_shrank' as rule,
        concat(
            newest_sweep.models_listed, ' models listed, ', sweep_before.models_listed,
            ' in the sweep before'
        ) as detail,
        newest_sweep.finished_at_utc as observed_at_utc
    from newest_sweep
    cross join sweep_before
    where newest_sweep.models_listed < 0.8 * sweep_before.models_listed
),

final as (
    select * from price_leaps
    union all by name
    select * from shrunk_market
)

select * from final
