-- What changed at each step from one state of an endpoint to the next, field by field.
-- grain: one row per endpoint, sweep and changed field
-- key: endpoint_id, sweep_id, field
-- units: prices in USD per million tokens, written out exactly; change_pct in percent of the old
-- materialized: incremental by partition_date
with

states_now as (
    select *
    from intermediate.int_endpoint_states
    where partition_date = $partition_date and sweep_id = $sweep_id
),

states_before as (
    select before.*
    from intermediate.int_endpoint_states as before
    inner join states_now
        on before.endpoint_id = states_now.endpoint_id
        and before.sweep_id = states_now.before_sweep_id
),

steps as (
    select
        states_now.*,
        states_before as before,
        coalesce(states_now.last_seen_before_utc, states_before.last_seen_before_utc)
            as last_seen_old_utc
    from states_now
    left join states_before using (endpoint_id)
),

presence as (
    select
        endpoint_id,
        event as kind,
        'presence' as field,
        null::decimal(38, 18) as old_price,
        null::decimal(38, 18) as new_price,
        case when event <> 'back' and before is not null then before.tag end as old_value,
        case when is_present then tag end as new_value
    from steps
    where event in ('new', 'gone', 'back')
),

prices as (
    unpivot (
        select
            endpoint_id,
            {'old': before.input_usd_per_mtok, 'new': input_usd_per_mtok} as input_usd_per_mtok,
            {'old': before.output_usd_per_mtok, 'new': output_usd_per_mtok} as output_usd_per_mtok,
            {'old': before.cache_read_usd_per_mtok, 'new': cache_read_usd_per_mtok}
                as cache_read_usd_per_mtok,
            {'old': before.cache_write_usd_per_mtok, 'new': cache_write_usd_per_mtok}
                as cache_write_usd_per_mtok
        from steps
        where event in ('changed', 'back')
    )
    on
        input_usd_per_mtok,
        output_usd_per_mtok,
        cache_read_usd_per_mtok,
        cache_write_usd_per_mtok
    into name field value price
),

price_moves as (
    select
        endpoint_id,
        case
            when price.old is null then 'price_stated'
            when price.new is null then 'price_withdrawn'
            when price.new < price.old then 'cheaper'
            else 'dearer'
        end as kind,
        field,
        price.old as old_price,
        price.new as new_price,
        -- Written out exactly, without the zeros that only pad the scale.
        regexp_replace(price.old::varchar, '\.?0+$', '') as old_value,
        regexp_replace(price.new::varchar, '\.?0+$', '') as new_value
    from prices
    where price.old is distinct from price.new
),

attributes as (
    unpivot (
        select
            endpoint_id,
            {'old': before.quantization, 'new': quantization} as quantization,
            {'old': before.context_length::varchar, 'new': context_length::varchar}
                as context_length,
            {'old': before.max_completion_tokens::varchar, 'new': max_completion_tokens::varchar}
                as max_completion_tokens,
            {'old': before.max_prompt_tokens::varchar, 'new': max_prompt_tokens::varchar}
                as max_prompt_tokens,
            {'old': before.tag, 'new': tag} as tag,
            {
                'old': regexp_replace(before.discount::varchar, '\.?0+$', ''),
                'new': regexp_replace(discount::varchar, '\.?0+$', '')
            } as discount,
            {'old': before.overrides_json, 'new': overrides_json} as overrides_json,
            {'old': before.other_prices_json, 'new': other_prices_json} as other_prices_json
        from steps
        where event in ('changed', 'back')
    )
    on
        quantization,
        context_length,
        max_completion_tokens,
        max_prompt_tokens,
        tag,
        discount,
        overrides_json,
        other_prices_json
    into name field value attribute
),

attribute_changes as (
    select
        endpoint_id,
        case field
            when 'context_length' then 'context'
            when 'max_completion_tokens' then 'limits'
            when 'max_prompt_tokens' then 'limits'
            when 'overrides_json' then 'tiers'
            when 'other_prices_json' then 'other_price'
            else field
        end as kind,
        field,
        null::decimal(38, 18) as old_price,
        null::decimal(38, 18) as new_price,
        attribute.old as old_value,
        attribute.new as new_value
    from attributes
    where attribute.old is distinct from attribute.new
),

changes as (
    select * from presence
    union all by name
    select * from price_moves
    union all by name
    select * from attribute_changes
),

final as (
    select
        steps.endpoint_id,
        steps.sweep_id,
        steps.partition_date,
        steps.model_id,
        steps.provider_name,
        steps.tag,
        steps.endpoint_ordinal,
        changes.kind,
        changes.field,
        changes.old_value,
        changes.new_value,
        -- From zero any price is infinitely dearer; that share says nothing.
        case
            when changes.old_price > 0
                then round(
                    100.0 * (changes.new_price - changes.old_price)::double
                    / changes.old_price::double, 4
                )
        end as change_pct,
        steps.last_seen_old_utc,
        steps.seen_from_utc as first_seen_new_utc
    from changes
    inner join steps using (endpoint_id)
)

select * from final
