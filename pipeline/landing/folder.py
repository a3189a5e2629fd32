"""Landing of sweeps: raw answers as they came, on disk before anything parses them.

A sealed sweep is ``sweeps/<day>/<sweep_id>/{answers.jsonl.gz,manifest.json}`` and never changes.
"""

from __future__ import annotations

import logging
import re
import secrets
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

from pipeline.landing.records import (
    Answer,
    LandedSweep,
    SweepManifest,
    SweepStart,
    read_line,
)
from pipeline.landing.sealed import (
    FolderKind,
    OnCorrupt,
    days_of,
    sealed_folders,
    sealed_lines,
)
from pipeline.landing.sealing import IN_PROGRESS, begin_folder, recover_folders, turn_of
from pipeline.landing.writer import ANSWERS, SEALED_ANSWERS, SweepWriter

log = logging.getLogger("tokentape")

_SWEEP_ID = re.compile(r"\d{8}T\d{6}Z-[0-9a-f]{8}")


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
        with turn_of(self._root):
            begin_folder(folder, start)
            return SweepWriter(folder)

    def sweeps(
        self,
        first: date | None = None,
        last: date | None = None,
        on_corrupt: OnCorrupt | None = None,
    ) -> list[LandedSweep]:
        """Return the sealed sweeps of the days ``first`` to ``last``, oldest start first.

        A sweep whose manifest cannot be believed is handed to ``on_corrupt`` and left out; without
        ``on_corrupt`` its ``CorruptLandingError`` is raised.
        """
        return sealed_folders(self._sweeps, _KIND, first, last, on_corrupt)

    def newest(self) -> LandedSweep | None:
        """Return the newest sealed sweep, None when there is none; reads no other day's."""
        for day, _ in sorted(days_of(self._sweeps), reverse=True):
            if sweeps := self.sweeps(day, day):
                return sweeps[-1]
        return None

    def answers(self, sweep: LandedSweep) -> Iterator[Answer]:
        """Return the answers of ``sweep`` in the order of arrival, byte for byte.

        The checksum is verified before the first one; raises ``CorruptLandingError``.
        """
        lines = sealed_lines(sweep.path / SEALED_ANSWERS, sweep.manifest.answers_sha256)
        return (record for record in map(read_line, lines) if isinstance(record, Answer))

    def recover(self, now: datetime) -> list[LandedSweep]:
        """Seal what dead processes left behind, as interrupted; live writers are left alone.

        A torn last line is dropped, and a sweep without any answer removed. Such a sweep ends
        with its last answer, not ``now``, which only dates the log line.
        """
        recovered = recover_folders(self._root, self._sweeps, ANSWERS, _seal_interrupted)
        for sweep in recovered:
            log.warning(
                "sweep %s was interrupted %s ago; sealed the %d answers that had come",
                sweep.manifest.sweep_id,
                str(now - sweep.manifest.finished_at_utc).partition(".")[0],
                sweep.manifest.answers,
            )
        return recovered


def _seal_interrupted(folder: Path) -> LandedSweep | None:
    with SweepWriter(folder) as writer:
        return writer.seal_interrupted()


_KIND = FolderKind(_SWEEP_ID, SweepManifest, "sweep_id")
