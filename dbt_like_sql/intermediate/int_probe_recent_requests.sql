-- Requests of the longest window, with the endpoint that was probed and what it costs by the list.
-- grain: one row per request
-- key: run_id, request_id
-- units: times in ms, speeds in tokens per second, cost in USD
-- materialized: view
with

recent_runs as (select * from intermediate.int_probe_windows where window_hours = 336),

requests as (
    select requests.*
    from intermediate.int_probe_requests as requests
    inner join recent_runs using (partition_date, run_id)
),

endpoints as (select * from intermediate.int_probe_endpoints),

prices as (select * from marts.price_history),

final as (
    select
        endpoints.endpoint_id,
        requests.*,
        least(coalesce(requests.cached_tokens, 0), requests.prompt_tokens) as cheaper_tokens,
        (
            0.000001 * (
                (requests.prompt_tokens - cheaper_tokens) * prices.input_usd_per_mtok
                + cheaper_tokens
                * coalesce(prices.cache_read_usd_per_mtok, prices.input_usd_per_mtok)
                + requests.completion_tokens * prices.output_usd_per_mtok
            )
        )::decimal(38, 18) as cost_listed_usd
    from requests
    left join endpoints
        on requests.model_id = endpoints.model_id
        and requests.tag is not distinct from endpoints.tag
        and (requests.tag is not null or requests.provider_name = endpoints.provider_name)
    left join prices
        on endpoints.endpoint_id = prices.endpoint_id
        and requests.sent_at_utc >= prices.valid_from_utc
        and (prices.valid_to_utc is null or requests.sent_at_utc < prices.valid_to_utc)
)

select * exclude (cheaper_tokens) from final
