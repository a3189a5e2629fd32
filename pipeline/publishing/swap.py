"""Put a finished folder up as the current snapshot, in one step that a reader cannot see half of.

Folders are built under a name that begins with ``.publishing-``. Whoever publishes holds the
warehouse lock, so any such folder that is already there was left by a process that died.
"""

from __future__ import annotations

import logging
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from pipeline.publishing.manifest import ManifestError, read_manifest

CURRENT = "current"
UNFINISHED = ".publishing-"
SNAPSHOT_NAME = re.compile(r"\d{8}T\d{6}Z-[0-9a-f]{16}")
SYNCS_IN_FLIGHT = 8

logger = logging.getLogger(__name__)


@contextmanager
def unfinished_folder(published_dir: Path) -> Iterator[Path]:
    """Yield a new folder to build in, after clearing what dead publishers left.

    It is gone at the end, unless it was put up.
    """
    published_dir.mkdir(parents=True, exist_ok=True)
    for left_over in published_dir.glob(f"{UNFINISHED}*"):
        _remove(left_over)
    folder = published_dir / f"{UNFINISHED}{secrets.token_hex(8)}"
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def current_snapshot(published_dir: Path) -> Path | None:
    """Return the folder that ``current`` points at, or None when nothing was published yet."""
    try:
        return (published_dir / CURRENT).resolve(strict=True)
    except FileNotFoundError:
        return None


def make_durable(folder: Path) -> None:
    """Bring every file and folder at and below ``folder`` to the disk, files read-only.

    A later snapshot may share a file, so an edit of one would change the other's past.
    """
    paths = [folder, *folder.rglob("*")]
    for path in paths:
        if path.is_file():
            path.chmod(0o444)
    # Most of the time goes in waiting for the disk, and it serves several at once.
    with ThreadPoolExecutor(SYNCS_IN_FLIGHT) as pool:
        for _ in pool.map(_sync, paths):
            pass


def put_up(folder: Path, snapshot: Path) -> None:
    """Rename the durable ``folder`` to ``snapshot`` and point ``current`` at it.

    A snapshot of that name is there already when an older content is current again; it has the
    same content, so it stays.
    """
    published_dir = snapshot.parent
    if not snapshot.exists():
        folder.rename(snapshot)
        _sync(published_dir)
    link = published_dir / f"{UNFINISHED}{CURRENT}"
    link.symlink_to(snapshot.name)
    link.replace(published_dir / CURRENT)
    _sync(published_dir)


def retire(published_dir: Path, *, keep: int) -> None:
    """Delete all but the newest ``keep`` snapshots, and never the current one.

    A reader that has a file open keeps it; the disk space is free when it lets go.
    """
    current = current_snapshot(published_dir)
    others = [
        path
        for path in published_dir.iterdir()
        if SNAPSHOT_NAME.fullmatch(path.name) and path.resolve() != current
    ]
    for path in sorted(others, key=_age_key, reverse=True)[keep - 1 :]:
        # Renamed first: a kill in the middle must not leave half a folder under a good name.
        doomed = published_dir / f"{UNFINISHED}{path.name}"
        try:
            path.rename(doomed)
            shutil.rmtree(doomed)
        except OSError as error:
            # The new snapshot is up; what cannot be deleted now is tried again by the next one.
            logger.warning("cannot delete the old snapshot %s: %s", path, error)


def _age_key(snapshot: Path) -> tuple[float, str]:
    try:
        return read_manifest(snapshot).generated_at_utc.timestamp(), snapshot.name
    except (ManifestError, OSError):
        return 0.0, snapshot.name


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
