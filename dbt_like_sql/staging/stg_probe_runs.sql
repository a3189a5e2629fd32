-- Probe runs: each one pass over the probed targets at one time.
-- grain: one row per probe run
-- key: run_id
-- units: cost in USD, as far as it was reported; times in UTC
-- materialized: view
select
    run_id,
    partition_date,
    started_at_utc,
    finished_at_utc,
    market,
    is_interrupted,
    region,
    batches,
    requests,
    ok,
    cost_usd,
    problems_json
from raw.probe_runs
