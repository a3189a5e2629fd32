"""The one place that touches DuckDB's Python API, with calls that DuckDB 1.5 and 2 both have."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

Parameters = Mapping[str, Any]
Error = duckdb.Error

# Files in this version open in DuckDB 1.5 as well as in 2.x, so most people's DuckDB reads them.
STORAGE_VERSION = "v1.5.0"


class Database:
    """A DuckDB connection; every call runs on a cursor of its own.

    A DuckDB connection refuses a second call while the first is busy. Cursors share the
    database but not the call, so several threads may read one ``Database``. A transaction
    belongs to the thread that opened it.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self._in_transaction = threading.local()

    @classmethod
    def in_memory(cls, *, memory_limit: str = "1GB", threads: int = 2) -> Database:
        """Open an empty database in memory; extensions are never fetched from the network."""
        return cls._connect(":memory:", {"memory_limit": memory_limit, "threads": str(threads)})

    @classmethod
    def open_file(cls, path: Path, *, memory_limit: str, threads: int) -> Database:
        """Open, or create, the database file at ``path`` for writing."""
        options = {
            "memory_limit": memory_limit,
            "threads": str(threads),
            "storage_compatibility_version": STORAGE_VERSION,
        }
        return cls._connect(str(path), options)

    @classmethod
    def _connect(cls, path: str, options: dict[str, str]) -> Database:
        connection = duckdb.connect(
            path, config={"autoinstall_known_extensions": "false", **options}
        )
        # Not in the config, where DuckDB 1.5 does not know it yet.
        connection.execute("set global TimeZone = 'UTC'")
        return cls(connection)

    def attach(self, path: Path, alias: str, *, read_only: bool) -> None:
        """Attach the database file at ``path`` as ``alias``, creating it when writable."""
        options = "read_only" if read_only else f"storage_version '{STORAGE_VERSION}'"
        self._connection.execute(f"attach '{quoted(str(path))}' as {alias} ({options})")

    def execute(self, sql: str, parameters: Parameters | None = None) -> None:
        """Run a statement for its effect."""
        with self._cursor() as cursor:
            cursor.execute(sql, dict(parameters or {}))

    def rows(self, sql: str, parameters: Parameters | None = None) -> list[tuple[Any, ...]]:
        """Return all rows of a query as tuples; DECIMAL comes as ``decimal.Decimal``."""
        with self._cursor() as cursor:
            return cursor.execute(sql, dict(parameters or {})).fetchall()

    def value(self, sql: str, parameters: Parameters | None = None) -> Any:
        """Return the first column of the first row, or None when there is no row."""
        found = self.rows(sql, parameters)
        return found[0][0] if found else None

    def records(self, sql: str, parameters: Parameters | None = None) -> list[dict[str, Any]]:
        """Return all rows of a query as dictionaries keyed by column name."""
        with self._cursor() as cursor:
            result = cursor.execute(sql, dict(parameters or {}))
            names = [column[0] for column in result.description or []]
            return [dict(zip(names, row, strict=True)) for row in result.fetchall()]

    def frame(self, sql: str, parameters: Parameters | None = None) -> pl.DataFrame:
        """Return a query's answer as a polars frame."""
        with self._cursor() as cursor:
            frame: pl.DataFrame = cursor.sql(sql, params=dict(parameters or {})).pl()
            return frame

    def insert(self, table: str, frame: pl.DataFrame) -> None:
        """Append ``frame`` to ``table``, matching columns by name."""
        with self._cursor() as cursor:
            cursor.register("incoming_rows", frame)
            cursor.execute(f"insert into {table} by name select * from incoming_rows")
            # Not in a finally: after a failure the cursor ends, and unregistering would fail
            # too in the aborted transaction and hide the reason.
            cursor.unregister("incoming_rows")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit everything done inside, or nothing."""
        cursor = self._connection.cursor()
        cursor.execute("begin transaction")
        self._in_transaction.cursor = cursor
        try:
            yield
            cursor.execute("commit")
        except BaseException:
            # A failed commit has already rolled back; a second rollback would hide its reason.
            with _ignoring_no_transaction():
                cursor.execute("rollback")
            raise
        finally:
            self._in_transaction.cursor = None
            cursor.close()

    def close(self) -> None:
        """Close the database; attached files are checkpointed by DuckDB."""
        self._connection.close()

    @contextmanager
    def _cursor(self) -> Iterator[duckdb.DuckDBPyConnection]:
        shared = getattr(self._in_transaction, "cursor", None)
        if shared is not None:
            yield shared
            return
        cursor = self._connection.cursor()
        try:
            yield cursor
        finally:
            cursor.close()


@contextmanager
def _ignoring_no_transaction() -> Iterator[None]:
    try:
        yield
    except duckdb.TransactionException:
        return


def quoted(text: str) -> str:
    """Escape ``text`` for use inside single quotes in SQL, where no parameter is allowed."""
    return text.replace("'", "''")
