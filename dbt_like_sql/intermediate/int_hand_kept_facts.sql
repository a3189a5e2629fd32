-- Facts kept by hand, a column a fact: what is kept of a model itself, else of its author.
-- grain: one row per subject
-- key: about, subject
-- units: parameters in billions
-- materialized: view
select
    about,
    subject,
    max(value) filter (where field = 'developer') as developer,
    max(value) filter (where field = 'origin_country') as origin_country,
    max(value) filter (where field = 'watermark_statement') as watermark_statement,
    max(source_url) filter (where field = 'watermark_statement') as watermark_source_url,
    max(value) filter (where field = 'transparency_url') as transparency_url,
    (max(value) filter (where field = 'params_total_b'))::decimal(18, 9) as params_total_b,
    (max(value) filter (where field = 'params_active_b'))::decimal(18, 9) as params_active_b,
    max(source_url) filter (where field = 'params_total_b') as params_source_url,
    max(source_url) filter (where field = 'origin_country') as origin_source_url,
    max(as_of) as as_of
from staging.stg_hand_kept_facts
group by about, subject
