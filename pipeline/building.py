"""Bring the SQL models up to date in the warehouse.

Views and tables are made anew. An incremental model is computed sweep by sweep, in the order of
time, from the sweeps it has not seen: the cost of a run grows with what is new. Its query is
given ``$sweep_id`` and ``$partition_date`` and may read its own rows, which are then those of
earlier sweeps only. When an older sweep comes in later (a backfill), the rows of all sweeps from
there on are computed again; when the query itself has changed, all are.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from pipeline.duck import Database
from pipeline.sql_models import SCHEMAS, SqlModel, SqlModelError


class SqlContractError(SqlModelError):
    """A model's rows are not what its contract says."""


@dataclass(frozen=True)
class BuildResult:
    """What a build did: rows in the model now (None for a view), sweeps computed, seconds."""

    model: str
    rows: int | None
    sweeps: int
    seconds: float


@dataclass(frozen=True)
class _Sweep:
    sweep_id: str
    partition_date: date
    started_at_utc: datetime


def build_all(database: Database, models: Sequence[SqlModel]) -> list[BuildResult]:
    """Build ``models`` in the given order, which must be that of their dependencies."""
    return [build(database, model, models) for model in models]


def build(database: Database, model: SqlModel, models: Sequence[SqlModel]) -> BuildResult:
    """Bring one model up to date, in one transaction; doing so twice changes nothing.

    ``models`` are all models: the rows of an incremental model are valid only while its own
    query and those it reads from are the ones that made them.
    """
    started = time.perf_counter()
    sweeps = 0
    fingerprint = lineage_fingerprint(model, models)
    with database.transaction():
        _create_memory(database)
        for schema in SCHEMAS:
            database.execute(f"create schema if not exists {schema}")
        if model.materialized == "incremental":
            sweeps = _build_incremental(database, model, fingerprint)
        else:
            kind = model.materialized
            _forget_sweeps(database, model)
            _drop_unless(database, model, kind)
            database.execute(f"create or replace {kind} {model.qualified_name} as {model.sql}")
            _check_columns(database, model)
            if kind == "table":
                _check_rows(database, model, "true", {})
        _remember(database, model, fingerprint)
    rows = None
    if model.materialized != "view":
        rows = database.value(f"select count(*) from {model.qualified_name}")
    return BuildResult(model.qualified_name, rows, sweeps, time.perf_counter() - started)


def are_up_to_date(database: Database, models: Sequence[SqlModel]) -> bool:
    """Say whether every model was built, as it is now, from all sweeps that are in.

    Another run may load a sweep between two builds of this one; what is read at such a moment
    would show some tables with that sweep and some without.
    """
    _create_memory(database)
    sweeps = database.value("select count(*) from raw.sweeps")
    built = set(database.rows("select model, fingerprint, sweeps from meta.built_models"))
    return all(
        (model.qualified_name, lineage_fingerprint(model, models), sweeps) in built
        for model in models
    )


def _create_memory(database: Database) -> None:
    database.execute("create schema if not exists meta")
    database.execute(
        "create table if not exists meta.built_models "
        "(model varchar, fingerprint varchar, sweeps bigint)"
    )
    database.execute(
        "create table if not exists meta.built_sweeps (model varchar, fingerprint varchar, "
        "sweep_id varchar, partition_date date, started_at_utc timestamptz)"
    )


def _remember(database: Database, model: SqlModel, fingerprint: str) -> None:
    known = {"model": model.qualified_name}
    database.execute("delete from meta.built_models where model = $model", known)
    database.execute(
        "insert into meta.built_models select $model, $fingerprint, count(*) from raw.sweeps",
        {**known, "fingerprint": fingerprint},
    )


def _build_incremental(database: Database, model: SqlModel, fingerprint: str) -> int:
    _drop_unless(database, model, "table")
    is_known = database.value(
        "select count(*) > 0 from meta.built_sweeps "
        "where model = $model and fingerprint = $fingerprint",
        {"model": model.qualified_name, "fingerprint": fingerprint},
    )
    if not is_known:
        database.execute(f"drop table if exists {model.qualified_name}")
        _forget_sweeps(database, model)
    columns = ", ".join(f"{column.name} {column.type}" for column in model.columns)
    database.execute(f"create table if not exists {model.qualified_name} ({columns})")

    pending = _pending_sweeps(database, model)
    if not pending:
        return 0
    _forget_from(database, model, pending[0])
    for sweep in pending:
        parameters = {"sweep_id": sweep.sweep_id, "partition_date": sweep.partition_date}
        database.execute(f"insert into {model.qualified_name} by name {model.sql}", parameters)
    database.execute(
        "insert into meta.built_sweeps "
        "select $model, $fingerprint, sweep_id, partition_date, started_at_utc from raw.sweeps "
        "where (started_at_utc, sweep_id) >= ($started_at_utc, $sweep_id)",
        {
            "model": model.qualified_name,
            "fingerprint": fingerprint,
            "started_at_utc": pending[0].started_at_utc,
            "sweep_id": pending[0].sweep_id,
        },
    )
    _check_rows(
        database,
        model,
        f"{model.date_column} >= $first_date",
        {"first_date": min(sweep.partition_date for sweep in pending)},
    )
    return len(pending)


