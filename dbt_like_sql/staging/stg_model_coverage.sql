-- Coverage: was the endpoint list of a listed model asked for, and answered?
-- grain: one row per sweep and listed model
-- key: sweep_id, model_id
-- units: times in UTC
-- materialized: view
select
    sweep_id,
    partition_date,
    model_id,
    kind,
    outcome,
    reason,
    observed_at_utc
from raw.model_coverage
