-- Facts of every model that was ever listed, as the newest sweep that listed it states them.
-- grain: one row per model
-- key: model_id
-- units: prices in USD per million tokens; context in tokens; times in UTC
-- materialized: table
with

newest_sweep as (
    select *
    from staging.stg_sweeps
    where status <> 'failed'
    qualify row_number() over (order by started_at_utc desc, sweep_id desc) = 1
),

-- From the coverage, for a record in quarantine does not make its model unlisted.
listed_now as (
    select coverage.model_id
    from staging.stg_model_coverage as coverage
    inner join newest_sweep using (sweep_id, partition_date)
),

listings as (
    select
        model_id,
        min(observed_at_utc) as first_seen_utc,
        max(observed_at_utc) as last_seen_utc,
        max(partition_date) as last_date
    from staging.stg_models
    group by model_id
),

newest_listing as (
    select models.*
    from staging.stg_models as models
    inner join listings
        on models.model_id = listings.model_id
        and models.partition_date = listings.last_date
        and models.observed_at_utc = listings.last_seen_utc
),

final as (
    select
        newest_listing.model_id,
        newest_listing.model_name,
        newest_listing.author,
        newest_listing.variant,
        newest_listing.kind,
        newest_listing.alias_target,
        newest_listing.description,
        newest_listing.canonical_slug,
        newest_listing.hugging_face_id,
        newest_listing.created_utc,
        newest_listing.context_length,
        newest_listing.max_completion_tokens,
        newest_listing.modality,
        newest_listing.input_modalities,
        newest_listing.output_modalities,
        newest_listing.tokenizer,
        newest_listing.instruct_type,
        newest_listing.is_moderated,
        newest_listing.supported_parameters,
        newest_listing.knowledge_cutoff,
        newest_listing.expiration_date,
        newest_listing.headline_input_usd_per_mtok,
        newest_listing.headline_output_usd_per_mtok,
        newest_listing.benchmarks_json,
        listed_now.model_id is not null as is_listed,
        listings.first_seen_utc,
        listings.last_seen_utc,
        newest_listing.observed_at_utc,
        newest_listing.sweep_id
    from newest_listing
    inner join listings using (model_id)
    left join listed_now using (model_id)
)

select * from final
