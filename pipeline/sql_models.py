"""The SQL models of ``dbt_like_sql``: found, understood, put in order.

A model is one SELECT in ``<schema>/<name>.sql`` with a header, and a contract beside it in
``<name>.yml``. The header is the comment block on top::

    -- What the model holds, in a sentence or two.
    -- grain: one row per endpoint and sweep
    -- key: endpoint_id, sweep_id
    -- units: prices in USD per million tokens
    -- materialized: view | table | incremental by partition_date [over probe_runs]
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

import sqlglot
import yaml
from sqlglot import exp

from pipeline.warehouse import CARD_TABLES, FILE_TABLES, PROBE_TABLES, RAW_TABLES

SQL_FOLDER = Path(__file__).resolve().parents[1] / "dbt_like_sql"
SCHEMAS = ("staging", "intermediate", "marts")
# What comes in one at a time, and an incremental model can be computed over: its id, and the tables
# that it fills.
STEP_IDS = {"sweeps": "sweep_id", "probe_runs": "run_id"}
RAW_NAMES_BY_STEP = {
    "sweeps": frozenset(f"raw.{table}" for table in RAW_TABLES),
    "probe_runs": frozenset(f"raw.{table}" for table in (*PROBE_TABLES, "quarantine")),
}
CARD_NAMES = frozenset(f"raw.{table}" for table in CARD_TABLES)
FILE_NAMES = frozenset(f"raw.{table}" for table in FILE_TABLES)
RAW_NAMES = CARD_NAMES.union(FILE_NAMES, *RAW_NAMES_BY_STEP.values())
MATERIALIZED = re.compile(
    rf"view|table|incremental by (?P<date_column>[a-z_]+)( over (?P<over>{'|'.join(STEP_IDS)}))?"
)


class SqlModelError(Exception):
    """A SQL model is wrong; the message names the file, what is wrong and what helps."""


@dataclass(frozen=True)
class ColumnDoc:
    """A column as its contract states it; ``type`` is DuckDB's name of it."""

    name: str
    type: str
    description: str
    is_not_null: bool


@dataclass(frozen=True)
class SqlModel:
    """One SELECT file with its header and contract.

    ``date_column`` and ``over``, the raw table over which it is computed, are of an incremental
    model.
    """

    schema: str
    name: str
    path: Path
    sql: str = field(repr=False)
    title: str
    grain: str
    key: tuple[str, ...]
    units: str
    materialized: str
    date_column: str | None
    over: str
    references: frozenset[str]
    columns: tuple[ColumnDoc, ...] = field(repr=False)

    @property
    def qualified_name(self) -> str:
        """Return ``schema.name``, as other models refer to it."""
        return f"{self.schema}.{self.name}"

    @property
    def step_id(self) -> str:
        """Return the id column of ``over``, which is also a parameter of the query."""
        return STEP_IDS[self.over]

    @property
    def fingerprint(self) -> str:
        """Return a digest that changes when the query or its contract does."""
        text = self.sql + "".join(f"{column.name} {column.type}\n" for column in self.columns)
        return hashlib.sha256(text.encode()).hexdigest()


def load_sql_models(folder: Path = SQL_FOLDER) -> tuple[SqlModel, ...]:
    """Read all models of ``folder``, each after the models it reads from.

    Raises ``SqlModelError`` for a file that is not one SELECT, a wrong header or contract, two
    models of one name, a table nobody defines, and a cycle.
    """
    models: dict[str, SqlModel] = {}
    for path in sorted(folder.glob("*/*.sql")):
        model = _read_model(path)
        twin = models.get(model.name)
        if twin is not None:
            raise SqlModelError(
                f"{path}: the name {model.name} is taken by {twin.path}; rename one of them"
            )
        models[model.name] = model
    return _in_order(models.values())


