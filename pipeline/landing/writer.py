"""The writing half of landing: one sweep in progress, from its first answer to its seal."""

from __future__ import annotations

import fcntl
import gzip
import hashlib
import os
import shutil
import threading
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from pipeline.landing.records import (
    Answer,
    LandedSweep,
    RequestFailure,
    SweepManifest,
    SweepStart,
    answer_line,
    failure_line,
    read_line,
)

IN_PROGRESS = ".inprogress"
BEGUN = "begun.json"
ANSWERS = "answers.jsonl"
SEALED_ANSWERS = "answers.jsonl.gz"
MANIFEST = "manifest.json"


class SweepWriter:
    """Takes the answers of one sweep, from any thread, each in the kernel's hands on return.

    As a context manager it lets go of the sweep at the end; one that was neither sealed nor
    abandoned then waits for ``Landing.recover``. Raises ``OSError`` when the disk refuses a
    line, which leaves no part of it.
    """

    def __init__(self, folder: Path) -> None:
        """Hold ``folder``, which has a ``begun.json``, for writing.

        Raises ``BlockingIOError`` when another writer holds it.
        """
        self._folder = folder
        self._lock = threading.RLock()
        self.answers = 0
        self._file = (folder / ANSWERS).open("ab", buffering=0)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._start = SweepStart.model_validate_json((folder / BEGUN).read_bytes())
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

    @property
    def sweep_id(self) -> str:
        """Start instant and eight random hex digits."""
        return self._start.sweep_id

    def write(self, answer: Answer) -> None:
        """Keep an answer."""
        self._append(answer_line(answer))
        with self._lock:
            self.answers += 1

    def record_failure(self, failure: RequestFailure) -> None:
        """Keep the fact that a request gave up."""
        self._append(failure_line(failure))

    def seal(self, finished_at_utc: datetime) -> LandedSweep:
        """Make the sweep visible, whole and for good, by one rename."""
        with self._lock:
            contents = _read(self._folder / ANSWERS)
            return self._seal(contents, finished_at_utc, is_interrupted=False)

    def seal_interrupted(self) -> LandedSweep | None:
        """Seal what a dead process left, as ended by its last answer; None when none had come."""
        with self._lock:
            contents = _read(self._folder / ANSWERS)
            if contents.last_arrival is None:
                self.abandon()
                return None
            return self._seal(contents, contents.last_arrival, is_interrupted=True)

    def abandon(self) -> None:
        """Drop the sweep and all that it holds."""
        # The answers first: a folder without them is nothing, should this process die here.
        (self._folder / ANSWERS).unlink(missing_ok=True)
        remove_folder(self._folder)
        self._close()

    def _append(self, line: bytes) -> None:
        with self._lock:
            length = os.fstat(self._file.fileno()).st_size
            try:
                rest = memoryview(line)
                while rest:
                    rest = rest[self._file.write(rest) :]
            except BaseException:
                self._file.truncate(length)
                raise

    def _seal(
        self, contents: _Contents, finished_at_utc: datetime, *, is_interrupted: bool
    ) -> LandedSweep:
        final = self._folder.with_suffix("")
        sealing = self._folder.with_suffix(".sealing")
        remove_folder(sealing)
        sealing.mkdir()
        packed = sealing / SEALED_ANSWERS
        _compress(self._folder / ANSWERS, contents.length, packed)
        with packed.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        manifest = SweepManifest(
            **self._start.model_dump(),
            finished_at_utc=finished_at_utc,
            is_interrupted=is_interrupted,
            answers=contents.answers,
            failures=contents.failures,
            answers_sha256=digest,
            answers_bytes=packed.stat().st_size,
        )
        write_durably(sealing / MANIFEST, manifest.model_dump_json(indent=2) + "\n")
        for path in (packed, sealing / MANIFEST):
            path.chmod(0o444)
        _sync_folder(sealing)
        sealing.rename(final)
        _sync_folder(final.parent)
        self.abandon()
        return LandedSweep(final, manifest)

    def _close(self) -> None:
        with self._lock:
            self._file.close()


def write_durably(path: Path, text: str) -> None:
    """Write a new file; on return it is on the disk, not only in the kernel."""
    with path.open("x", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def remove_folder(folder: Path) -> None:
    """Remove ``folder`` if it is there; what cannot be removed is left to the next recovery."""
    shutil.rmtree(folder, ignore_errors=True)


@dataclass
class _Contents:
    """What the whole lines of a file hold; a torn line and what follows it are left out."""

    length: int = 0
    answers: int = 0
    last_arrival: datetime | None = None
    failures: list[RequestFailure] = field(default_factory=list)


def _read(path: Path) -> _Contents:
    contents = _Contents()
    with path.open("rb") as lines:
        for line in lines:
            try:
                record = read_line(line)
            except ValueError:
                break
            if not line.endswith(b"\n"):
                break
            contents.length += len(line)
            if isinstance(record, RequestFailure):
                contents.failures.append(record)
                continue
            contents.answers += 1
            earlier = contents.last_arrival or record.arrived_at_utc
            contents.last_arrival = max(earlier, record.arrived_at_utc)
    return contents


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
