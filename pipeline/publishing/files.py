"""Write the files of a snapshot: Parquet from the marts, everything else from the Parquet."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.duck import Database, quoted
from pipeline.publishing.manifest import PublishedFile
from pipeline.publishing.marts import Mart
from pipeline.publishing.text_forms import csv_cell

if TYPE_CHECKING:
    from pipeline.sql_models import SqlModel

DATABASE_NAME = "tokentape.duckdb"
CATALOG = "snapshot"
GZIP_LEVEL = 5
COPY_BYTES = 1 << 20


def write_parquet(database: Database, mart: Mart, path: Path, where: str = "true") -> PublishedFile:
    """Write the rows of ``mart`` for which ``where`` holds; same rows, same bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = database.value(
        f"copy ({mart.select(where)}) to '{quoted(str(path))}' (format parquet, compression zstd)"
    )
    return describe_file(path, rows)


@contextmanager
def database_file(path: Path, parquet_files: Mapping[str, Path]) -> Iterator[Database]:
    """Make ``tokentape.duckdb`` at ``path``, one table a Parquet file, in schema ``main``.

    Yields a database of its own in which the tables can be read as ``snapshot.main.<mart>``. It is
    not the warehouse's: a disk that fills up while this file grows must not harm the warehouse.
    The file is whole when the block has ended.
    """
    database = Database.in_memory()
    try:
        database.attach(path, CATALOG, read_only=False)
        with database.transaction():
            for mart, parquet in parquet_files.items():
                path_itself = re.sub(r"([*?\[])", r"[\1]", quoted(str(parquet)))  # no pattern
                database.execute(
                    f"create table {CATALOG}.main.{mart} as "
                    f"select * from read_parquet('{path_itself}')"
                )
        yield database
        database.execute(f"detach {CATALOG}")
    finally:
        database.close()


def write_csv(database: Database, mart: Mart, path: Path) -> None:
    """Write ``mart`` as gzipped CSV: UTF-8, a header, null is empty; same rows, same bytes."""
    plain = path.with_suffix("")
    # Text cells only, so that what is written is what csv_cell says.
    cells = ", ".join(f"{csv_cell(column)} as {column.quoted}" for column in mart.columns)
    database.execute(
        f"copy (select {cells} from {mart.relation}) to '{quoted(str(plain))}' (format csv, header)"
    )
    # Python's gzip takes a third of the time that DuckDB's does for the same size.
    with (
        plain.open("rb") as source,
        path.open("wb") as target,
        gzip.GzipFile("", "wb", compresslevel=GZIP_LEVEL, fileobj=target, mtime=0) as packed,
    ):
        shutil.copyfileobj(source, packed, COPY_BYTES)
    plain.unlink()


def write_schema(mart: Mart, model: SqlModel | None, path: Path) -> None:
    """Write the columns of ``mart``, and what its SQL model says of it and them."""
    contracts = {column.name: column for column in model.columns} if model else {}
    schema: dict[str, Any] = {"mart": mart.name}
    if model:
        schema |= {"title": model.title, "grain": model.grain, "key": model.key}
    schema["columns"] = []
    for column in mart.columns:
        entry = {"name": column.name, "type": column.type, "nullable": column.is_nullable}
        contract = contracts.get(column.name)
        if contract is not None:
            # A table made by a query admits nulls everywhere; the contract is what is checked.
            entry["nullable"] = not contract.is_not_null
            entry["description"] = contract.description
        schema["columns"].append(entry)
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(schema, indent=1, ensure_ascii=False) + "\n")


def describe_file(path: Path, rows: int | None = None) -> PublishedFile:
    """Return size and sha256 of a file, read in pieces."""
    with path.open("rb") as handle:
        digest = hashlib.file_digest(handle, "sha256").hexdigest()
    return PublishedFile(bytes=path.stat().st_size, sha256=digest, rows=rows)
