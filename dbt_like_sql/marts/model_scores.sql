-- Scores of models, each on its own scale and with its source: listed by OpenRouter, bundled with
-- tokentape, or imported. Of several scores for one key the one of the latest day counts, then the
-- latest import.
-- grain: one row per model, metric, variant and source
-- key: model_id, metric, variant, source
-- units: scores in points of their own scale, null where the scale has no end
-- materialized: view
with

listed as (select * from intermediate.int_listed_scores),

file_rows as (select * from staging.stg_score_rows),

matched_names as (
    select *
    from staging.stg_score_names
    where model_id is not null
),

sources as (select * from staging.stg_score_sources),

from_files as (
    select
        matched_names.model_id,
        file_rows.metric,
        file_rows.score,
        file_rows.scale_min,
        file_rows.scale_max,
        file_rows.higher_is_better,
        file_rows.has_zero,
        coalesce(file_rows.variant, matched_names.variant) as variant,
        file_rows.source,
        file_rows.source_name,
        file_rows.source_url,
        file_rows.as_of,
        -- A score of another checkpoint is no direct one, whatever the file says.
        case matched_names.kind
            when 'variant' then 'variant'
            when 'base' then 'base_model'
            else file_rows.evidence
        end as evidence,
        file_rows.licence,
        file_rows.citation
    from file_rows
    inner join matched_names using (source, source_name)
    qualify row_number() over (
        partition by
            matched_names.model_id,
            file_rows.metric,
            coalesce(file_rows.variant, matched_names.variant),
            file_rows.source
        order by
            file_rows.as_of desc,
            file_rows.landed_at_utc desc nulls last,
            file_rows.file_id desc,
            file_rows.source_name
    ) = 1
),

from_openrouter as (
    select
        model_id,
        metric,
        score,
        scale_min,
        scale_max,
        true as higher_is_better,
        has_zero,
        null::varchar as variant,
        source,
        model_id as source_name,
        null::varchar as source_url,
        as_of,
        'direct' as evidence,
        null::varchar as licence,
        null::varchar as citation
    from listed
),

scores as (
    select * from from_files
    union all by name
    select * from from_openrouter
),

final as (
    select
        scores.model_id,
        scores.metric,
        scores.score,
        scores.scale_min,
        scores.scale_max,
        scores.higher_is_better,
        scores.has_zero,
        scores.variant,
        scores.source,
        coalesce(sources.title, scores.source) as source_title,
        scores.source_name,
        coalesce(scores.source_url, sources.source_url) as source_url,
        scores.as_of,
        scores.evidence,
        coalesce(scores.licence, sources.licence) as licence,
        coalesce(scores.citation, sources.citation) as citation
    from scores
    left join sources using (source)
)

select * from final
