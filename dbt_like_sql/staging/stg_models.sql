-- Models as each sweep listed them.
-- grain: one row per sweep and listed model
-- key: sweep_id, model_id
-- units: prices in USD per million tokens, null where not stated; context in tokens
-- materialized: view
select
    sweep_id,
    partition_date,
    model_id,
    canonical_slug,
    author,
    variant,
    kind,
    alias_target,
    model_name,
    description,
    hugging_face_id,
    modality,
    input_modalities,
    output_modalities,
    tokenizer,
    instruct_type,
    supported_parameters,
    benchmarks_json,
    context_length,
    max_completion_tokens,
    (input_usd_per_token * 1000000)::decimal(38, 18) as headline_input_usd_per_mtok,
    (output_usd_per_token * 1000000)::decimal(38, 18) as headline_output_usd_per_mtok,
    is_moderated,
    created_utc,
    knowledge_cutoff,
    expiration_date,
    observed_at_utc
from raw.models
