"""The warehouse: one DuckDB file that only the pipeline opens, one writer at a time."""

from __future__ import annotations

import fcntl
import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline import duck, locks
from pipeline.duck import Database
from pipeline.settings import Settings

if TYPE_CHECKING:
    import polars as pl

    from pipeline.facts.card_pulls import CardFrames
    from pipeline.market import MarketBatch
    from pipeline.probe_frames import ProbeRunFrames

# Version 2 came with the tables of the probes, version 3 with those of cards, scores and offers.
SCHEMA_VERSION = 3
RAW_TABLES = ("sweeps", "model_coverage", "models", "endpoints", "providers", "quarantine", "flags")
PROBE_TABLES = ("probe_runs", "probe_batches", "probe_requests", "probe_self_checks")
# Filled anew at each publication from files that are kept by hand; only views may read them, so
# that what is built need not be built again.
FILE_TABLES = ("score_rows", "score_names", "score_sources", "offers")
CARD_TABLES = ("card_pulls", "model_cards", "hand_kept_facts")


class WarehouseError(Exception):
    """The warehouse cannot be used as asked; the message says why and what helps."""


class WarehouseBusyError(WarehouseError):
    """Another run holds the warehouse for longer than the timeout."""


class Warehouse:
    """An open warehouse, held for writing by this process alone."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def loaded_sweep_ids(self) -> set[str]:
        """Return the ids of all sweeps that are in."""
        return {row[0] for row in self.database.rows("select sweep_id from raw.sweeps")}

    def load(self, batch: MarketBatch) -> bool:
        """Make a sweep visible, whole; False when it is in already, see ``_load``."""
        tables = {name: getattr(batch, name) for name in RAW_TABLES if name != "sweeps"}
        return self._load("sweep", "sweep_id", {"sweeps": batch.sweep, **tables})

    def loaded_run_ids(self) -> set[str]:
        """Return the ids of all probe runs that are in."""
        return {row[0] for row in self.database.rows("select run_id from raw.probe_runs")}

    def load_probe_run(self, frames: ProbeRunFrames) -> bool:
        """Make a probe run visible, whole; False when it is in already, see ``_load``."""
        return self._load("probe run", "run_id", frames.tables())

    def loaded_pull_ids(self) -> set[str]:
        """Return the ids of all pulls of model cards that are in."""
        return {row[0] for row in self.database.rows("select pull_id from raw.card_pulls")}

    def load_cards(self, frames: CardFrames) -> bool:
        """Make a pull of model cards visible, whole; False when it is in already, see ``_load``."""
        tables = {"card_pulls": frames.pull, "model_cards": frames.cards}
        return self._load("pull of model cards", "pull_id", tables)

    def keep_facts(self, facts: pl.DataFrame) -> None:
        """Put the facts kept by hand in the place of those that are in."""
        with self.database.transaction():
            self.database.execute("delete from raw.hand_kept_facts")
            self.database.insert("raw.hand_kept_facts", facts)

    def checksum(self) -> str:
        """Return a digest of all content, the same for the same rows in any order.

        Compare two checksums made by the same DuckDB version only: row hashes are its own.
        """
        tables = self.database.rows(
            "select table_schema, table_name from information_schema.tables "
            "where table_type = 'BASE TABLE' and table_schema in ('raw', 'intermediate', 'marts') "
            "order by all"
        )
        digest = hashlib.sha256()
        for schema, name in tables:
            counted = self.database.rows(
                f"select count(*), coalesce(sum(hash(row_of)::hugeint), 0) "
                f"from {schema}.{name} as row_of"
            )
            digest.update(f"{schema}.{name}:{counted[0]}\n".encode())
        return digest.hexdigest()

    def _load(self, what: str, id_name: str, tables: Mapping[str, pl.DataFrame]) -> bool:
        """Make a landed folder visible, whole, in one transaction; False when it is in already.

        The first of ``tables`` has one row, that of the folder. Raises ``WarehouseError`` when the
        warehouse holds another market than the folder's.
        """
        first, frame = next(iter(tables.items()))
        row = frame.row(0, named=True)
        known = {"id": row[id_name]}
        if self.database.rows(f"select 1 from raw.{first} where {id_name} = $id", known):
            return False
        self._refuse_other_market(f"{what} {row[id_name]}", row["market"])
        with self.database.transaction():
            for table, rows in tables.items():
                if rows.height:
                    self.database.insert(f"raw.{table}", rows)
        return True

    def _refuse_other_market(self, what: str, market: str) -> None:
        held = self.database.value(
            "select market from raw.sweeps union all select market from raw.probe_runs "
            "union all select market from raw.card_pulls limit 1"
        )
        if held not in (None, market):
            raise WarehouseError(
                f"{what} is of the {market} market, but this warehouse holds the {held} market; "
                "give each market its own TOKENTAPE_DATA_DIR"
            )


@contextmanager
def open_warehouse(settings: Settings) -> Iterator[Warehouse]:
    """Hold the writer's lock, open the warehouse, create what is missing, close at the end.

    Raises ``WarehouseBusyError`` when the lock is not free within the timeout, and
    ``WarehouseError`` when the file is damaged or written by a newer tokentape.
    """
    path = settings.warehouse_path
    path.parent.mkdir(parents=True, exist_ok=True)
    with _writer_lock(path.with_name(path.name + ".lock"), settings.warehouse_lock_timeout_s):
        try:
            database = Database.open_file(
                path,
                memory_limit=settings.duckdb_memory_limit,
                threads=settings.duckdb_threads,
            )
        except duck.Error as error:
            raise WarehouseError(
                f"cannot open {path}: {str(error).splitlines()[0]}; move the file away and run "
                "`tokentape backfill` to rebuild it from landing"
            ) from error
        try:
            _prepare(database, path)
            yield Warehouse(database)
        finally:
            database.close()


def lock_holder(path: Path) -> str | None:
    """Return who holds the warehouse at ``path`` just now, or None when it is free."""
    lock_path = path.with_name(path.name + ".lock")
    if not lock_path.exists():
        return None
    with lock_path.open("r") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return locks.holder_of(lock)
    return None


@contextmanager
def _writer_lock(path: Path, timeout_s: float) -> Iterator[None]:
    with path.open("a+") as lock:

        def what_is_on() -> str:
            return f"the warehouse is held by {locks.holder_of(lock)}"

        try:
            locks.take(lock, fcntl.LOCK_EX, timeout_s, what_is_on)
        except BlockingIOError:
            raise WarehouseBusyError(
                f"{what_is_on()}; waited {timeout_s:g} s "
                "(TOKENTAPE_WAREHOUSE_LOCK_TIMEOUT_S); try again when that run has ended"
            ) from None
        locks.write_holder(lock)
        yield


def _prepare(database: Database, path: Path) -> None:
    with database.transaction():
        database.execute("create schema if not exists meta")
        database.execute("create table if not exists meta.schema_version (version integer)")
        version = database.value("select version from meta.schema_version")
        if version is not None and version > SCHEMA_VERSION:
            raise WarehouseError(
                f"{path} has layout {version}, this tokentape knows up to {SCHEMA_VERSION}; "
                "upgrade tokentape, or move the file away and rebuild with `tokentape backfill`"
            )
        if version != SCHEMA_VERSION:
            # Every version so far has only added tables, so this is the way forward as well.
            database.execute(Path(__file__).with_name("raw_schema.sql").read_text())
            database.execute("delete from meta.schema_version")
            database.execute(f"insert into meta.schema_version values ({SCHEMA_VERSION})")
