-- Batches of probes: requests to one target that ran together.
-- grain: one row per batch
-- key: run_id, batch
-- units: lags in ms, windows in seconds
-- materialized: view
select
    run_id,
    partition_date,
    batch,
    started_at_utc,
    seconds,
    send_lag_p99_ms,
    read_lag_p99_ms,
    is_overloaded,
    window_tokens,
    window_s
from raw.probe_batches
