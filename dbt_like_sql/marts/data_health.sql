-- The health of the data: one verdict a check, as of the newest sweep.
-- grain: one row per check
-- key: check_name
-- units: stated in detail
-- materialized: table
with

newest_sweep as (
    select *
    from marts.sweep_log
    qualify row_number() over (order by started_at_utc desc, sweep_id desc) = 1
),

failed_models as (
    select
        count(*) as models,
        string_agg(coverage.model_id || ': ' || coverage.reason, '; ' order by coverage.model_id)
            filter (where coverage.outcome = 'failed') as reasons
    from staging.stg_model_coverage as coverage
    inner join newest_sweep using (sweep_id, partition_date)
    where coverage.outcome = 'failed'
),

flags as (
    select
        count(*) as findings,
        count(*) filter (where rule in ('price_leap', 'market_shrank')) as leaps
    from marts.flag_log
),

endpoints as (
    select
        count(*) filter (where is_stale) as stale,
        count(*) as listed
    from marts.provider_table
),

final as (
    select
        'sweep' as check_name,
        case status when 'complete' then 'ok' when 'partial' then 'warn' else 'error' end as status,
        status as value,
        concat(
            'newest sweep ', sweep_id, ': ', models_answered, ' of ', models_expected,
            ' models answered', case when is_interrupted then '; it was interrupted' else '' end
        ) as detail,
        finished_at_utc as as_of_utc
    from newest_sweep
    union all
    select
        'coverage',
        case when coverage_pct >= 100 then 'ok' when coverage_pct >= 90 then 'warn' else 'error' end,
        concat(round(coverage_pct, 1), ' %'),
        case
            when failed_models.models = 0 then 'every model asked for has answered'
            else concat(failed_models.models, ' failed: ', left(failed_models.reasons, 400))
        end,
        finished_at_utc
    from newest_sweep
    cross join failed_models
    union all
    select
        'quarantine',
        case when quarantined = 0 then 'ok' else 'warn' end,
        quarantined::varchar,
        'records of the newest sweep that broke a hard rule and were kept out of history',
        finished_at_utc
    from newest_sweep
    union all
    select
        'surprises',
        case when flags.leaps = 0 then 'ok' else 'warn' end,
        flags.findings::varchar,
        concat(
            'findings in the newest sweep, ', flags.leaps,
            ' of them leaps against the sweep before'
        ),
        finished_at_utc
    from newest_sweep
    cross join flags
    union all
    select
        'stale endpoints',
        case when endpoints.stale <= 0.1 * endpoints.listed then 'ok' else 'warn' end,
        endpoints.stale::varchar,
        concat(
            'of ', endpoints.listed, ' endpoints are no longer listed, or not confirmed for 36 hours'
        ),
        finished_at_utc
    from newest_sweep
    cross join endpoints
    union all
    select
        'schema',
        case when unknown_keys_json = '{}' then 'ok' else 'warn' end,
        json_array_length(json_keys(unknown_keys_json))::varchar,
        case
            when unknown_keys_json = '{}' then 'every key in the answers is known'
            else concat('keys in the answers that nothing reads: ', left(unknown_keys_json, 400))
        end,
        finished_at_utc
    from newest_sweep
)

select * from final
