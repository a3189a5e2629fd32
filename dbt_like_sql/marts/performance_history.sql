-- Performance history: what each probe run measured of each target.
-- grain: one row per target, prompt set, phase, loop, concurrency and probe run
-- key: run_id, target, model_id, provider_name, tag, region, prompt_set, phase, loop, concurrency, offered_rate_per_s
-- units: times in ms, speeds in tokens per second, cost in USD; p95 from 59 requests
-- materialized: view
with

figures as (select * from intermediate.int_probe_run_figures),

endpoints as (select * from intermediate.int_probe_endpoints),

final as (
    select
        endpoints.endpoint_id,
        figures.model_id,
        figures.target,
        figures.provider_name,
        figures.tag,
        figures.region,
        figures.prompt_set,
        figures.phase,
        figures.loop,
        figures.concurrency,
        figures.offered_rate_per_s,
        figures.run_id,
        figures.started_at_utc,
        figures.requests,
        figures.n,
        figures.failures,
        figures.ttft_p25_ms,
        figures.ttft_p50_ms,
        figures.ttft_p75_ms,
        figures.ttft_p95_ms,
        figures.decode_tokens_per_s_p25,
        figures.decode_tokens_per_s_p50,
        figures.decode_tokens_per_s_p75,
        figures.e2e_tokens_per_s_p50,
        figures.aggregate_tokens_per_s,
        figures.cost_usd,
        figures.is_trusted,
        figures.partition_date
    from figures
    left join endpoints
        on figures.model_id = endpoints.model_id
        and figures.tag is not distinct from endpoints.tag
        and (figures.tag is not null or figures.provider_name = endpoints.provider_name)
)

select * from final
