-- Every single request of our probes in the 14 days up to the newest run; warm-ups are left out.
-- grain: one row per request
-- key: run_id, request_id
-- units: times in ms, speeds in tokens per second, cost in USD
-- materialized: table
select
    endpoint_id,
    model_id,
    target,
    provider_name,
    tag,
    region,
    prompt_set,
    phase,
    loop,
    concurrency,
    offered_rate_per_s,
    run_id,
    request_id,
    round,
    batch,
    outcome,
    reason,
    http_status,
    served_by,
    sent_at_utc,
    ttft_ms,
    answer_ttft_ms,
    e2e_ms,
    decode_tokens_per_s,
    e2e_tokens_per_s,
    prompt_tokens,
    completion_tokens,
    reasoning_tokens,
    cached_tokens,
    token_source,
    is_new_connection,
    dns_ms,
    connect_ms,
    tls_ms,
    cost_usd,
    cost_listed_usd,
    is_in_figures
from intermediate.int_probe_recent_requests