def _read_model(path: Path) -> SqlModel:
    sql = path.read_text()
    if path.parent.name not in SCHEMAS:
        raise SqlModelError(f"{path}: models live in {', '.join(SCHEMAS)}; move the file")
    title, header = _read_header(path, sql)
    materialized = MATERIALIZED.fullmatch(header["materialized"])
    if materialized is None:
        raise SqlModelError(
            f"{path}: materialized is {header['materialized']!r}; "
            "write view, table, or incremental by <date column>, for all but sweeps with "
            "over probe_runs"
        )
    return SqlModel(
        schema=path.parent.name,
        name=path.stem,
        path=path,
        sql=sql,
        title=title,
        grain=header["grain"],
        key=tuple(name.strip() for name in header["key"].split(",")),
        units=header["units"],
        materialized=header["materialized"].split()[0],
        date_column=materialized["date_column"],
        over=materialized["over"] or "sweeps",
        references=_references(path, sql),
        columns=_read_contract(path.with_suffix(".yml")),
    )


def _read_header(path: Path, sql: str) -> tuple[str, dict[str, str]]:
    title: list[str] = []
    header: dict[str, str] = {}
    for line in sql.splitlines():
        if not line.startswith("--"):
            break
        text = line.removeprefix("--").strip()
        name, colon, value = text.partition(": ")
        if colon and name in ("grain", "key", "units", "materialized"):
            header[name] = value.strip()
        elif not header:
            title.append(text)
    for wanted in ("grain", "key", "units", "materialized"):
        if wanted not in header:
            raise SqlModelError(f"{path}: the header lacks the line `-- {wanted}: ...`; add it")
    return " ".join(title), header


# A process reads the models again for every job that it defines, and parsing is most of that.
@cache
def _references(path: Path, sql: str) -> frozenset[str]:
    try:
        statements = sqlglot.parse(sql, dialect="duckdb")
    except sqlglot.errors.ParseError as error:
        details = error.errors[0] if error.errors else {"description": str(error), "line": "?"}
        raise SqlModelError(
            f"{path}: line {details['line']}: {details['description']}; "
            "the file must be one SELECT that DuckDB understands"
        ) from None
    if len(statements) != 1 or not isinstance(statements[0], exp.Query):
        raise SqlModelError(f"{path}: the file must be exactly one SELECT")
    query = statements[0]
    own_names = {cte.alias_or_name for cte in query.find_all(exp.CTE)}
    found = {(table.db, table.name) for table in query.find_all(exp.Table) if table.name}
    loose = sorted(name for schema, name in found if not schema and name not in own_names)
    if loose:
        raise SqlModelError(
            f"{path}: table {loose[0]} has no schema; write raw.{loose[0]}, staging.{loose[0]} ..."
        )
    return frozenset(f"{schema}.{name}" for schema, name in found if schema)


def _read_contract(path: Path) -> tuple[ColumnDoc, ...]:
    if not path.is_file():
        raise SqlModelError(f"{path}: the contract is missing; list the model's columns there")
    # The C parser reads all contracts in a tenth of the time, at every start of every process.
    content: Any = yaml.load(path.read_text(), Loader=yaml.CSafeLoader)
    try:
        return tuple(
            ColumnDoc(
                name=column["name"],
                type=column["type"].upper(),
                description=column["description"],
                is_not_null=column.get("not_null", False),
            )
            for column in content["columns"]
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise SqlModelError(
            f"{path}: each entry of `columns` needs name, type and description ({error!r})"
        ) from None


def _in_order(models: Iterable[SqlModel]) -> tuple[SqlModel, ...]:
    by_name = {model.qualified_name: model for model in models}
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for name, model in by_name.items():
        unknown = sorted(model.references - by_name.keys() - RAW_NAMES)
        if unknown:
            raise SqlModelError(
                f"{model.path}: reads from {unknown[0]}, which is neither a raw table nor a model; "
                f"known raw tables: {', '.join(sorted(RAW_NAMES))}"
            )
        # A model may read its own earlier rows; that is no cycle.
        sorter.add(name, *sorted((model.references & by_name.keys()) - {name}))
    try:
        return tuple(by_name[name] for name in sorter.static_order())
    except CycleError as error:
        circle = " -> ".join(error.args[1])
        raise SqlModelError(f"SQL models depend on each other in a circle: {circle}") from None
