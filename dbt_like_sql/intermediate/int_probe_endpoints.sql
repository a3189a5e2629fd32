-- Which listed endpoint a probed target is: by its routing tag, or, when it is asked directly, by
-- the provider, if that has only one endpoint for the model.
-- grain: one row per model and tag (tag not null), and per model and provider (tag null)
-- key: model_id, tag, provider_name
-- units: none
-- materialized: table
with

listed as (select * from intermediate.int_endpoints_now where is_present),

by_tag as (
    select
        model_id,
        tag,
        null::varchar as provider_name,
        endpoint_id
    from listed
    -- Twins cannot be told apart by what is asked for: it is the first that stands for them.
    qualify row_number() over (
        partition by model_id, tag order by tier <> 'standard', endpoint_ordinal, endpoint_id
    ) = 1
),

by_provider as (
    select
        model_id,
        null::varchar as tag,
        provider_name,
        any_value(endpoint_id) as endpoint_id
    from listed
    group by model_id, provider_name
    having count(*) = 1
),

final as (
    select * from by_tag
    union all by name
    select * from by_provider
)

select * from final
