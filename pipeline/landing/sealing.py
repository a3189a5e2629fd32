"""A folder of lines: written by one process that holds it, then sealed whole by one rename.

While it is written it is ``<id>.inprogress/{begun.json,<lines>}``, held by an flock that the kernel
frees with its process; so recovery tells a dead writer from a live one. Sealed it is
``<id>/{<lines>.gz,manifest.json}``, read-only, and never changes.
"""

from __future__ import annotations

import fcntl
import gzip
import hashlib
import logging
import os
import re
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from types import TracebackType
from typing import Generic, Self, TypeVar

from pydantic import AwareDatetime, BaseModel, ConfigDict, ValidationError

IN_PROGRESS = ".inprogress"
BEGUN = "begun.json"
MANIFEST = "manifest.json"

log = logging.getLogger("tokentape")


class Begun(BaseModel):
    """What every kind of landed folder knows when it begins; its day is that of the start, UTC."""

    model_config = ConfigDict(frozen=True)

    partition_date: date
    started_at_utc: AwareDatetime


Start = TypeVar("Start", bound=Begun)
Manifest = TypeVar("Manifest", bound=Begun)
Landed = TypeVar("Landed")


class CorruptLandingError(Exception):
    """A sealed file is not as it was sealed; ``path`` says which."""

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(
            f"{path} {problem}; put it back from a copy, or move its folder out of landing "
            "to go on without it"
        )
        self.path = path


@dataclass(frozen=True)
class FolderKind(Generic[Manifest]):
    """What tells one kind of landed folder from another.

    ``id_field`` of its manifest is the folder's name, which matches ``id_pattern``.
    """

    lines_name: str
    id_pattern: re.Pattern[str]
    manifest: type[Manifest]
    id_field: str


class HeldFolder:
    """A folder in progress, held for writing; takes lines from any thread.

    Raises ``BlockingIOError`` when another writer holds it.
    """

    def __init__(self, folder: Path, lines_name: str) -> None:
        self.path = folder
        self.lines_path = folder / lines_name
        self.turn = threading.RLock()
        self._file = self.lines_path.open("ab", buffering=0)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BaseException:
            self._file.close()
            raise

    def append(self, line: bytes) -> None:
        """Write a line, in the kernel's hands on return.

        Raises ``OSError`` when the disk refuses it, which leaves no part of it.
        """
        with self.turn:
            length = os.fstat(self._file.fileno()).st_size
            try:
                rest = memoryview(line)
                while rest:
                    rest = rest[self._file.write(rest) :]
            except BaseException:
                self._file.truncate(length)
                raise

    def seal(
        self, length: int, manifest_of: Callable[[str, int], Manifest]
    ) -> tuple[Path, Manifest]:
        """Seal the first ``length`` bytes of the lines; return the sealed folder and its manifest.

        ``manifest_of`` is given sha256 and size of the compressed file.
        """
        final = self.path.with_suffix("")
        sealing = self.path.with_suffix(".sealing")
        remove_folder(sealing)
        sealing.mkdir()
        packed = sealing / f"{self.lines_path.name}.gz"
        _compress(self.lines_path, length, packed)
        manifest = manifest_of(_sha256(packed), packed.stat().st_size)
        write_durably(sealing / MANIFEST, manifest.model_dump_json(indent=2) + "\n")
        for path in (packed, sealing / MANIFEST):
            path.chmod(0o444)
        _sync_folder(sealing)
        sealing.rename(final)
        _sync_folder(final.parent)
        self.abandon()
        return final, manifest

    def abandon(self) -> None:
        """Drop the folder in progress and all that it holds."""
        # The lines first: a folder without them is nothing, should this process die here.
        self.lines_path.unlink(missing_ok=True)
        remove_folder(self.path)
        self.close()

    def close(self) -> None:
        """Let go of the folder; what is neither sealed nor abandoned waits for recovery."""
        with self.turn:
            self._file.close()


