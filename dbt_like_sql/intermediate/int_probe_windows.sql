-- The trailing windows over which probes are summarised: which runs fall into each of them.
-- A window reaches back from the start of the newest probe run.
-- grain: one row per window and probe run in it
-- key: window_hours, run_id
-- units: windows in hours
-- materialized: view
with

runs as (select * from staging.stg_probe_runs),

newest_run as (select max(started_at_utc) as started_at_utc from runs),

windows as (select unnest([24, 72, 336]) as window_hours),

final as (
    select
        windows.window_hours,
        runs.run_id,
        runs.partition_date,
        runs.started_at_utc
    from runs
    cross join newest_run
    cross join windows
    where runs.started_at_utc > newest_run.started_at_utc - to_hours(windows.window_hours)
)

select * from final
