-- Facts that no API states, kept by hand with their sources.
-- grain: one row per subject and field
-- key: about, subject, field
-- units: values are texts; sizes in billions of parameters
-- materialized: view
select
    about,
    subject,
    field,
    value,
    source_url,
    as_of
from raw.hand_kept_facts