def _forget_sweeps(database: Database, model: SqlModel) -> None:
    database.execute(
        "delete from meta.built_sweeps where model = $model", {"model": model.qualified_name}
    )


def _pending_sweeps(database: Database, model: SqlModel) -> list[_Sweep]:
    """Return the sweeps from the first one on that the model has not seen, in order of time."""
    rows = database.rows(
        "with first_unseen as ("
        "  select min((started_at_utc, sweep_id)) as place from raw.sweeps where sweep_id not in "
        "  (select sweep_id from meta.built_sweeps where model = $model)"
        ") "
        "select sweep_id, partition_date, started_at_utc from raw.sweeps, first_unseen "
        "where (started_at_utc, sweep_id) >= place order by started_at_utc, sweep_id",
        {"model": model.qualified_name},
    )
    return [_Sweep(*row) for row in rows]


def _forget_from(database: Database, model: SqlModel, first: _Sweep) -> None:
    place = {
        "model": model.qualified_name,
        "started_at_utc": first.started_at_utc,
        "sweep_id": first.sweep_id,
    }
    seen_later = (
        "select sweep_id from meta.built_sweeps where model = $model "
        "and (started_at_utc, sweep_id) >= ($started_at_utc, $sweep_id)"
    )
    database.execute(
        f"delete from {model.qualified_name} "
        f"where {model.date_column} >= $first_date and sweep_id in ({seen_later})",
        {**place, "first_date": first.partition_date},
    )
    database.execute(
        f"delete from meta.built_sweeps where model = $model and sweep_id in ({seen_later})", place
    )


def lineage_fingerprint(model: SqlModel, models: Sequence[SqlModel]) -> str:
    """Return a digest of the model's query and of all queries that it is built upon."""
    by_name = {each.qualified_name: each for each in models}
    wanted = {model.qualified_name}
    waiting = [model]
    while waiting:
        upstream = waiting.pop().references & by_name.keys() - wanted
        wanted |= upstream
        waiting += [by_name[name] for name in upstream]
    digest = hashlib.sha256()
    for name in sorted(wanted):
        digest.update(by_name[name].fingerprint.encode())
    return digest.hexdigest()


def _drop_unless(database: Database, model: SqlModel, kind: str) -> None:
    """Make way for a model whose materialization has changed between table and view."""
    found = database.value(
        "select lower(table_type) from information_schema.tables "
        "where table_schema = $schema and table_name = $name",
        {"schema": model.schema, "name": model.name},
    )
    other = {"view": "table", "table": "view"}[kind]
    if found is not None and other in found:
        database.execute(f"drop {other} {model.qualified_name}")


def _check_columns(database: Database, model: SqlModel) -> None:
    found = [
        (row[0], row[1]) for row in database.rows(f"describe select * from {model.qualified_name}")
    ]
    wanted = [(column.name, column.type) for column in model.columns]
    if found != wanted:
        odd = sorted(f"{name} {type_}" for name, type_ in set(found) ^ set(wanted))
        raise SqlContractError(
            f"{model.path}: the query and its contract differ in "
            f"{odd[0] if odd else 'the order of the columns'}; "
            f"mend the query or {model.path.with_suffix('.yml').name}"
        )


def _check_rows(
    database: Database, model: SqlModel, where: str, parameters: dict[str, object]
) -> None:
    wanted = [column.name for column in model.columns if column.is_not_null]
    holes = " or ".join(f"{name} is null" for name in wanted) or "false"
    key = ", ".join(model.key)
    problems = database.rows(
        f"select count(*) filter (where {holes}), count(*) - count(distinct ({key})) "
        f"from {model.qualified_name} where {where}",
        parameters,
    )[0]
    if problems[0]:
        raise SqlContractError(
            f"{model.path}: {problems[0]} rows have a null in one of {', '.join(wanted)}"
        )
    if problems[1]:
        raise SqlContractError(f"{model.path}: {problems[1]} rows repeat the key ({key})")
