-- Which of n values in order hold a percentile between them with 95 % certainty or more.
-- The number of values below a percentile is binomial, whatever they measure: it lies between
-- those of ranks l and u with the probability P(l <= B < u). Of all pairs that reach 95 % this is
-- the closest, among equally close ones the surest. Too few values have none: null.
-- grain: one row per number of values that the pooled figures have
-- key: n
-- units: ranks from 1
-- materialized: table
with

sizes as (
    select distinct unnest([len(ttft_values), len(e2e_values), len(decode_values)]) as n
    from intermediate.int_probe_pooled
),

percentiles as (
    select
        sizes.n,
        levels.q,
        sizes.n * levels.q as mean,
        sqrt(mean * (1 - levels.q)) as deviation
    from sizes
    cross join (select unnest([0.5, 0.95, 0.99]::double[]) as q) as levels
    where sizes.n > 0
),

-- Beyond eight deviations there is nothing that a double could add up.
hits as (
    select
        n,
        q,
        unnest(
            range(
                greatest(0, floor(mean - 8 * deviation) - 8)::bigint,
                least(n, ceil(mean + 8 * deviation) + 8)::bigint + 1
            )
        ) as hit
    from percentiles
),

ranks as (
    select
        n,
        q,
        hit as place,
        coalesce(
            sum(
                exp(
                    lgamma(n + 1) - lgamma(hit + 1) - lgamma(n - hit + 1)
                    + hit * ln(q) + (n - hit) * ln(1 - q)
                )
            ) over (
                partition by n, q order by hit rows between unbounded preceding and 1 preceding
            ),
            0
        ) as below
    from hits
),

-- For each lower rank the nearest upper one that reaches 95 %.
pairs as (
    select
        lower.n,
        lower.q,
        lower.place as low_rank,
        upper.place as high_rank,
        -- Rounded, so that pairs which mirror each other are equally sure.
        round(upper.below - lower.below, 12) as surety
    from ranks as lower
    asof inner join ranks as upper
        on lower.n = upper.n and lower.q = upper.q and lower.below + 0.95 <= upper.below
    where lower.place >= 1
),

closest as (
    select
        n,
        q,
        arg_min(low_rank, (high_rank - low_rank, -surety, low_rank)) as low_rank,
        arg_min(high_rank, (high_rank - low_rank, -surety, low_rank)) as high_rank
    from pairs
    group by n, q
),

final as (
    select
        sizes.n,
        max(closest.low_rank) filter (where closest.q = 0.5) as p50_low_rank,
        max(closest.high_rank) filter (where closest.q = 0.5) as p50_high_rank,
        max(closest.low_rank) filter (where closest.q = 0.95) as p95_low_rank,
        max(closest.high_rank) filter (where closest.q = 0.95) as p95_high_rank,
        max(closest.low_rank) filter (where closest.q = 0.99) as p99_low_rank,
        max(closest.high_rank) filter (where closest.q = 0.99) as p99_high_rank
    from sizes
    left join closest using (n)
    where sizes.n > 0
    group by sizes.n
)

select * from final
