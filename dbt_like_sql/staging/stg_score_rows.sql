-- Scores as the files state them: bundled and imported.
-- grain: one row per file and score
-- key: file_id, source, source_name, metric, variant
-- units: scores in points of their own scale, null where the scale has no end
-- materialized: view
select
    file_id,
    source,
    source_name,
    metric,
    variant,
    evidence,
    source_url,
    licence,
    citation,
    score,
    scale_min,
    scale_max,
    higher_is_better,
    has_zero,
    as_of,
    landed_at_utc
from raw.score_rows
