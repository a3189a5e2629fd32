"""The marts as they stand in a database: names, columns, and one fixed order of rows."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pipeline.duck import Database

NAME = re.compile(r"[a-z][a-z0-9_]*")

# Leading sort columns: people read the files in this order, and a reader of one model's rows
# touches few row groups. The other columns follow as tie-breakers, so the order is total.
SORT_KEYS = {
    "data_health": ("check_name",),
    "flag_log": ("rule", "table_name", "row_key"),
    "market_table": ("model_id",),
    "model_facts": ("model_id",),
    "offers": ("provider_name", "plan", "model_pattern"),
    "model_scores": ("model_id", "source", "metric", "variant"),
    "performance_history": ("model_id", "target", "started_at_utc"),
    "price_changes": ("first_seen_new_utc", "model_id", "provider_name", "tag"),
    "price_history": ("model_id", "provider_name", "tag", "endpoint_ordinal", "valid_from_utc"),
    "probe_samples": ("model_id", "target", "sent_at_utc"),
    "probe_summary": ("model_id", "target", "window_hours", "prompt_set", "phase", "concurrency"),
    "provider_table": ("model_id", "default_rank"),
    "quarantine_log": ("observed_at_utc", "sweep_id", "table_name", "row_key"),
    "score_per_dollar": ("model_id", "source", "metric", "variant", "price_basis"),
    "sweep_log": ("started_at_utc", "sweep_id"),
    "unmatched_names": ("source", "source_name"),
    "uptime_history": ("model_id", "provider_name", "tag", "endpoint_ordinal", "observed_at_utc"),
}


class MartsError(Exception):
    """The marts are not such that they can be published; one line says why and what helps."""


@dataclass(frozen=True)
class Column:
    """A column and DuckDB's name of its type, as it is in the files."""

    name: str
    type: str
    is_nullable: bool

    @property
    def quoted(self) -> str:
        """Return the name as SQL."""
        return '"' + self.name.replace('"', '""') + '"'


@dataclass(frozen=True)
class Mart:
    """A table or view to publish; ``relation`` names it in SQL, database and schema included."""

    name: str
    relation: str
    columns: tuple[Column, ...]

    def select(self, where: str = "true") -> str:
        """Return the query of its rows, in their fixed order and with the columns' types."""
        columns = ", ".join(
            f"{column.quoted}::{column.type} as {column.quoted}" for column in self.columns
        )
        return f"select {columns} from {self.relation} where {where} order by {self._order()}"

    def _order(self) -> str:
        by_name = {column.name: column.quoted for column in self.columns}
        keys = [by_name.pop(key) for key in SORT_KEYS.get(self.name, ()) if key in by_name]
        return ", ".join([*keys, *by_name.values()])


def find_marts(database: Database, schema: str = "marts") -> dict[str, Mart]:
    """Return every table and view of ``schema``, by name, in whichever attached database it is.

    Raises ``MartsError`` when two databases have them or a name cannot be that of a file.
    """
    rows = database.rows(
        "select database_name, table_name, column_name, data_type, is_nullable "
        "from duckdb_columns() where schema_name = $schema and not internal "
        "order by table_name, database_name, column_index",
        {"schema": schema},
    )
    if len({row[0] for row in rows}) > 1:
        raise MartsError(
            f"schema {schema} stands in several databases: {sorted({row[0] for row in rows})}; "
            "detach all but one"
        )
    columns: dict[tuple[str, str], list[Column]] = {}
    for database_name, mart, name, data_type, is_nullable in rows:
        # sum() of counts is a HUGEINT, which Parquet would hold as an inexact double.
        stored_type = "BIGINT" if data_type == "HUGEINT" else data_type
        columns.setdefault((database_name, mart), []).append(Column(name, stored_type, is_nullable))
    for _, mart in columns:
        if not NAME.fullmatch(mart):
            raise MartsError(f"mart {mart!r} cannot name a file; use a-z, 0-9 and _ only")
    return {
        mart: Mart(mart, f'"{database_name}".{schema}.{mart}', tuple(found))
        for (database_name, mart), found in columns.items()
    }
