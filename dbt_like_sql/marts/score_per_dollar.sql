-- What a dollar buys: points of a score per USD per million tokens, at the cheapest endpoint that is
-- served by default. Only what one gets by default, now, for money sets the price: no endpoint that
-- is stale, free, flex, priority or batch, no alias and no router. A price of blend_3_1 is
-- (3 input + output) / 4 at one and the same endpoint. The value is null for a model that is free or
-- has no price, and for a scale without a zero.
-- grain: one row per model, score and price basis
-- key: model_id, source, metric, variant, price_basis
-- units: prices in USD per million tokens; value in points per USD per million tokens
-- materialized: view
with

scores as (select * from marts.model_scores),

standard_models as (
    select model_id
    from marts.model_facts
    where kind = 'standard'
),

current_endpoints as (
    select endpoints.*
    from marts.provider_table as endpoints
    inner join standard_models using (model_id)
    where not endpoints.is_stale
),

free_models as (
    select model_id
    from current_endpoints
    group by model_id
    having bool_and(is_free)
),

priced_endpoints as (
    select
        model_id,
        provider_name,
        tag,
        default_rank,
        observed_at_utc,
        unnest(['cheapest_input', 'blend_3_1']) as price_basis,
        unnest([
            input_usd_per_mtok::decimal(38, 18),
            -- Times a quarter, as a division would leave the decimals.
            ((3 * input_usd_per_mtok + output_usd_per_mtok) * 0.25)::decimal(38, 18)
        ]) as price_usd_per_mtok
    from current_endpoints
    where tier = 'standard' and not is_free
),

cheapest as (
    select *
    from priced_endpoints
    where price_usd_per_mtok > 0
    qualify row_number() over (
        partition by model_id, price_basis order by price_usd_per_mtok, default_rank
    ) = 1
),

bases as (select unnest(['cheapest_input', 'blend_3_1']) as price_basis),

final as (
    select
        scores.model_id,
        scores.source,
        scores.metric,
        scores.variant,
        bases.price_basis,
        scores.score,
        cheapest.price_usd_per_mtok,
        case
            when scores.has_zero and scores.higher_is_better
                then (scores.score / cheapest.price_usd_per_mtok)::decimal(38, 6)
        end as points_per_usd_per_mtok,
        cheapest.provider_name,
        cheapest.tag,
        free_models.model_id is not null as is_free,
        scores.has_zero,
        scores.higher_is_better,
        scores.evidence,
        scores.as_of,
        cheapest.observed_at_utc
    from scores
    inner join standard_models using (model_id)
    cross join bases
    left join cheapest
        on scores.model_id = cheapest.model_id
        and bases.price_basis = cheapest.price_basis
    left join free_models
        on scores.model_id = free_models.model_id
)

select * from final
