"""The only reader of what is published: the app's pages and HTTP routes open it here."""

from __future__ import annotations

import threading
from collections import OrderedDict
from pathlib import Path

from app.snapshot_tables import Snapshot
from pipeline import duck
from pipeline.duck import Database
from pipeline.publishing.files import CATALOG, DATABASE_NAME
from pipeline.publishing.manifest import FORMAT, ManifestError, read_manifest
from pipeline.publishing.swap import CURRENT

__all__ = ["Snapshot", "SnapshotError", "open_snapshot"]

MEMORY_LIMIT = "512MB"
SNAPSHOTS_OPEN = 2
TRIES = 5


class SnapshotError(Exception):
    """A snapshot is up but cannot be read; one line: where, why, and what helps."""


# A newer snapshot has another key; the one before stays for those in the middle of reading it.
_Key = tuple[str, int, int, int]
_open_snapshots: OrderedDict[_Key, Snapshot] = OrderedDict()
_opening = threading.Lock()


def open_snapshot(published_dir: Path) -> Snapshot | None:
    """Return the current snapshot, or None when nothing was published yet.

    Cheap when it is open already: ``current`` is followed once and its file looked at. Raises
    ``SnapshotError`` when what is up is damaged.
    """
    link = published_dir / CURRENT
    for _ in range(TRIES):
        try:
            folder = link.resolve(strict=True)
            return _open(folder)
        except FileNotFoundError:
            # Retired between the look at `current` and the opening: look again.
            if not link.is_symlink():
                return None
        except (ManifestError, duck.Error, OSError) as error:
            reason = str(error).splitlines()[0]
            raise SnapshotError(
                f"the snapshot at {link} cannot be read: {reason}; run `tokentape publish`"
            ) from error
    raise SnapshotError(
        f"{link} points at a snapshot that is gone or not whole; run `tokentape publish`"
    )


def _open(folder: Path) -> Snapshot:
    database_path = folder / DATABASE_NAME
    stat = database_path.stat()
    key = (str(folder), stat.st_mtime_ns, stat.st_ino, stat.st_size)
    with _opening:
        snapshot = _open_snapshots.get(key)
        if snapshot is None:
            snapshot = _read(folder, database_path)
            _open_snapshots[key] = snapshot
            while len(_open_snapshots) > SNAPSHOTS_OPEN:
                # Not closed: whoever still reads it keeps it, and the last one lets go of it.
                _open_snapshots.popitem(last=False)
        else:
            _open_snapshots.move_to_end(key)
        return snapshot


def _read(folder: Path, database_path: Path) -> Snapshot:
    manifest = read_manifest(folder)
    if manifest.format < FORMAT:
        raise ManifestError(f"it is of an earlier tokentape (format {manifest.format} of {FORMAT})")
    # Attached to a database in memory: DuckDB keeps an opened path per process and would answer
    # from the file that stood there before.
    database = Database.in_memory(memory_limit=MEMORY_LIMIT)
    try:
        database.attach(database_path, CATALOG, read_only=True)
        # From here on no query can reach another file, the network or these two settings.
        database.execute("set enable_external_access = false")
        database.execute("set lock_configuration = true")
        return Snapshot(folder, manifest, database)
    except BaseException:
        database.close()
        raise
