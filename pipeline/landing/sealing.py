"""A folder of lines: written by one process that holds it, then sealed whole by one rename.

While it is written it is ``<id>.inprogress/{begun.json,<lines>}``, held by an flock that the kernel
frees with its process; so recovery tells a dead writer from a live one.
"""

from __future__ import annotations

import fcntl
import gzip
import json
import logging
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from pydantic import ValidationError

from pipeline.landing.sealed import MANIFEST, Begun, Landed, Manifest, sha256_of

IN_PROGRESS = ".inprogress"
BEGUN = "begun.json"

log = logging.getLogger("tokentape")

Start = TypeVar("Start", bound=Begun)
Record = TypeVar("Record")


class FolderWriter(Generic[Start]):
    """Takes the lines of one folder, from any thread, each in the kernel's hands on return.

    As a context manager it lets go of the folder at the end; one that was neither sealed nor
    abandoned then waits for recovery. Raises ``OSError`` when the disk refuses a line, which
    leaves no part of it, and ``BlockingIOError`` when another writer holds the folder.
    """

    def __init__(self, folder: Path, lines_name: str, start: type[Start]) -> None:
        """Hold ``folder``, which has a ``begun.json``, for writing."""
        self._folder = folder
        self._lines_path = folder / lines_name
        self._turn = threading.RLock()
        self._file = self._lines_path.open("ab", buffering=0)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._start = start.model_validate_json((folder / BEGUN).read_bytes())
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._close()

    def abandon(self) -> None:
        """Drop the folder and all that it holds."""
        # The lines first: a folder without them is nothing, should this process die here.
        self._lines_path.unlink(missing_ok=True)
        _remove(self._folder)
        self._close()

    def _append(self, line: bytes) -> None:
        with self._turn:
            length = os.fstat(self._file.fileno()).st_size
            try:
                rest = memoryview(line)
                while rest:
                    rest = rest[self._file.write(rest) :]
            except BaseException:
                self._file.truncate(length)
                raise

    def _seal_lines(
        self, length: int, manifest_of: Callable[[str, int], Manifest]
    ) -> Landed[Manifest]:
        """Seal the first ``length`` bytes of the lines.

        ``manifest_of`` is given sha256 and size of the compressed file.
        """
        final = self._folder.with_suffix("")
        sealing = self._folder.with_suffix(".sealing")
        _remove(sealing)
        sealing.mkdir()
        packed = sealing / f"{self._lines_path.name}.gz"
        _compress(self._lines_path, length, packed)
        manifest = manifest_of(sha256_of(packed), packed.stat().st_size)
        _write_durably(sealing / MANIFEST, manifest.model_dump_json(indent=2) + "\n")
        for path in (packed, sealing / MANIFEST):
            path.chmod(0o444)
        _sync_folder(sealing)
        sealing.rename(final)
        _sync_folder(final.parent)
        self.abandon()
        return Landed(final, manifest)

    def _close(self) -> None:
        with self._turn:
            self._file.close()


@contextmanager
def turn_of(root: Path) -> Iterator[None]:
    """Keep recovery out while a folder begins: it is there before it is held."""
    root.mkdir(parents=True, exist_ok=True)
    with (root / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def begin_folder(folder: Path, start: Begun) -> None:
    """Make a folder in progress; to be called, and the folder held, within ``turn_of``."""
    folder.mkdir(parents=True)
    _write_durably(folder / BEGUN, start.model_dump_json())


def recover_folders(
    root: Path,
    parent: Path,
    lines_name: str,
    seal: Callable[[Path], Landed[Manifest] | None],
) -> list[Landed[Manifest]]:
    """Seal what dead writers left below ``parent`` and return it; live ones are left alone.

    ``seal`` returns None for a folder that had nothing worth keeping.
    """
    recovered = []
    with turn_of(root):
        for folder in sorted(parent.glob(f"*/*{IN_PROGRESS}")):
            if not _is_unfinished(folder, lines_name):
                continue
            try:
                landed = seal(folder)
            except BlockingIOError:
                continue  # its writer is alive
            except ValidationError:
                log.error("cannot recover a folder: %s does not say what it is", folder / BEGUN)
                continue
            if landed is not None:
                recovered.append(landed)
    return recovered


def line_of(record: dict[str, Any]) -> bytes:
    """Return ``record`` as a line of JSON."""
    return json.dumps(record, separators=(",", ":")).encode("ascii") + b"\n"


def whole_records(path: Path, read_line: Callable[[bytes], Record]) -> Iterator[tuple[int, Record]]:
    """Yield the records of an unsealed file, each with the file's length up to its end.

    ``read_line`` raises ``ValueError`` for a torn line; it and what follows it are left out.
    """
    length = 0
    with path.open("rb") as lines:
        for line in lines:
            try:
                record = read_line(line)
            except ValueError:
                return
            if not line.endswith(b"\n"):
                return
            length += len(line)
            yield length, record


def _is_unfinished(folder: Path, lines_name: str) -> bool:
    """Say whether recovery has to do with ``folder``; one that is nothing is removed."""
    parts = (folder / lines_name, folder / BEGUN)
    if folder.with_suffix("").exists() or not all(part.exists() for part in parts):
        _remove(folder)  # its writer was done with it, or had not begun
        return False
    return True


def _write_durably(path: Path, text: str) -> None:
    """Write a new file; on return it is on the disk, not only in the kernel."""
    with path.open("x", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _remove(folder: Path) -> None:
    """Remove ``folder`` if it is there; what cannot be removed is left to the next recovery."""
    shutil.rmtree(folder, ignore_errors=True)


def _compress(source: Path, length: int, target: Path) -> None:
    """Gzip the first ``length`` bytes of ``source``; the same bytes give the same file."""
    with source.open("rb") as plain, target.open("xb") as raw:
        with gzip.GzipFile(filename="", mode="wb", fileobj=raw, compresslevel=6, mtime=0) as packed:
            while length and (piece := plain.read(min(length, 1 << 20))):
                packed.write(piece)
                length -= len(piece)
        raw.flush()
        os.fsync(raw.fileno())


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
