"""Write the data dictionary from the headers and contracts of the SQL models.

``python -m pipeline.data_dictionary`` writes ``docs/data-dictionary.md``; a test holds the two
together.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pipeline.sql_models import SqlModel, load_sql_models

PATH = Path(__file__).resolve().parents[1] / "docs" / "data-dictionary.md"

OPENING = """# Data dictionary

What each published table holds. The names are the same in the warehouse, in `<table>.parquet`,
`<table>.csv.gz`, `tokentape.duckdb` and the JSON of a model. This page is written from the SQL
models and their contracts by `python -m pipeline.data_dictionary`; do not edit it by hand.

- Prices are USD per million tokens, exact decimals. **Null is not zero and not free**: it means
  that the endpoint states no such price.
- Times are UTC. `observed_at_utc` is when the answer arrived.
- Speeds named `reported_` are OpenRouter's, from its own traffic; those named `probe_` and those of
  `probe_summary`, `probe_samples` and `performance_history` were measured by us.
- CSV files are UTF-8 with a header. An empty cell is null. A text that a spreadsheet would take
  for a formula begins with an apostrophe.
- `uptime_history.parquet` and `.csv.gz` hold the last 90 days; the whole past lies by month in
  `uptime_history/<YYYY-MM>.parquet`.
"""


def data_dictionary(models: Iterable[SqlModel]) -> str:
    """Return the dictionary of the marts as Markdown."""
    marts = sorted((model for model in models if model.schema == "marts"), key=lambda m: m.name)
    return OPENING + "".join(_chapter(model) for model in marts)


def _chapter(model: SqlModel) -> str:
    rows = "".join(
        f"| `{column.name}` | {column.type} | {'' if column.is_not_null else 'yes'} "
        f"| {column.description} |\n"
        for column in model.columns
    )
    return (
        f"\n## {model.name}\n\n{model.title}\n\n"
        f"- Grain: {model.grain}\n"
        f"- Key: {', '.join(f'`{name}`' for name in model.key)}\n"
        f"- Units: {model.units}\n\n"
        f"| column | type | null? | meaning |\n|---|---|---|---|\n{rows}"
    )


if __name__ == "__main__":
    PATH.write_text(data_dictionary(load_sql_models()))
