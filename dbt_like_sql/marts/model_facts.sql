-- Facts of every model that was ever listed: as the newest sweep that listed it states them, with
-- what the hub of its weights says of it and what is kept by hand. Classes by size follow the
-- original page, which calls 1 and 3 billion parameters edge, 8 consumer, 70 enthusiast and 405
-- premier: edge is below 4 billion (at 4.5 bits a weight 2 GB, a phone), consumer below 35 (20 GB,
-- one graphics card), enthusiast below 200 (113 GB, several cards or a large unified memory).
-- grain: one row per model
-- key: model_id
-- units: prices in USD per million tokens; context in tokens; parameters in billions; times in UTC
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

-- An answer counts until there is another one: a repository that cannot be asked today, or that
-- has gone, still was what it was.
newest_cards as (
    select *
    from staging.stg_model_cards
    qualify row_number() over (
        partition by hugging_face_id
        order by outcome = 'answered' desc, observed_at_utc desc, pull_id desc
    ) = 1
),

newest_configs as (
    select
        hugging_face_id,
        arg_max(config_json, (observed_at_utc, pull_id)) as config_json
    from staging.stg_model_cards
    where config_json is not null
    group by hugging_face_id
),

of_authors as (select * from intermediate.int_hand_kept_facts where about = 'author'),

of_models as (select * from intermediate.int_hand_kept_facts where about = 'model'),

facts as (
    select
        newest_listing.model_id,
        coalesce(
            of_models.developer,
            of_authors.developer,
            -- "Meta: Llama 3.1 8B": the maker stands before the colon.
            nullif(regexp_extract(newest_listing.model_name, '^([^:]{1,60}): ', 1), ''),
            newest_listing.author
        ) as developer,
        coalesce(of_models.origin_country, of_authors.origin_country) as origin_country,
        coalesce(of_models.origin_source_url, of_authors.origin_source_url) as origin_source_url,
        newest_cards.licence,
        newest_cards.licence_name,
        newest_cards.licence_url,
        coalesce(of_models.params_total_b, newest_cards.params_total_b) as params_total_b,
        coalesce(of_models.params_active_b, newest_cards.params_active_b) as params_active_b,
        case
            when of_models.params_total_b is not null then 'hand'
            else newest_cards.params_basis
        end as params_basis,
        case
            when of_models.params_active_b is not null then 'hand'
            else newest_cards.params_active_basis
        end as params_active_basis,
        of_models.params_source_url,
        newest_cards.is_gated,
        newest_cards.outcome as card_outcome,
        newest_cards.pipeline_tag,
        newest_cards.tags,
        newest_configs.config_json,
        newest_cards.gguf_files_json,
        case
            -- Else it would lead elsewhere; a part of dots only does as well.
            when regexp_matches(
                newest_listing.hugging_face_id,
                '^[.]*[A-Za-z0-9_-][A-Za-z0-9._-]*/[.]*[A-Za-z0-9_-][A-Za-z0-9._-]*$'
            ) then 'https://huggingface.co/' || newest_listing.hugging_face_id
        end as hugging_face_url,
        of_models.watermark_statement,
        of_models.watermark_source_url,
        coalesce(of_models.transparency_url, of_authors.transparency_url) as transparency_url,
        greatest(of_models.as_of, of_authors.as_of) as hand_kept_as_of,
        newest_cards.observed_at_utc as facts_as_of_utc
    from newest_listing
    left join newest_cards using (hugging_face_id)
    left join newest_configs using (hugging_face_id)
    left join of_authors on newest_listing.author = of_authors.subject
    left join of_models on split_part(newest_listing.model_id, ':', 1) = of_models.subject
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
        facts.developer,
        facts.origin_country,
        facts.origin_source_url,
        facts.licence,
        facts.licence_name,
        facts.licence_url,
        facts.params_total_b,
        facts.params_active_b,
        facts.params_basis,
        facts.params_active_basis,
        facts.params_source_url,
        case
            when facts.params_total_b < 4 then 'edge'
            when facts.params_total_b < 35 then 'consumer'
            when facts.params_total_b < 200 then 'enthusiast'
            when facts.params_total_b is not null then 'premier'
        end as size_class,
        facts.is_gated,
        facts.card_outcome,
        facts.pipeline_tag,
        facts.tags,
        facts.config_json,
        facts.gguf_files_json,
        facts.hugging_face_url,
        facts.watermark_statement,
        facts.watermark_source_url,
        facts.transparency_url,
        facts.hand_kept_as_of,
        facts.facts_as_of_utc,
        listed_now.model_id is not null as is_listed,
        listings.first_seen_utc,
        listings.last_seen_utc,
        newest_listing.observed_at_utc,
        newest_listing.sweep_id
    from newest_listing
    inner join listings using (model_id)
    inner join facts using (model_id)
    left join listed_now using (model_id)
)

select * from final
