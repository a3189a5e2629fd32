-- Every state an endpoint has been in, from the sweep that first saw it. An endpoint keeps its id
-- through price, quantization and context changes, through an absence, and through a drift of its
-- tag when exactly one endpoint of the provider vanished and one came in the same sweep. It is
-- absent only when its model's list was answered without it, or its model was no longer listed.
-- grain: one row per endpoint and sweep in which its listing or its presence changed
-- key: endpoint_id, sweep_id
-- units: prices in USD per million tokens; times in UTC
-- materialized: incremental by partition_date
with

this_sweep as (
    select *
    from staging.stg_sweeps
    where partition_date = $partition_date and sweep_id = $sweep_id
),

earlier_sweeps as (
    select sweeps.*
    from staging.stg_sweeps as sweeps, this_sweep
    where
        (sweeps.started_at_utc, sweeps.sweep_id) < (this_sweep.started_at_utc, this_sweep.sweep_id)
        and sweeps.status <> 'failed'
),

coverage as (
    select *
    from staging.stg_model_coverage
    where partition_date = $partition_date and sweep_id = $sweep_id
),

-- A list that lacks a page, or has lost a fifth of its models at once, is not taken for the truth.
list_is_believable as (
    select
        this_sweep.has_whole_model_list
        and this_sweep.models_listed >= 0.8 * coalesce(max_by(
            earlier_sweeps.models_listed, (earlier_sweeps.started_at_utc, earlier_sweeps.sweep_id)
        ), 0) as is_believable
    from this_sweep
    left join earlier_sweeps on true
    group by this_sweep.has_whole_model_list, this_sweep.models_listed
),

seen as (
    select *
    from staging.stg_endpoints
    where partition_date = $partition_date and sweep_id = $sweep_id
),

-- The newest states are found on two narrow columns first: reading all columns of all states
-- would cost more every day.
newest_states as (
    select
        endpoint_id,
        max_by(sweep_id, (sweep_started_at_utc, sweep_id)) as sweep_id
    from intermediate.int_endpoint_states
    group by endpoint_id
),

known as (
    select states.*
    from intermediate.int_endpoint_states as states
    inner join newest_states using (endpoint_id, sweep_id)
),

-- Twins share model, provider and tag. Those that look as before are paired first ...
seen_alike as (
    select
        *,
        row_number() over (
            partition by
                model_id, provider_name, tag, quantization, context_length,
                max_completion_tokens, input_usd_per_mtok, output_usd_per_mtok
            order by endpoint_ordinal
        ) as place
    from seen
),

known_alike as (
    select
        *,
        row_number() over (
            partition by
                model_id, provider_name, tag, quantization, context_length,
                max_completion_tokens, input_usd_per_mtok, output_usd_per_mtok
            order by is_present desc, endpoint_ordinal, endpoint_id
        ) as place
    from known
),

paired_alike as (
    select
        known_alike.endpoint_id,
        seen_alike.model_id,
        seen_alike.provider_name,
        seen_alike.tag,
        seen_alike.endpoint_ordinal
    from seen_alike
    inner join known_alike
        on seen_alike.model_id = known_alike.model_id
        and seen_alike.provider_name = known_alike.provider_name
        and seen_alike.tag = known_alike.tag
        and seen_alike.quantization is not distinct from known_alike.quantization
        and seen_alike.context_length is not distinct from known_alike.context_length
        and seen_alike.max_completion_tokens
            is not distinct from known_alike.max_completion_tokens
        and seen_alike.input_usd_per_mtok is not distinct from known_alike.input_usd_per_mtok
        and seen_alike.output_usd_per_mtok is not distinct from known_alike.output_usd_per_mtok
        and seen_alike.place = known_alike.place
),

-- ... and the rest in the order of their ordinals.
seen_changed as (
    select
        *,
        row_number() over (
            partition by model_id, provider_name, tag order by endpoint_ordinal
        ) as place
    from seen
    anti join paired_alike using (model_id, provider_name, tag, endpoint_ordinal)
),

known_changed as (
    select
        *,
        row_number() over (
            partition by model_id, provider_name, tag
            order by is_present desc, endpoint_ordinal, endpoint_id
        ) as place
    from known
    anti join paired_alike using (endpoint_id)
),

paired_by_key as (
    select * from paired_alike
    union all by name
    select
        known_changed.endpoint_id,
        seen_changed.model_id,
        seen_changed.provider_name,
        seen_changed.tag,
        seen_changed.endpoint_ordinal
    from seen_changed
    inner join known_changed using (model_id, provider_name, tag, place)
),

-- A record in quarantine may be the very endpoint that seems to be missing.
quarantined_endpoints as (
    select distinct model_id
    from raw.quarantine
    where
        partition_date = $partition_date
        and sweep_id = $sweep_id
        and table_name = 'endpoints'
        and model_id is not null
),

models_without_doubt as (
    select
        model_id,
        observed_at_utc
    from coverage
    anti join quarantined_endpoints using (model_id)
    where outcome = 'answered'
    union all
    select
        known_models.model_id,
        this_sweep.finished_at_utc as observed_at_utc
    from (select distinct model_id from known where is_present) as known_models
    cross join this_sweep
    cross join list_is_believable
    anti join coverage using (model_id)
    where list_is_believable.is_believable
),

vanished as (
    select
        known.*,
        models_without_doubt.observed_at_utc as noticed_at_utc
    from known
    inner join models_without_doubt using (model_id)
    anti join paired_by_key using (endpoint_id)
    where known.is_present
),

appeared as (
    select seen.*
    from seen
    anti join paired_by_key using (model_id, provider_name, tag, endpoint_ordinal)
),

