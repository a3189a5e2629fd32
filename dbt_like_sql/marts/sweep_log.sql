-- The log of sweeps: what each asked for, what it got, and how long it took.
-- grain: one row per sweep
-- key: sweep_id
-- units: duration in seconds, coverage in percent of the models asked for
-- materialized: table
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
    case when models_expected > 0 then 100.0 * models_answered / models_expected end
        as coverage_pct,
    endpoints,
    providers,
    quarantined,
    flagged,
    unknown_keys_json,
    epoch(finished_at_utc - started_at_utc) as duration_s
from staging.stg_sweeps
