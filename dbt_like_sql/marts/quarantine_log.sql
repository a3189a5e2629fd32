-- Quarantine: records of the last 90 days that broke a hard rule and were kept out of history.
-- grain: one row per record and sweep, or probe run
-- key: sweep_id, table_name, row_key, record_json
-- units: none
-- materialized: table
select
    sweep_id,
    table_name,
    model_id,
    row_key,
    rule,
    reason,
    record_json,
    observed_at_utc
from raw.quarantine
where partition_date >= (select max(partition_date) - 90 from staging.stg_sweeps)
