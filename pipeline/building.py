"""Bring the SQL models up to date in the warehouse.

A view or table is made anew when its query, or one that it is built upon, is another one, a table
also when something came in that it is made from. An incremental model is computed step by step, a
step being a sweep or a probe run, in the order of time, from the steps it has not seen: the cost of
a build grows with what is new. Its query is given ``$sweep_id`` (or ``$run_id``) and
``$partition_date`` and may read its own rows, which are then those of earlier steps only. When an
older sweep or run comes in later (a backfill), the rows of all from there on are computed again;
when the query itself has changed, all are.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline import built_models as memory
from pipeline.duck import Database
from pipeline.sql_models import SCHEMAS, SqlModel, SqlModelError


class SqlContractError(SqlModelError):
    """A model's rows are not what its contract says."""


@dataclass(frozen=True)
class BuildResult:
    """What a build did: rows in the model now (None for a view), steps computed, seconds."""

    model: str
    rows: int | None
    steps: int
    seconds: float


def build_all(database: Database, models: Sequence[SqlModel]) -> list[BuildResult]:
    """Build ``models`` in the given order, which must be that of their dependencies."""
    return [build(database, model, models) for model in models]


def build(database: Database, model: SqlModel, models: Sequence[SqlModel]) -> BuildResult:
    """Bring one model up to date, in one transaction; doing so twice changes nothing.

    ``models`` are all models: the rows of an incremental model are valid only while its own
    query and those it reads from are the ones that made them.
    """
    started = time.perf_counter()
    steps = 0
    with database.transaction():
        memory.create_memory(database)
        state = memory.state_now(database, model, models)
        if memory.built_states(database).get(model.qualified_name) != state:
            for schema in SCHEMAS:
                database.execute(f"create schema if not exists {schema}")
            if model.materialized == "incremental":
                steps = _build_incremental(database, model, state.fingerprint)
            else:
                _build_anew(database, model)
            memory.remember_state(database, model, state)
    rows = None
    if model.materialized != "view":
        rows = database.value(f"select count(*) from {model.qualified_name}")
    return BuildResult(model.qualified_name, rows, steps, time.perf_counter() - started)


def are_up_to_date(database: Database, models: Sequence[SqlModel]) -> bool:
    """Say whether every model was built, as it is now, from all sweeps and probe runs that are in.

    Another run may load a sweep between two builds of this one; what is read at such a moment
    would show some tables with that sweep and some without.
    """
    memory.create_memory(database)
    built = memory.built_states(database)
    return all(
        built.get(model.qualified_name) == memory.state_now(database, model, models)
        for model in models
    )


def _build_anew(database: Database, model: SqlModel) -> None:
    kind = model.materialized
    memory.forget_steps(database, model)
    _drop_unless(database, model, kind)
    database.execute(f"create or replace {kind} {model.qualified_name} as {model.sql}")
    _check_columns(database, model)
    if kind == "table":
        _check_rows(database, model, "true", {})


def _build_incremental(database: Database, model: SqlModel, fingerprint: str) -> int:
    _drop_unless(database, model, "table")
    if not memory.has_steps(database, model, fingerprint):
        database.execute(f"drop table if exists {model.qualified_name}")
        memory.forget_steps(database, model)
    columns = ", ".join(f"{column.name} {column.type}" for column in model.columns)
    database.execute(f"create table if not exists {model.qualified_name} ({columns})")

    pending = memory.pending_steps(database, model)
    if not pending:
        return 0
    memory.forget_steps_from(database, model, pending[0])
    for step in pending:
        parameters = {model.step_id: step.step_id, "partition_date": step.partition_date}
        database.execute(f"insert into {model.qualified_name} by name {model.sql}", parameters)
    memory.remember_steps(database, model, fingerprint, pending[0])
    _check_rows(
        database,
        model,
        f"{model.date_column} >= $first_date",
        {"first_date": min(step.partition_date for step in pending)},
    )
    return len(pending)


def _drop_unless(database: Database, model: SqlModel, kind: str) -> None:
    """Make way for a model whose materialization has changed between table and view."""
    other = {"view": "table", "table": "view"}[kind]
    is_other = database.value(
        f"select count(*) > 0 from duckdb_{other}s() "
        f"where schema_name = $schema and {other}_name = $name",
        {"schema": model.schema, "name": model.name},
    )
    if is_other:
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
