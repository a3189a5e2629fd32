-- The change log: what became cheaper, dearer, new, gone, back or different, endpoint by endpoint.
-- A change happened after last_seen_old_utc and not later than first_seen_new_utc.
-- grain: one row per endpoint, sweep and changed field
-- key: endpoint_id, sweep_id, field
-- units: prices in USD per million tokens, written out exactly; change_pct in percent of the old
-- materialized: view
select
    endpoint_id,
    model_id,
    provider_name,
    tag,
    endpoint_ordinal,
    kind,
    field,
    old_value,
    new_value,
    change_pct,
    last_seen_old_utc,
    first_seen_new_utc,
    sweep_id
from intermediate.int_state_changes
