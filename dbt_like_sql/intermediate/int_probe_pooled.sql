-- The requests of each window pooled by series: counts, sums, percentiles, and the times in order.
-- A percentile stands only where there are enough requests for it to be one: p95 and p05 from 59,
-- p99 from 299.
-- grain: one row per window and series
-- key: window_hours, series_id
-- units: times in ms, speeds in tokens per second, cost in USD
-- materialized: table
with

requests as (
    select
        windows.window_hours,
        requests.* exclude (
            ttft_ms, answer_ttft_ms, e2e_ms, decode_tokens_per_s, e2e_tokens_per_s, inter_token_ms
        ),
        coalesce(requests.cost_usd, requests.cost_listed_usd) as paid_usd,
        case when is_in_figures then requests.ttft_ms end as ttft_ms,
        case when is_in_figures then requests.answer_ttft_ms end as answer_ttft_ms,
        case when is_in_figures then requests.e2e_ms end as e2e_ms,
        case when is_in_figures then requests.decode_tokens_per_s end as decode_tokens_per_s,
        case when is_in_figures then requests.e2e_tokens_per_s end as e2e_tokens_per_s,
        case when is_in_figures then requests.inter_token_ms end as inter_token_ms,
        -- A failure is a first token that never comes.
        case
            when is_answerable and turn = 1 and not is_overloaded
                then case when outcome = 'ok' then requests.ttft_ms else 'infinity'::double end
        end as ttft_or_failure_ms
    from intermediate.int_probe_recent_requests as requests
    inner join intermediate.int_probe_windows as windows using (partition_date, run_id)
),

final as (
    select
        window_hours,
        series_id,
        endpoint_id,
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
        count(*) filter (where is_answerable) as n_answerable,
        count(*) filter (where outcome = 'ok') as n_ok,
        count(*) filter (where outcome = 'rate_limited') as n_rate_limited,
        count(*) filter (where outcome = 'overloaded') as n_overloaded,
        count(*) filter (where outcome = 'timeout') as n_timeout,
        count(*) filter (where outcome = 'http_error') as n_http_error,
        count(*) filter (where outcome = 'stream_error') as n_stream_error,
        count(*) filter (where outcome = 'truncated') as n_truncated,
        count(*) filter (where outcome = 'wrong_provider') as n_wrong_provider,
        count(*) filter (where outcome = 'refused_config') as n_refused_config,
        count(*) filter (where outcome = 'cancelled_budget') as n_cancelled_budget,
        count(*) filter (where is_overloaded) as n_probe_overloaded,
        quantile_cont(ttft_ms, 0.5) as ttft_p50_ms,
        quantile_cont(ttft_ms, 0.9) as ttft_p90_ms,
        case when count(ttft_ms) >= 59 then quantile_cont(ttft_ms, 0.95) end as ttft_p95_ms,
        case when count(ttft_ms) >= 299 then quantile_cont(ttft_ms, 0.99) end as ttft_p99_ms,
        quantile_cont(ttft_or_failure_ms, 0.5) as ttft_p50_with_failures_ms,
        quantile_cont(answer_ttft_ms, 0.5) as answer_ttft_p50_ms,
        quantile_cont(answer_ttft_ms, 0.9) as answer_ttft_p90_ms,
        case when count(answer_ttft_ms) >= 59 then quantile_cont(answer_ttft_ms, 0.95) end
            as answer_ttft_p95_ms,
        case when count(answer_ttft_ms) >= 299 then quantile_cont(answer_ttft_ms, 0.99) end
            as answer_ttft_p99_ms,
        quantile_cont(e2e_ms, 0.5) as e2e_p50_ms,
        quantile_cont(e2e_ms, 0.9) as e2e_p90_ms,
        case when count(e2e_ms) >= 59 then quantile_cont(e2e_ms, 0.95) end as e2e_p95_ms,
        case when count(e2e_ms) >= 299 then quantile_cont(e2e_ms, 0.99) end as e2e_p99_ms,
        quantile_cont(decode_tokens_per_s, 0.5) as decode_tokens_per_s_p50,
        case
            when count(decode_tokens_per_s) >= 59 then quantile_cont(decode_tokens_per_s, 0.05)
        end as decode_tokens_per_s_p05,
        quantile_cont(e2e_tokens_per_s, 0.5) as e2e_tokens_per_s_p50,
        quantile_cont(inter_token_ms, 0.5) as inter_token_p50_ms,
        case when count(inter_token_ms) >= 299 then quantile_cont(inter_token_ms, 0.99) end
            as inter_token_p99_ms,
        sum(tokens) filter (where is_in_figures and not is_reasoning_hidden)
        / sum(chunks) filter (where is_in_figures and not is_reasoning_hidden) as tokens_per_chunk,
        sum(window_tokens) / nullif(sum(window_s), 0) as aggregate_tokens_per_s,
        sum(cost_usd) as cost_usd,
        sum(cost_listed_usd) as cost_listed_usd,
        1000000 * sum(paid_usd)
        / nullif(sum(completion_tokens) filter (where paid_usd is not null), 0)
            as output_usd_per_mtok_paid,
        100 * count(*) filter (where is_in_figures and is_new_connection)
        / nullif(count(*) filter (where is_in_figures), 0) as new_connection_pct,
        quantile_cont(new_connection_ms, 0.5) filter (where is_in_figures) as connect_p50_ms,
        100 * sum(coalesced_chunks) filter (where is_in_figures)
        / sum(chunks) filter (where is_in_figures) as coalesced_pct,
        100 * count(*) filter (where is_in_figures and cached_tokens > 0)
        / nullif(count(*) filter (where is_in_figures), 0) as cached_prompt_pct,
        quantile_cont(cached_prefix_saving_ms, 0.5) as cached_prefix_saving_ms,
        max(self_check_ttft_error_p99_ms) as self_check_ttft_error_p99_ms,
        count(distinct run_id) as runs,
        min(sent_at_utc) as first_sent_utc,
        max(sent_at_utc) as last_sent_utc,
        list(ttft_ms order by ttft_ms) filter (where ttft_ms is not null) as ttft_values,
        list(e2e_ms order by e2e_ms) filter (where e2e_ms is not null) as e2e_values,
        list(decode_tokens_per_s order by decode_tokens_per_s)
            filter (where decode_tokens_per_s is not null) as decode_values
    from requests
    group by all
)

select * from final
