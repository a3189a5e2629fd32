-- Self-checks: the error of the probe itself, found before each run at a server of known times.
-- grain: one row per run, concurrency and kind of connection
-- key: run_id, concurrency, is_tls, tokens_per_s
-- units: errors in ms
-- materialized: view
select
    run_id,
    partition_date,
    concurrency,
    is_tls,
    tokens_per_s,
    requests,
    ttft_error_p50_ms,
    ttft_error_p99_ms,
    gap_error_p50_ms,
    gap_error_p99_ms,
    stamp_source
from raw.probe_self_checks