class FolderWriter(Generic[Start]):
    """Takes the lines of one folder, from any thread, each in the kernel's hands on return.

    As a context manager it lets go of the folder at the end; one that was neither sealed nor
    abandoned then waits for recovery. Raises ``OSError`` when the disk refuses a line, which
    leaves no part of it, and ``BlockingIOError`` when another writer holds the folder.
    """

    def __init__(self, folder: Path, lines_name: str, start: type[Start]) -> None:
        """Hold ``folder``, which has a ``begun.json``, for writing."""
        self._held = HeldFolder(folder, lines_name)
        try:
            self._start = start.model_validate_json((folder / BEGUN).read_bytes())
        except BaseException:
            self._held.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._held.close()

    def abandon(self) -> None:
        """Drop the folder and all that it holds."""
        self._held.abandon()


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
    write_durably(folder / BEGUN, start.model_dump_json())


def days_of(folder: Path) -> Iterator[tuple[date, Path]]:
    """Return the days that ``folder`` has, in no order."""
    for day_folder in folder.iterdir() if folder.is_dir() else ():
        try:
            day = date.fromisoformat(day_folder.name)
        except ValueError:
            continue
        yield day, day_folder


def sealed_folders(
    parent: Path,
    kind: FolderKind[Manifest],
    first: date | None,
    last: date | None,
    on_corrupt: Callable[[CorruptLandingError], None] | None,
) -> list[tuple[Path, Manifest]]:
    """Return the sealed folders of the days ``first`` to ``last``, oldest start first.

    One whose manifest cannot be believed is handed to ``on_corrupt`` and left out; without
    ``on_corrupt`` its ``CorruptLandingError`` is raised.
    """
    found = []
    for day, day_folder in days_of(parent):
        if (first is None or first <= day) and (last is None or day <= last):
            for folder in day_folder.iterdir():
                if not kind.id_pattern.fullmatch(folder.name):
                    continue
                try:
                    found.append((folder, _read_manifest(folder, kind)))
                except CorruptLandingError as error:
                    if on_corrupt is None:
                        raise
                    on_corrupt(error)
    return sorted(found, key=lambda each: (each[1].started_at_utc, each[0].name))


def recover_folders(
    root: Path, parent: Path, lines_name: str, seal: Callable[[Path], Landed | None]
) -> list[Landed]:
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


def _is_unfinished(folder: Path, lines_name: str) -> bool:
    """Say whether recovery has to do with ``folder``; one that is nothing is removed."""
    parts = (folder / lines_name, folder / BEGUN)
    if folder.with_suffix("").exists() or not all(part.exists() for part in parts):
        remove_folder(folder)  # its writer was done with it, or had not begun
        return False
    return True


def _read_manifest(folder: Path, kind: FolderKind[Manifest]) -> Manifest:
    path = folder / MANIFEST
    try:
        manifest = kind.manifest.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        raise CorruptLandingError(path, "is missing") from None
    except ValidationError as error:
        raise CorruptLandingError(
            path, f"is no manifest of format 1 ({error.errors()[0]['msg']})"
        ) from None
    named = (getattr(manifest, kind.id_field), str(manifest.partition_date))
    if named != (folder.name, folder.parent.name):
        raise CorruptLandingError(path, f"names {named[0]} of {named[1]}, not its folder's")
    return manifest


def sealed_lines(path: Path, sha256: str) -> Iterator[bytes]:
    """Return the lines of a sealed file.

    The checksum is verified before the first one; raises ``CorruptLandingError``.
    """
    try:
        is_sound = _sha256(path) == sha256
    except FileNotFoundError:
        raise CorruptLandingError(path, "is missing") from None
    if not is_sound:
        raise CorruptLandingError(path, "is not what was sealed (its sha256 differs)")
    return _lines(path)


def write_durably(path: Path, text: str) -> None:
    """Write a new file; on return it is on the disk, not only in the kernel."""
    with path.open("x", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def remove_folder(folder: Path) -> None:
    """Remove ``folder`` if it is there; what cannot be removed is left to the next recovery."""
    shutil.rmtree(folder, ignore_errors=True)


def _lines(path: Path) -> Iterator[bytes]:
    with gzip.open(path, "rb") as lines:
        yield from lines


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


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
