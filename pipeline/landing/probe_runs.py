"""Landing of probe runs: raw transcripts as they came, on disk before anything reads them.

A sealed run is ``probes/<day>/<run_id>/{records.jsonl.gz,manifest.json}`` and never changes.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path

from pipeline.landing.probe_records import (
    LandedProbeRun,
    ProbeRecord,
    ProbeRunManifest,
    ProbeRunStart,
    read_line,
)
from pipeline.landing.probe_writer import RECORDS, SEALED_RECORDS, ProbeRunWriter
from pipeline.landing.sealed import FolderKind, OnCorrupt, sealed_folders, sealed_lines
from pipeline.landing.sealing import IN_PROGRESS, begin_folder, recover_folders, turn_of

log = logging.getLogger("tokentape")

_RUN_ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z-]*")


class ProbeLanding:
    """All probe runs below ``root``; any number of processes may write and read at once."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._runs = root / "probes"

    def begin(self, start: ProbeRunStart) -> ProbeRunWriter:
        """Open a new run for writing."""
        folder = self._runs / start.partition_date.isoformat() / (start.run_id + IN_PROGRESS)
        with turn_of(self._root):
            begin_folder(folder, start)
            return ProbeRunWriter(folder)

    def runs(
        self,
        first: date | None = None,
        last: date | None = None,
        on_corrupt: OnCorrupt | None = None,
    ) -> list[LandedProbeRun]:
        """Return the sealed runs of the days ``first`` to ``last``, oldest start first.

        A run whose manifest cannot be believed is handed to ``on_corrupt`` and left out; without
        ``on_corrupt`` its ``CorruptLandingError`` is raised.
        """
        return sealed_folders(self._runs, _KIND, first, last, on_corrupt)

    def records(self, run: LandedProbeRun) -> Iterator[ProbeRecord]:
        """Return the records of ``run`` in the order in which they came.

        The checksum is verified before the first one; raises ``CorruptLandingError``.
        """
        lines = sealed_lines(run.path / SEALED_RECORDS, run.manifest.records_sha256)
        return map(read_line, lines)

    def recover(self) -> list[LandedProbeRun]:
        """Seal what dead processes left behind, as interrupted; live writers are left alone.

        A torn last line is dropped, and a run without any transcript removed.
        """
        recovered = recover_folders(self._root, self._runs, RECORDS, _seal_interrupted)
        for run in recovered:
            log.warning(
                "probe run %s was interrupted; sealed the %d requests that had come",
                run.manifest.run_id,
                run.manifest.requests,
            )
        return recovered


def _seal_interrupted(folder: Path) -> LandedProbeRun | None:
    with ProbeRunWriter(folder) as writer:
        return writer.seal_interrupted()


_KIND = FolderKind(_RUN_ID, ProbeRunManifest, "run_id")
