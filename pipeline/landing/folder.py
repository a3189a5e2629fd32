"""Landing: raw answers as they came, one folder a sweep, on disk before anything parses them.

A sealed sweep is ``sweeps/<day>/<sweep_id>/{answers.jsonl.gz,manifest.json}`` and never changes.
Until then it is ``<sweep_id>.inprogress/{begun.json,answers.jsonl}``, held by an flock that the
kernel frees with its process; so ``recover`` tells a dead writer from a live one.
"""

from __future__ import annotations

import fcntl
import gzip
import hashlib
import logging
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from pathlib import Path

from pydantic import ValidationError

from pipeline.landing.records import (
    Answer,
    LandedSweep,
    SweepManifest,
    SweepStart,
    read_line,
)
from pipeline.landing.writer import (
    ANSWERS,
    BEGUN,
    IN_PROGRESS,
    MANIFEST,
    SEALED_ANSWERS,
    SweepWriter,
    remove_folder,
    write_durably,
)

log = logging.getLogger("tokentape")

_SWEEP_ID = re.compile(r"\d{8}T\d{6}Z-[0-9a-f]{8}")


class CorruptLandingError(Exception):
    """A sealed file is not as it was sealed; ``path`` says which."""

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(
            f"{path} {problem}; put it back from a copy, or move its folder out of landing "
            "to go on without that sweep"
        )
        self.path = path


class Landing:
    """All sweeps below ``root``; any number of processes may write and read at once."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._sweeps = root / "sweeps"

    def begin(
        self, *, market: str, base_url: str, is_authenticated: bool, started_at_utc: datetime
    ) -> SweepWriter:
        """Open a new sweep for writing; its day is the UTC day of ``started_at_utc``."""
        started = started_at_utc.astimezone(UTC)
        start = SweepStart(
            sweep_id=f"{started:%Y%m%dT%H%M%SZ}-{secrets.token_hex(4)}",
            partition_date=started.date(),
            started_at_utc=started,
            market=market,
            base_url=base_url,
            is_authenticated=is_authenticated,
        )
        folder = self._sweeps / start.partition_date.isoformat() / (start.sweep_id + IN_PROGRESS)
        with self._turn():
            folder.mkdir(parents=True)
            write_durably(folder / BEGUN, start.model_dump_json())
            return SweepWriter(folder)

    def sweeps(
        self,
        first: date | None = None,
        last: date | None = None,
        on_corrupt: Callable[[CorruptLandingError], None] | None = None,
    ) -> list[LandedSweep]:
        """Return the sealed sweeps of the days ``first`` to ``last``, oldest start first.

        A sweep whose manifest cannot be believed is handed to ``on_corrupt`` and left out; without
        ``on_corrupt`` its ``CorruptLandingError`` is raised.
        """
        found = []
        for day, day_folder in _days(self._sweeps):
            if (first is None or first <= day) and (last is None or day <= last):
                for folder in day_folder.iterdir():
                    if _SWEEP_ID.fullmatch(folder.name):
                        try:
                            found.append(_read_manifest(folder))
                        except CorruptLandingError as error:
                            if on_corrupt is None:
                                raise
                            on_corrupt(error)
        return sorted(
            found, key=lambda sweep: (sweep.manifest.started_at_utc, sweep.manifest.sweep_id)
        )

    def newest(self) -> LandedSweep | None:
        """Return the newest sealed sweep, None when there is none; reads no other day's."""
        for day, _ in sorted(_days(self._sweeps), reverse=True):
            if sweeps := self.sweeps(day, day):
                return sweeps[-1]
        return None

    def answers(self, sweep: LandedSweep) -> Iterator[Answer]:
        """Return the answers of ``sweep`` in the order of arrival, byte for byte.

        The checksum is verified before the first one; raises ``CorruptLandingError``.
        """
        path = sweep.path / SEALED_ANSWERS
        try:
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except FileNotFoundError:
            raise CorruptLandingError(path, "is missing") from None
        if digest != sweep.manifest.answers_sha256:
            raise CorruptLandingError(path, "is not what was sealed (its sha256 differs)")
        return _answers_in(path)

    def recover(self, now: datetime) -> list[LandedSweep]:
        """Seal what dead processes left behind, as interrupted; live writers are left alone.

        A torn last line is dropped, and a sweep without any answer removed. Such a sweep ends
        with its last answer, not ``now``, which only dates the log line.
        """
        recovered = []
        with self._turn():
            for folder in sorted(self._sweeps.glob(f"*/*{IN_PROGRESS}")):
                try:
                    landed = _recover(folder)
                except CorruptLandingError as error:
                    log.error("cannot recover a sweep: %s", error)
                    continue
                if landed is not None:
                    recovered.append(landed)
        for sweep in recovered:
            log.warning(
                "sweep %s was interrupted %s ago; sealed the %d answers that had come",
                sweep.manifest.sweep_id,
                str(now - sweep.manifest.finished_at_utc).partition(".")[0],
                sweep.manifest.answers,
            )
        return recovered

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Keep ``recover`` out while a sweep begins: its folder is there before its flock."""
        self._root.mkdir(parents=True, exist_ok=True)
        with (self._root / ".lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


def _days(sweeps: Path) -> Iterator[tuple[date, Path]]:
    for folder in sweeps.iterdir() if sweeps.is_dir() else ():
        try:
            day = date.fromisoformat(folder.name)
        except ValueError:
            continue
        yield day, folder


def _read_manifest(folder: Path) -> LandedSweep:
    path = folder / MANIFEST
    try:
        manifest = SweepManifest.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        raise CorruptLandingError(path, "is missing") from None
    except ValidationError as error:
        raise CorruptLandingError(
            path, f"is no manifest of format 1 ({error.errors()[0]['msg']})"
        ) from None
    named = (manifest.sweep_id, manifest.partition_date.isoformat())
    if named != (folder.name, folder.parent.name):
        raise CorruptLandingError(path, f"names sweep {named[0]} of {named[1]}, not its folder's")
    return LandedSweep(folder, manifest)


def _answers_in(path: Path) -> Iterator[Answer]:
    with gzip.open(path, "rb") as lines:
        for line in lines:
            record = read_line(line)
            if isinstance(record, Answer):
                yield record


def _recover(folder: Path) -> LandedSweep | None:
    """Seal the folder of a dead writer; None when it is alive, or had nothing worth keeping."""
    parts = (folder / ANSWERS, folder / BEGUN)
    if folder.with_suffix("").exists() or not all(part.exists() for part in parts):
        remove_folder(folder)  # its writer was done with it, or had not begun
        return None
    try:
        with SweepWriter(folder) as writer:
            return writer.seal_interrupted()
    except BlockingIOError:
        return None
    except ValidationError:
        raise CorruptLandingError(folder / BEGUN, "does not say which sweep this is") from None
