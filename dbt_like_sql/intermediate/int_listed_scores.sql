-- Scores that OpenRouter lists with its models: the indices of Artificial Analysis and the Elo
-- ratings of Design Arena, as the newest sweep that listed the model states them.
-- grain: one row per model, source and metric
-- key: model_id, source, metric
-- units: indices in points from 0 to 100; Elo ratings have neither ends nor a zero
-- materialized: table
with

models as (
    select
        model_id,
        benchmarks_json,
        -- No date comes along: what is known is that it was listed that day.
        observed_at_utc::date as as_of
    from marts.model_facts
    where kind = 'standard' and benchmarks_json is not null
),

index_names as (
    select unnest(['intelligence_index', 'coding_index', 'agentic_index']) as metric
),

indices as (
    select
        models.model_id,
        'artificial-analysis' as source,
        index_names.metric,
        try_cast(
            json_extract_string(
                models.benchmarks_json, '$.artificial_analysis.' || index_names.metric
            ) as decimal(18, 6)
        ) as score,
        0::decimal(18, 6) as scale_min,
        100::decimal(18, 6) as scale_max,
        true as has_zero,
        models.as_of
    from models
    cross join index_names
),

arena_entries as (
    select
        model_id,
        as_of,
        unnest(json_extract(benchmarks_json, '$.design_arena[*]')) as entry
    from models
),

ratings as (
    select
        model_id,
        'design-arena' as source,
        concat_ws(
            '.',
            'elo',
            json_extract_string(entry, '$.arena'),
            json_extract_string(entry, '$.category')
        ) as metric,
        try_cast(json_extract_string(entry, '$.elo') as decimal(18, 6)) as score,
        null::decimal(18, 6) as scale_min,
        null::decimal(18, 6) as scale_max,
        false as has_zero,
        as_of
    from arena_entries
),

final as (
    select * from indices
    where score is not null
    union all by name
    select * from ratings
    where score is not null
    -- The same arena and category twice would leave open which counts.
    qualify row_number() over (partition by model_id, metric order by score desc) = 1
)

select * from final
