-- What our probes measured of each target, over the 24, 72 and 336 hours up to the newest run.
-- Times are of the n requests in the figures: ok, and in a batch that the probe kept up with. All
-- others are counted beside. Percentiles are exact, over the single requests of all runs; one that
-- n is too small for is null: p95 and p05 below 59, p99 below 299. Between _low and _high lies the
-- true value with a certainty of 95 %, whatever the distribution.
-- grain: one row per target, prompt set, phase, loop, concurrency and window
-- key: window_hours, target, model_id, provider_name, tag, region, prompt_set, phase, loop, concurrency, offered_rate_per_s
-- units: times in ms, speeds in tokens per second, shares in percent, cost in USD
-- materialized: table
with

pooled as (select * from intermediate.int_probe_pooled),

chunk_gaps as (select * from intermediate.int_probe_chunk_gaps),

ranks as (select * from intermediate.int_probe_interval_ranks),

final as (
    select
        pooled.endpoint_id,
        pooled.model_id,
        pooled.target,
        pooled.provider_name,
        pooled.tag,
        pooled.region,
        pooled.prompt_set,
        pooled.phase,
        pooled.loop,
        pooled.concurrency,
        pooled.offered_rate_per_s,
        pooled.window_hours,
        pooled.requests,
        pooled.n,
        100 * pooled.n_ok / nullif(pooled.n_answerable, 0) as ok_pct,
        100 * pooled.n_rate_limited / nullif(pooled.n_answerable, 0) as rate_limited_pct,
        pooled.n_ok,
        pooled.n_rate_limited,
        pooled.n_overloaded,
        pooled.n_timeout,
        pooled.n_http_error,
        pooled.n_stream_error,
        pooled.n_truncated,
        pooled.n_wrong_provider,
        pooled.n_refused_config,
        pooled.n_cancelled_budget,
        pooled.n_probe_overloaded,
        pooled.ttft_p50_ms,
        pooled.ttft_values[ttft_ranks.p50_low_rank] as ttft_p50_low_ms,
        pooled.ttft_values[ttft_ranks.p50_high_rank] as ttft_p50_high_ms,
        pooled.ttft_p90_ms,
        pooled.ttft_p95_ms,
        pooled.ttft_values[ttft_ranks.p95_low_rank] as ttft_p95_low_ms,
        pooled.ttft_values[ttft_ranks.p95_high_rank] as ttft_p95_high_ms,
        pooled.ttft_p99_ms,
        pooled.ttft_values[ttft_ranks.p99_low_rank] as ttft_p99_low_ms,
        pooled.ttft_values[ttft_ranks.p99_high_rank] as ttft_p99_high_ms,
        case when isfinite(pooled.ttft_p50_with_failures_ms) then pooled.ttft_p50_with_failures_ms end
            as ttft_p50_with_failures_ms,
        pooled.answer_ttft_p50_ms,
        pooled.answer_ttft_p90_ms,
        pooled.answer_ttft_p95_ms,
        pooled.answer_ttft_p99_ms,
        pooled.e2e_p50_ms,
        pooled.e2e_values[e2e_ranks.p50_low_rank] as e2e_p50_low_ms,
        pooled.e2e_values[e2e_ranks.p50_high_rank] as e2e_p50_high_ms,
        pooled.e2e_p90_ms,
        pooled.e2e_p95_ms,
        pooled.e2e_values[e2e_ranks.p95_low_rank] as e2e_p95_low_ms,
        pooled.e2e_values[e2e_ranks.p95_high_rank] as e2e_p95_high_ms,
        pooled.e2e_p99_ms,
        pooled.e2e_values[e2e_ranks.p99_low_rank] as e2e_p99_low_ms,
        pooled.e2e_values[e2e_ranks.p99_high_rank] as e2e_p99_high_ms,
        pooled.decode_tokens_per_s_p50,
        pooled.decode_values[decode_ranks.p50_low_rank] as decode_tokens_per_s_p50_low,
        pooled.decode_values[decode_ranks.p50_high_rank] as decode_tokens_per_s_p50_high,
        pooled.decode_tokens_per_s_p05,
        pooled.e2e_tokens_per_s_p50,
        pooled.inter_token_p50_ms,
        pooled.inter_token_p99_ms,
        chunk_gaps.chunk_gap_p50_ms,
        chunk_gaps.chunk_gap_p99_ms,
        pooled.tokens_per_chunk,
        pooled.aggregate_tokens_per_s,
        pooled.cost_usd,
        pooled.cost_listed_usd,
        pooled.output_usd_per_mtok_paid,
        pooled.new_connection_pct,
        pooled.connect_p50_ms,
        pooled.coalesced_pct,
        pooled.cached_prompt_pct,
        pooled.cached_prefix_saving_ms,
        pooled.self_check_ttft_error_p99_ms,
        -- An instrument that was not checked is not trusted.
        coalesce(
            pooled.self_check_ttft_error_p99_ms <= greatest(1.0, 0.02 * pooled.ttft_p50_ms), false
        ) as is_trusted,
        pooled.runs,
        pooled.first_sent_utc,
        pooled.last_sent_utc
    from pooled
    left join chunk_gaps using (window_hours, series_id)
    left join ranks as ttft_ranks on len(pooled.ttft_values) = ttft_ranks.n
    left join ranks as e2e_ranks on len(pooled.e2e_values) = e2e_ranks.n
    left join ranks as decode_ranks on len(pooled.decode_values) = decode_ranks.n
)

select * from final
