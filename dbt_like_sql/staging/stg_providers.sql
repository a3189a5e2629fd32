-- Providers as each sweep listed them.
-- grain: one row per sweep and provider
-- key: sweep_id, provider_name
-- units: none
-- materialized: view
select
    sweep_id,
    partition_date,
    provider_name,
    provider_slug,
    headquarters,
    datacenters,
    privacy_policy_url,
    terms_of_service_url,
    status_page_url,
    observed_at_utc
from raw.providers
