-- Names in imported scores that stand for no model, or for more than one: their scores are kept, and
-- shown nowhere until an alias says which model is meant.
-- grain: one row per source and name
-- key: source, source_name
-- units: times in UTC
-- materialized: view
with

unmatched as (
    select *
    from staging.stg_score_names
    where model_id is null
),

imported as (
    select
        source,
        source_name,
        count(*) as scores,
        min(landed_at_utc) as first_seen_utc
    from staging.stg_score_rows
    where landed_at_utc is not null
    group by source, source_name
),

final as (
    select
        unmatched.source,
        unmatched.source_name,
        unmatched.reason,
        imported.scores,
        imported.first_seen_utc
    from unmatched
    inner join imported using (source, source_name)
)

select * from final
