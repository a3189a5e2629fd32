"""Publish the marts as a snapshot: immutable files that need no lock and no tokentape to read."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline import duck
from pipeline.duck import Database
from pipeline.publishing.code_version import code_version
from pipeline.publishing.files import (
    DATABASE_NAME,
    database_file,
    describe_file,
    write_csv,
    write_parquet,
    write_schema,
)
from pipeline.publishing.history import MONTHLY_MART, RECENT_DAYS, months
from pipeline.publishing.manifest import (
    MANIFEST_NAME,
    NOTICES,
    Manifest,
    PublishedFile,
    snapshot_id_of,
)
from pipeline.publishing.marts import MartsError, find_marts
from pipeline.publishing.model_json import INDEX_NAME, write_model_files, write_model_index
from pipeline.publishing.previous import Previous, previous_snapshot
from pipeline.publishing.source import Source, read_source
from pipeline.publishing.swap import make_durable, put_up, retire, unfinished_folder

if TYPE_CHECKING:
    from pipeline.sql_models import SqlModel


class PublishError(Exception):
    """Nothing was published and the snapshot before is still up; one line: why, and what helps."""


@dataclass(frozen=True)
class Snapshot:
    """A published snapshot; files_written is 0 when its content was up already."""

    snapshot_id: str
    path: Path
    files_written: int
    files_linked: int
    seconds: float


def publish(
    database: Database,
    published_dir: Path,
    *,
    market: str,
    now: datetime,
    keep: int,
    models: Sequence[SqlModel] = (),
) -> Snapshot:
    """Publish every mart of ``database`` below ``published_dir`` and make it current.

    Call it only while holding the warehouse lock: two publishers at once would clear away each
    other's unfinished folder. ``keep`` (at least 1) snapshots stay on disk. ``models`` are the SQL
    models, for the words in ``schema/``. Raises ``PublishError``.
    """
    started = time.perf_counter()
    try:
        source = read_source(database, market, models)
        with unfinished_folder(published_dir) as folder:
            previous = previous_snapshot(published_dir)
            files, linked = _write_parquet_files(database, source, folder, previous)
            snapshot = published_dir / snapshot_id_of(
                as_of_utc=source.as_of_utc,
                market=market,
                code_version=code_version(),
                sweeps=source.sweeps,
                parquet_files=files.items(),
            )
            if previous.folder is not None and previous.folder == snapshot.resolve():
                written_count, linked_count = 0, len(previous.files)
            else:
                _write_derived_files(source, folder, files)
                written = files.keys() - linked
                linked_again = previous.link_unchanged(folder, files, sorted(written))
                written_count = len(written) - linked_again
                linked_count = len(linked) + linked_again
                _write_manifest(source, folder, snapshot.name, now, files)
                make_durable(folder)
                put_up(folder, snapshot)
        retire(published_dir, keep=keep)
    except (MartsError, OSError, duck.Error) as error:
        reason = str(error).splitlines()[0]
        raise PublishError(
            f"cannot publish to {published_dir}: {reason}; the snapshot before is still up, "
            "run `tokentape publish` again when this is mended"
        ) from error
    return Snapshot(
        snapshot_id=snapshot.name,
        path=snapshot,
        files_written=written_count,
        files_linked=linked_count,
        seconds=time.perf_counter() - started,
    )


def _write_parquet_files(
    database: Database, source: Source, folder: Path, previous: Previous
) -> tuple[dict[str, PublishedFile], set[str]]:
    """Write or link all Parquet files; return them by path, and the paths that were linked."""
    files: dict[str, PublishedFile] = {}
    for name, mart in source.marts.items():
        where = "true"
        if name == MONTHLY_MART:
            before = source.as_of_utc.date() - timedelta(days=RECENT_DAYS)
            where = f"partition_date > date '{before}'"
        files[f"{name}.parquet"] = write_parquet(database, mart, folder / f"{name}.parquet", where)

    linked = set()
    history = source.marts[MONTHLY_MART]
    for month in months(database, source.marts["sweep_log"], history, code_version()):
        entry = previous.link_month(month, folder)
        if entry is not None:
            linked.add(month.path)
        else:
            entry = write_parquet(database, history, folder / month.path, month.where).model_copy(
                update={"source_fingerprint": month.source_fingerprint}
            )
        files[month.path] = entry
    return files, linked


def _write_derived_files(source: Source, folder: Path, files: dict[str, PublishedFile]) -> None:
    """Write everything that is made from the Parquet files, and add it to ``files``."""
    parquet_files = {name: folder / f"{name}.parquet" for name in source.marts}
    with database_file(folder / DATABASE_NAME, parquet_files) as tables:
        marts = find_marts(tables, schema="main")
        for name, mart in marts.items():
            write_csv(tables, mart, folder / f"{name}.csv.gz")
        write_model_files(tables, marts, folder, market=source.market)
        write_model_index(tables, marts["market_table"], folder / INDEX_NAME, market=source.market)
    for name, mart in source.marts.items():
        write_schema(mart, source.models.get(name), folder / "schema" / f"{name}.json")

    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = path.relative_to(folder).as_posix()
        if name not in files:
            table = files.get(name.removesuffix(".csv.gz") + ".parquet")
            files[name] = describe_file(path, table.rows if table else None)


def _write_manifest(
    source: Source,
    folder: Path,
    snapshot_id: str,
    now: datetime,
    files: dict[str, PublishedFile],
) -> None:
    manifest = Manifest(
        snapshot_id=snapshot_id,
        generated_at_utc=now,
        as_of_utc=source.as_of_utc,
        market=source.market,
        code_version=code_version(),
        sweeps=source.sweeps,
        notice=NOTICES[source.market],
        files=dict(sorted(files.items())),
    )
    (folder / MANIFEST_NAME).write_bytes(manifest.to_json())
