-- What each probe run measured of each series of like requests.
-- grain: one row per probe run and series
-- key: run_id, series_id
-- units: times in ms, speeds in tokens per second, cost in USD
-- materialized: incremental by partition_date over probe_runs
with

this_run as (
    select *
    from staging.stg_probe_runs
    where partition_date = $partition_date and run_id = $run_id
),

requests as (
    select
        * exclude (ttft_ms, decode_tokens_per_s, e2e_tokens_per_s),
        case when is_in_figures then ttft_ms end as ttft_ms,
        case when is_in_figures then decode_tokens_per_s end as decode_tokens_per_s,
        case when is_in_figures then e2e_tokens_per_s end as e2e_tokens_per_s
    from intermediate.int_probe_requests
    where partition_date = $partition_date and run_id = $run_id
),

figures as (
    select
        run_id,
        partition_date,
        series_id,
        target,
        model_id,
        provider_name,
        tag,
        region,
        prompt_set,
        phase,
        loop,
        concurrency,
        offered_rate_per_s,
        count(*) as requests,
        count(*) filter (where is_in_figures) as n,
        count(*) filter (where is_answerable and outcome <> 'ok') as failures,
        quantile_cont(ttft_ms, 0.25) as ttft_p25_ms,
        quantile_cont(ttft_ms, 0.5) as ttft_p50_ms,
        quantile_cont(ttft_ms, 0.75) as ttft_p75_ms,
        case when count(ttft_ms) >= 59 then quantile_cont(ttft_ms, 0.95) end as ttft_p95_ms,
        quantile_cont(decode_tokens_per_s, 0.25) as decode_tokens_per_s_p25,
        quantile_cont(decode_tokens_per_s, 0.5) as decode_tokens_per_s_p50,
        quantile_cont(decode_tokens_per_s, 0.75) as decode_tokens_per_s_p75,
        quantile_cont(e2e_tokens_per_s, 0.5) as e2e_tokens_per_s_p50,
        sum(window_tokens) / nullif(sum(window_s), 0) as aggregate_tokens_per_s,
        sum(cost_usd) as cost_usd,
        max(self_check_ttft_error_p99_ms) as self_check_ttft_error_p99_ms
    from requests
    group by all
),

final as (
    select
        figures.*,
        -- An instrument that was not checked is not trusted.
        coalesce(
            self_check_ttft_error_p99_ms <= greatest(1.0, 0.02 * figures.ttft_p50_ms), false
        ) as is_trusted,
        this_run.started_at_utc
    from figures
    inner join this_run using (run_id)
)

select * from final