-- One gone, one come, same model, provider and tier, same sweep: the tag has drifted.
drifted as (
    select
        any_value(vanished.endpoint_id) as endpoint_id,
        model_id,
        provider_name,
        any_value(appeared.tag) as tag,
        any_value(appeared.endpoint_ordinal) as endpoint_ordinal
    from vanished
    inner join appeared using (model_id, provider_name, tier)
    group by model_id, provider_name, tier
    having count(*) = 1
),

paired as (
    select * from paired_by_key
    union all by name
    select * from drifted
),

-- Models that were watched before, so that an unknown endpoint of theirs is news: answered once,
-- or not listed while others were.
watched_models as (
    select appeared_models.model_id
    from (select distinct model_id from appeared) as appeared_models
    cross join (select count(*) as sweeps from earlier_sweeps) as before
    left join (
        select
            coverage_before.model_id,
            coverage_before.outcome
        from staging.stg_model_coverage as coverage_before
        inner join earlier_sweeps using (sweep_id)
        where coverage_before.model_id in (select appeared.model_id from appeared)
    ) as coverage_before using (model_id)
    group by appeared_models.model_id, before.sweeps
    having
        count(coverage_before.outcome) < before.sweeps
        or bool_or(coverage_before.outcome = 'answered')
),

present_now as (
    select
        coalesce(
            paired.endpoint_id,
            left(md5(concat_ws(
                '|', seen.model_id, seen.provider_name, seen.tag, seen.endpoint_ordinal,
                seen.sweep_id
            )), 16)
        ) as endpoint_id,
        case
            when paired.endpoint_id is not null and known.is_present then 'changed'
            when paired.endpoint_id is not null then 'back'
            when watched_models.model_id is not null then 'new'
            else 'first'
        end as event,
        known.sweep_id as before_sweep_id,
        true as is_present,
        seen.model_id,
        seen.provider_name,
        seen.tag,
        seen.endpoint_ordinal,
        seen.quantization,
        seen.context_length,
        seen.max_completion_tokens,
        seen.max_prompt_tokens,
        seen.tier,
        seen.is_free,
        seen.input_usd_per_mtok,
        seen.output_usd_per_mtok,
        seen.cache_read_usd_per_mtok,
        seen.cache_write_usd_per_mtok,
        seen.discount,
        seen.other_prices_json,
        seen.overrides_json,
        seen.observed_at_utc as seen_from_utc
    from seen
    left join paired using (model_id, provider_name, tag, endpoint_ordinal)
    left join known on paired.endpoint_id = known.endpoint_id
    left join watched_models on seen.model_id = watched_models.model_id
    where
        known.endpoint_id is null
        or not known.is_present
        or (
            seen.tag, seen.endpoint_ordinal, seen.quantization, seen.context_length,
            seen.max_completion_tokens, seen.max_prompt_tokens, seen.other_prices_json,
            seen.overrides_json, seen.discount
        ) is distinct from (
            known.tag, known.endpoint_ordinal, known.quantization, known.context_length,
            known.max_completion_tokens, known.max_prompt_tokens, known.other_prices_json,
            known.overrides_json, known.discount
        )
        -- With a timetable of prices the headline price follows the clock; only a change of the
        -- timetable itself is news.
        or (
            not contains(seen.overrides_json, '"utc_start"')
            and (
                seen.input_usd_per_mtok, seen.output_usd_per_mtok,
                seen.cache_read_usd_per_mtok, seen.cache_write_usd_per_mtok
            ) is distinct from (
                known.input_usd_per_mtok, known.output_usd_per_mtok,
                known.cache_read_usd_per_mtok, known.cache_write_usd_per_mtok
            )
        )
),

absent_now as (
    select
        vanished.endpoint_id,
        'gone' as event,
        vanished.sweep_id as before_sweep_id,
        false as is_present,
        vanished.model_id,
        vanished.provider_name,
        vanished.tag,
        vanished.endpoint_ordinal,
        vanished.quantization,
        vanished.context_length,
        vanished.max_completion_tokens,
        vanished.max_prompt_tokens,
        vanished.tier,
        vanished.is_free,
        vanished.input_usd_per_mtok,
        vanished.output_usd_per_mtok,
        vanished.cache_read_usd_per_mtok,
        vanished.cache_write_usd_per_mtok,
        vanished.discount,
        vanished.other_prices_json,
        vanished.overrides_json,
        vanished.noticed_at_utc as seen_from_utc
    from vanished
    anti join drifted using (endpoint_id)
),

states as (
    select * from present_now
    union all by name
    select * from absent_now
),

-- When the old state was last confirmed.
last_answers as (
    select
        model_id,
        max(observed_at_utc) as last_answered_at_utc
    from staging.stg_model_coverage
    where
        outcome = 'answered'
        and observed_at_utc < (select started_at_utc from this_sweep)
        and model_id in (select states.model_id from states)
    group by model_id
),

final as (
    select
        states.endpoint_id,
        this_sweep.sweep_id,
        this_sweep.partition_date,
        this_sweep.started_at_utc as sweep_started_at_utc,
        states.event,
        states.before_sweep_id,
        states.is_present,
        states.model_id,
        states.provider_name,
        states.tag,
        states.endpoint_ordinal,
        states.quantization,
        states.context_length,
        states.max_completion_tokens,
        states.max_prompt_tokens,
        states.tier,
        states.is_free,
        states.input_usd_per_mtok,
        states.output_usd_per_mtok,
        states.cache_read_usd_per_mtok,
        states.cache_write_usd_per_mtok,
        states.discount,
        states.other_prices_json,
        states.overrides_json,
        case
            when states.event in ('changed', 'gone') then last_answers.last_answered_at_utc
        end as last_seen_before_utc,
        states.seen_from_utc
    from states
    cross join this_sweep
    left join last_answers using (model_id)
)

select * from final
