-- The gaps between chunks, all requests of a window pooled by series, whatever the tokens in them.
-- grain: one row per window and series
-- key: window_hours, series_id
-- units: gaps in ms; p99 from 299 gaps
-- materialized: table
with

windows as (select * from intermediate.int_probe_windows),

requests as (
    select requests.*
    from intermediate.int_probe_requests as requests
    inner join windows using (partition_date, run_id)
    where windows.window_hours = 336 and requests.is_in_figures
),

-- There are millions of gaps: to sort them by a number takes a third of the time.
series as (
    select
        series_id,
        row_number() over (order by series_id) as series_number
    from requests
    group by series_id
),

gaps as (
    select
        windows.window_hours,
        series.series_number,
        unnest(arrivals.chunk_ns[2:]) - unnest(arrivals.chunk_ns[:-2]) as gap_ns
    from requests
    inner join staging.stg_probe_requests as arrivals using (partition_date, run_id, request_id)
    inner join windows using (partition_date, run_id)
    inner join series using (series_id)
),

percentiles as (
    select
        window_hours,
        series_number,
        count(*) as gaps,
        quantile_cont(gap_ns, [0.5, 0.99]) as gaps_ns
    from gaps
    group by all
),

final as (
    select
        percentiles.window_hours,
        series.series_id,
        percentiles.gaps,
        gaps_ns[1] / 1e6 as chunk_gap_p50_ms,
        case when percentiles.gaps >= 299 then gaps_ns[2] / 1e6 end as chunk_gap_p99_ms
    from percentiles
    inner join series using (series_number)
)

select * from final
