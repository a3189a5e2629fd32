-- Spans of time over which an endpoint was listed without a change.
-- grain: one row per endpoint and span
-- key: endpoint_id, valid_from_utc
-- units: prices in USD per million tokens; times in UTC, valid_to_utc null while it lasts
-- materialized: view
with

states as (
    select
        *,
        lead(seen_from_utc) over endpoint_in_time as next_from_utc,
        lead(last_seen_before_utc) over endpoint_in_time as seen_before_next_utc
    from intermediate.int_endpoint_states
    window endpoint_in_time as (
        partition by endpoint_id order by sweep_started_at_utc, sweep_id
    )
),

final as (
    select
        states.* exclude (next_from_utc, seen_before_next_utc),
        states.seen_from_utc as valid_from_utc,
        states.next_from_utc as valid_to_utc,
        coalesce(states.seen_before_next_utc, endpoints_now.last_seen_utc) as last_seen_utc
    from states
    left join intermediate.int_endpoints_now as endpoints_now using (endpoint_id)
    where states.is_present
)

select * from final
