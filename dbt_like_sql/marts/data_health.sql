-- The health of the data: one verdict a check, as of the newest sweep; those of the probes, where
-- there are any, as of the newest probe run.
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

newest_probe_run as (
    select *
    from staging.stg_probe_runs
    qualify row_number() over (order by started_at_utc desc, run_id desc) = 1
),

probe_requests as (
    select requests.*
    from intermediate.int_probe_requests as requests
    inner join newest_probe_run using (partition_date, run_id)
),

probe_outcomes as (
    select
        outcome,
        count(*) as requests
    from probe_requests
    where is_answerable
    group by outcome
),

probe_failures as (
    select
        coalesce(sum(requests), 0) as requests,
        coalesce(sum(requests) filter (where outcome <> 'ok'), 0) as failed,
        string_agg(concat(outcome, ' ', requests), ', ' order by requests desc, outcome)
            filter (where outcome <> 'ok') as by_kind
    from probe_outcomes
),

probe_refusals as (
    select
        count(distinct target) as targets,
        string_agg(distinct reason, '; ' order by reason) as reasons
    from probe_requests
    where outcome = 'refused_config'
),

probe_instrument as (
    select
        count(*) filter (where figures.n > 0 and not figures.is_trusted) as untrusted,
        count(*) as series,
        max(figures.self_check_ttft_error_p99_ms) as error_ms,
        (select count(*) from probe_requests where is_overloaded) as overloaded
    from intermediate.int_probe_run_figures as figures
    inner join newest_probe_run using (partition_date, run_id)
),

probe_quarantine as (
    select count(*) as records
    from raw.quarantine as quarantine
    inner join newest_probe_run
        on quarantine.partition_date = newest_probe_run.partition_date
        and quarantine.sweep_id = newest_probe_run.run_id
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
            else concat(
                failed_models.models, ' failed: ', left(failed_models.reasons, 400),
                case when length(failed_models.reasons) > 400 then ' …' end
            )
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
            else concat(
                'keys in the answers that nothing reads: ', left(unknown_keys_json, 400),
                case when length(unknown_keys_json) > 400 then ' …' end
            )
        end,
        finished_at_utc
    from newest_sweep
    union all
    select
        'probe age',
        case when hours <= 36 then 'ok' else 'warn' end,
        concat(round(hours, 1), ' h'),
        concat('from the newest probe run, ', run_id, ', to the newest sweep'),
        started_at_utc
    from (
        select
            newest_probe_run.*,
            greatest(0, epoch(newest_sweep.finished_at_utc - newest_probe_run.started_at_utc) / 3600)
                as hours
        from newest_probe_run
        cross join newest_sweep
    )
    union all
    select
        'probe targets',
        case when probe_refusals.targets = 0 then 'ok' else 'warn' end,
        probe_refusals.targets::varchar,
        case
            when probe_refusals.targets = 0 then 'every target of the newest probe run was asked'
            else concat(
                'targets not asked: ', left(probe_refusals.reasons, 400),
                case when length(probe_refusals.reasons) > 400 then ' …' end
            )
        end,
        started_at_utc
    from newest_probe_run
    cross join probe_refusals
    union all
    select
        'probe failures',
        case
            when failed <= 0.05 * probe_failures.requests then 'ok'
            when failed <= 0.5 * probe_failures.requests then 'warn'
            else 'error'
        end,
        failed::varchar,
        concat(
            'of ', probe_failures.requests, ' requests of the newest probe run failed',
            ': ' || by_kind
        ),
        started_at_utc
    from newest_probe_run
    cross join probe_failures
    union all
    select
        'probe instrument',
        case when untrusted = 0 and overloaded = 0 then 'ok' else 'warn' end,
        untrusted::varchar,
        concat(
            'of ', series, ' rows of figures are not to be trusted; p99 of the error in TTFT: ',
            coalesce(round(error_ms, 2) || ' ms', 'not checked'), '; the probe was overloaded in ',
            overloaded, ' requests'
        ),
        started_at_utc
    from newest_probe_run
    cross join probe_instrument
    union all
    select
        'probe quarantine',
        case when probe_quarantine.records = 0 then 'ok' else 'warn' end,
        probe_quarantine.records::varchar,
        'requests of the newest probe run that broke a hard rule and were kept out of the figures',
        started_at_utc
    from newest_probe_run
    cross join probe_quarantine
)

select * from final
