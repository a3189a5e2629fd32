-- Requests of probes without the warm-ups, with their times and speeds.
-- Times count only in the figures: of an ok request, in a batch that the probe kept up with. The
-- second request of a cached-prefix pair is there to be compared with the first, and not in them.
-- grain: one row per request
-- key: run_id, request_id
-- units: times in ms, speeds in tokens per second, cost in USD
-- materialized: incremental by partition_date over probe_runs
with

requests as materialized (
    select
        *,
        nullif(len(chunk_ns), 0) as chunks,
        coalesce(nullif(completion_tokens, 0), chunks) as tokens,
        case when not is_reasoning_hidden then tokens / chunks end as tokens_per_chunk,
        (first_token_ns - sent_ns) / 1e6 as ttft_ms,
        (first_answer_ns - sent_ns) / 1e6 as answer_ttft_ms,
        (last_token_ns - sent_ns) / 1e6 as e2e_ms,
        nullif((last_token_ns - first_token_ns) / 1e9, 0) as span_s,
        -- The tokens of the first chunk were made before the span began.
        case
            when chunks >= 2 and not is_buffered then tokens_per_chunk * (chunks - 1) / span_s
        end as decode_tokens_per_s,
        row_number() over (partition by batch order by request_id) = 1 as is_first_of_batch
    from staging.stg_probe_requests
    where partition_date = $partition_date and run_id = $run_id and phase <> 'warm_up'
),

batches as (
    select *
    from staging.stg_probe_batches
    where partition_date = $partition_date and run_id = $run_id
),

self_checks as (
    select
        concurrency,
        max(ttft_error_p99_ms) as self_check_ttft_error_p99_ms
    from staging.stg_probe_self_checks
    where partition_date = $partition_date and run_id = $run_id
    group by concurrency
),

pairs as (
    select
        pair_id,
        max(ttft_ms) filter (where turn = 1) - max(ttft_ms) filter (where turn = 2) as saving_ms
    from requests
    where pair_id is not null and outcome = 'ok'
    group by pair_id
),

final as (
    select
        requests.run_id,
        requests.partition_date,
        requests.request_id,
        requests.batch,
        requests.round,
        md5(
            json_array(
                requests.target,
                requests.model_id,
                requests.provider_name,
                requests.tag,
                requests.region,
                requests.prompt_set,
                requests.phase,
                requests.loop,
                requests.concurrency,
                requests.offered_rate_per_s
            )::varchar
        ) as series_id,
        requests.target,
        requests.model_id,
        requests.provider_name,
        requests.tag,
        requests.region,
        requests.prompt_set,
        requests.phase,
        requests.loop,
        requests.concurrency,
        requests.offered_rate_per_s,
        requests.turn,
        requests.outcome,
        requests.reason,
        requests.http_status,
        requests.served_by,
        -- Never sent, or stopped by ourselves: no failure of the provider.
        requests.outcome not in ('refused_config', 'cancelled_budget') as is_answerable,
        coalesce(batches.is_overloaded, false) as is_overloaded,
        requests.outcome = 'ok' and requests.turn = 1 and not coalesce(batches.is_overloaded, false)
            as is_in_figures,
        requests.ttft_ms,
        requests.answer_ttft_ms,
        requests.e2e_ms,
        requests.decode_tokens_per_s,
        1000 * requests.tokens / nullif(requests.e2e_ms, 0) as e2e_tokens_per_s,
        1000 / requests.decode_tokens_per_s as inter_token_ms,
        requests.tokens,
        requests.chunks,
        requests.coalesced_chunks,
        requests.is_reasoning_hidden,
        requests.prompt_tokens,
        requests.completion_tokens,
        requests.reasoning_tokens,
        requests.cached_tokens,
        requests.token_source,
        requests.is_new_connection,
        requests.dns_ms,
        requests.connect_ms,
        requests.tls_ms,
        case
            when requests.is_new_connection
                then coalesce(requests.dns_ms, 0) + requests.connect_ms + coalesce(requests.tls_ms, 0)
        end as new_connection_ms,
        requests.cost_usd,
        -- Once for each pair and each batch, so that they can be summed up like the rest.
        case when requests.turn = 2 and not coalesce(batches.is_overloaded, false)
            then pairs.saving_ms end as cached_prefix_saving_ms,
        -- Decimals, because a sum of doubles depends on the order in which they are added.
        case when is_first_of_batch and not batches.is_overloaded then batches.window_tokens end
        ::decimal(18, 6) as window_tokens,
        case when is_first_of_batch and not batches.is_overloaded then batches.window_s end
        ::decimal(18, 9) as window_s,
        self_checks.self_check_ttft_error_p99_ms,
        requests.sent_at_utc
    from requests
    left join batches using (run_id, batch)
    left join self_checks using (concurrency)
    left join pairs using (pair_id)
)

select * from final
