-- Sources of scores that tokentape knows, with what each asks of those who show its scores.
-- grain: one row per source
-- key: source
-- units: none
-- materialized: view
select
    source,
    title,
    source_url,
    licence,
    citation
from raw.score_sources
