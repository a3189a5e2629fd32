-- What is surprising in the newest sweep: loaded all the same, worth a look.
-- grain: one row per finding
-- key: table_name, row_key, rule, detail
-- units: none
-- materialized: table
with

newest_sweep as (
    select *
    from staging.stg_sweeps
    qualify row_number() over (order by started_at_utc desc, sweep_id desc) = 1
),

within_the_sweep as (
    select flags.*
    from raw.flags as flags
    inner join newest_sweep using (sweep_id, partition_date)
),

final as (
    select
        sweep_id,
        table_name,
        row_key,
        rule,
        detail,
        observed_at_utc
    from within_the_sweep
    union all by name
    select
        surprises.sweep_id,
        surprises.table_name,
        surprises.row_key,
        surprises.rule,
        surprises.detail,
        surprises.observed_at_utc
    from intermediate.int_surprises as surprises
)

select * from final
