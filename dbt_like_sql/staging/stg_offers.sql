-- Subscriptions, as the file of offers lists them.
-- grain: one row per plan and pattern of models
-- key: provider_name, plan, model_pattern
-- units: USD a month
-- materialized: view
select
    provider_name,
    plan,
    model_pattern,
    usd_per_month,
    url,
    source,
    as_of
from raw.offers
