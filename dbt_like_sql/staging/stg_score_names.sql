-- The names that sources of scores give to models, and the model that each was matched with.
-- grain: one row per source and name
-- key: source, source_name
-- units: none
-- materialized: view
select
    source,
    source_name,
    model_id,
    matched_by,
    kind,
    variant,
    reason
from raw.score_names
