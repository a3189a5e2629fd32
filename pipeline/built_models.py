"""What the warehouse remembers of the SQL models that were built, in its schema ``meta``."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime

from pipeline.duck import Database
from pipeline.sql_models import CARD_NAMES, RAW_NAMES_BY_STEP, STEP_IDS, SqlModel


@dataclass(frozen=True)
class State:
    """What a model was built from: a digest of the queries, and how many sweeps and probe runs.

    ``cards`` is a digest of the tables of model cards, which change otherwise than by one more.
    These are None where the model reads nothing of them.
    """

    fingerprint: str
    sweeps: int | None
    probe_runs: int | None
    cards: str | None = None


@dataclass(frozen=True)
class Step:
    """A sweep or a probe run."""

    step_id: str
    partition_date: date
    started_at_utc: datetime


def create_memory(database: Database) -> None:
    """Create the tables below where they are missing."""
    database.execute("create schema if not exists meta")
    database.execute(
        "create table if not exists meta.built_models "
        "(model varchar, fingerprint varchar, sweeps bigint, probe_runs bigint)"
    )
    # A warehouse from before there were probes, or cards, has the table without them.
    for column in ("probe_runs bigint", "cards varchar"):
        database.execute(f"alter table meta.built_models add column if not exists {column}")
    for over, step_id in STEP_IDS.items():
        database.execute(
            f"create table if not exists meta.built_{over} (model varchar, fingerprint varchar, "
            f"{step_id} varchar, partition_date date, started_at_utc timestamptz)"
        )


def built_states(database: Database) -> dict[str, State]:
    """Return the state of every model when it was last built, by its name."""
    rows = database.rows(
        "select model, fingerprint, sweeps, probe_runs, cards from meta.built_models"
    )
    return {model: State(*state) for model, *state in rows}


def state_now(database: Database, model: SqlModel, models: Sequence[SqlModel]) -> State:
    """Return the state that a build would make; what came in does not matter to a view."""
    lineage = _lineage(model, _by_name(models))
    counts = {
        over: None
        if model.materialized == "view" or lineage.isdisjoint(raw_names)
        else database.value(f"select count(*) from raw.{over}")
        for over, raw_names in RAW_NAMES_BY_STEP.items()
    }
    cards = None if model.materialized == "view" else _digest(database, lineage & CARD_NAMES)
    return State(lineage_fingerprint(model, models), **counts, cards=cards)


def remember_state(database: Database, model: SqlModel, state: State) -> None:
    """Note that ``model`` was built."""
    known = {"model": model.qualified_name}
    database.execute("delete from meta.built_models where model = $model", known)
    database.execute(
        "insert into meta.built_models by name select $model as model, "
        "$fingerprint as fingerprint, $sweeps::bigint as sweeps, "
        "$probe_runs::bigint as probe_runs, $cards as cards",
        {**known, **asdict(state)},
    )


def has_steps(database: Database, model: SqlModel, fingerprint: str) -> bool:
    """Say whether any step went into ``model`` under this fingerprint."""
    found: bool = database.value(
        f"select count(*) > 0 from meta.built_{model.over} "
        "where model = $model and fingerprint = $fingerprint",
        {"model": model.qualified_name, "fingerprint": fingerprint},
    )
    return found


def pending_steps(database: Database, model: SqlModel) -> list[Step]:
    """Return the steps from the first one on that the model has not seen, in order of time."""
    over, step_id = model.over, model.step_id
    rows = database.rows(
        "with first_unseen as ("
        f"  select min((started_at_utc, {step_id})) as place from raw.{over} where {step_id} not in"
        f"  (select {step_id} from meta.built_{over} where model = $model)"
        ") "
        f"select {step_id}, partition_date, started_at_utc from raw.{over}, first_unseen "
        f"where (started_at_utc, {step_id}) >= place order by started_at_utc, {step_id}",
        {"model": model.qualified_name},
    )
    return [Step(*row) for row in rows]


def remember_steps(database: Database, model: SqlModel, fingerprint: str, first: Step) -> None:
    """Note that all steps from ``first`` on went into ``model``."""
    over, step_id = model.over, model.step_id
    database.execute(
        f"insert into meta.built_{over} "
        f"select $model, $fingerprint, {step_id}, partition_date, started_at_utc from raw.{over} "
        f"where (started_at_utc, {step_id}) >= ($started_at_utc, $first_id)",
        {"fingerprint": fingerprint, **_place(model, first)},
    )


def forget_steps(database: Database, model: SqlModel) -> None:
    """Forget all steps that went into ``model``."""
    for over in STEP_IDS:
        database.execute(
            f"delete from meta.built_{over} where model = $model", {"model": model.qualified_name}
        )


def forget_steps_from(database: Database, model: SqlModel, first: Step) -> None:
    """Take out the rows that came of ``first`` and later steps, and forget these."""
    over, step_id = model.over, model.step_id
    place = _place(model, first)
    seen_later = (
        f"select {step_id} from meta.built_{over} where model = $model "
        f"and (started_at_utc, {step_id}) >= ($started_at_utc, $first_id)"
    )
    database.execute(
        f"delete from {model.qualified_name} "
        f"where {model.date_column} >= $first_date and {step_id} in ({seen_later})",
        {**place, "first_date": first.partition_date},
    )
    database.execute(
        f"delete from meta.built_{over} where model = $model and {step_id} in ({seen_later})", place
    )


def lineage_fingerprint(model: SqlModel, models: Sequence[SqlModel]) -> str:
    """Return a digest of the model's query and of all queries that it is built upon."""
    by_name = _by_name(models)
    digest = hashlib.sha256()
    for name in sorted(_lineage(model, by_name) & by_name.keys()):
        digest.update(by_name[name].fingerprint.encode())
    return digest.hexdigest()


def _lineage(model: SqlModel, by_name: Mapping[str, SqlModel]) -> set[str]:
    """Return the names of ``model`` and of all models and raw tables that it is built upon."""
    found = {model.qualified_name}
    waiting = [model]
    while waiting:
        upstream = waiting.pop().references - found
        found |= upstream
        waiting += [by_name[name] for name in upstream & by_name.keys()]
    return found


def _digest(database: Database, tables: set[str]) -> str | None:
    """Return a digest of the content of small tables, None when there are none."""
    contents = [
        database.rows(
            f"select count(*), coalesce(sum(hash(row_of)::hugeint), 0) from {table} as row_of"
        )[0]
        for table in sorted(tables)
    ]
    return hashlib.sha256(repr(contents).encode()).hexdigest() if contents else None


def _by_name(models: Sequence[SqlModel]) -> dict[str, SqlModel]:
    return {each.qualified_name: each for each in models}


def _place(model: SqlModel, first: Step) -> dict[str, object]:
    return {
        "model": model.qualified_name,
        "started_at_utc": first.started_at_utc,
        "first_id": first.step_id,
    }
