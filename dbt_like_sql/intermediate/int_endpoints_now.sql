-- The last known state of every endpoint, with the time it was last seen.
-- grain: one row per endpoint ever seen
-- key: endpoint_id
-- units: prices in USD per million tokens; times in UTC
-- materialized: table
with

newest_sweep as (
    select
        sweep_id,
        finished_at_utc
    from staging.stg_sweeps
    where status <> 'failed'
    qualify row_number() over (order by started_at_utc desc, sweep_id desc) = 1
),

newest_states as (
    select
        endpoint_id,
        max_by(sweep_id, (sweep_started_at_utc, sweep_id)) as sweep_id,
        min(seen_from_utc) as first_seen_utc
    from intermediate.int_endpoint_states
    group by endpoint_id
),

last_states as (
    select
        states.*,
        newest_states.first_seen_utc
    from intermediate.int_endpoint_states as states
    inner join newest_states using (endpoint_id, sweep_id)
),

last_answers as (
    select
        model_id,
        max(observed_at_utc) as last_answered_at_utc,
        max_by(sweep_id, observed_at_utc) as last_answer_sweep_id,
        max_by(partition_date, observed_at_utc) as last_answer_date
    from staging.stg_model_coverage
    where outcome = 'answered'
    group by model_id
),

final as (
    select
        last_states.* exclude (sweep_id, partition_date, sweep_started_at_utc, last_seen_before_utc),
        last_states.sweep_id as state_sweep_id,
        -- An endpoint that is still listed was last seen when its model last answered.
        case
            when last_states.is_present then last_answers.last_answered_at_utc
            else last_states.last_seen_before_utc
        end as last_seen_utc,
        case when last_states.is_present then last_answers.last_answer_sweep_id end
            as last_seen_sweep_id,
        case when last_states.is_present then last_answers.last_answer_date end as last_seen_date,
        -- Not in the newest answer, or its model has not answered for a day and a half.
        not last_states.is_present
        or last_answers.last_answered_at_utc < newest_sweep.finished_at_utc - interval 36 hours
            as is_stale
    from last_states
    cross join newest_sweep
    left join last_answers using (model_id)
)

select * from final
