-- Cards of models with open weights, as each pull learned of them.
-- grain: one row per pull and repository asked for
-- key: pull_id, hugging_face_id
-- units: parameters in billions; times in UTC; null where nobody states it
-- materialized: view
select
    pull_id,
    partition_date,
    hugging_face_id,
    outcome,
    reason,
    config_outcome,
    pipeline_tag,
    tags,
    licence,
    licence_name,
    licence_url,
    params_basis,
    params_active_basis,
    config_json,
    gguf_files_json,
    (params_total::decimal(19, 0) * 0.000000001)::decimal(18, 9) as params_total_b,
    (params_active::decimal(19, 0) * 0.000000001)::decimal(18, 9) as params_active_b,
    is_gated,
    observed_at_utc
from raw.model_cards
