-- Sweeps: each one pass over the market at one time.
-- grain: one row per sweep
-- key: sweep_id
-- units: times in UTC
-- materialized: view
select
    sweep_id,
    partition_date,
    started_at_utc,
    finished_at_utc,
    market,
    base_url,
    is_authenticated,
    is_interrupted,
    status,
    has_whole_model_list,
    models_listed,
    models_expected,
    models_answered,
    endpoints,
    providers,
    quarantined,
    flagged,
    unknown_keys_json
from raw.sweeps
