"""Landing of probe runs: raw transcripts as they came, on disk before anything reads them.

A sealed run is ``probes/<day>/<run_id>/{records.jsonl.gz,manifest.json}`` and never changes. A line
is an object with one key: ``transcript``, ``batch`` or ``self_check``.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Literal

from pydantic import AwareDatetime

from pipeline.landing.sealing import (
    IN_PROGRESS,
    Begun,
    CorruptLandingError,
    FolderKind,
    FolderWriter,
    begin_folder,
    recover_folders,
    sealed_folders,
    sealed_lines,
    turn_of,
)
from pipeline.probes.reading import read_sample
from pipeline.probes.records import BatchRecord, SelfCheck
from pipeline.probes.sample import Sample
from pipeline.probes.transcript import Transcript

log = logging.getLogger("tokentape")

RECORDS = "records.jsonl"
SEALED_RECORDS = f"{RECORDS}.gz"
_RUN_ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z-]*")

ProbeRecord = Transcript | BatchRecord | SelfCheck


class ProbeRunStart(Begun):
    """What is known of a run when it begins; the configuration holds no key."""

    format: Literal[1] = 1
    run_id: str
    market: str
    region: str | None
    config_json: str
    engine_json: str


class ProbeRunManifest(ProbeRunStart):
    """What a sealed run holds; sha256 and size are of ``records.jsonl.gz`` as it is on disk.

    ``requests`` counts all that were planned, warm-ups and those never sent included; ``ok`` those
    of them that went well. ``cost_usd`` is the sum of what providers reported, None when none did.
    ``problems`` say in one line each what was not measured.
    """

    finished_at_utc: AwareDatetime
    is_interrupted: bool
    requests: int
    ok: int
    batches: int
    cost_usd: Decimal | None
    problems: tuple[str, ...]
    records_sha256: str
    records_bytes: int


@dataclass(frozen=True)
class LandedProbeRun:
    """A sealed run and its folder."""

    path: Path
    manifest: ProbeRunManifest


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
        on_corrupt: Callable[[CorruptLandingError], None] | None = None,
    ) -> list[LandedProbeRun]:
        """Return the sealed runs of the days ``first`` to ``last``, oldest start first.

        A run whose manifest cannot be believed is handed to ``on_corrupt`` and left out; without
        ``on_corrupt`` its ``CorruptLandingError`` is raised.
        """
        found = sealed_folders(self._runs, _KIND, first, last, on_corrupt)
        return [LandedProbeRun(path, manifest) for path, manifest in found]

    def records(self, run: LandedProbeRun) -> Iterator[ProbeRecord]:
        """Return the records of ``run`` in the order in which they came.

        The checksum is verified before the first one; raises ``CorruptLandingError``.
        """
        lines = sealed_lines(run.path / SEALED_RECORDS, run.manifest.records_sha256)
        return map(_read_line, lines)

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


class ProbeRunWriter(FolderWriter[ProbeRunStart]):
    """Takes the records of one run."""

    def __init__(self, folder: Path) -> None:
        """Hold ``folder``, which has a ``begun.json``, for writing."""
        super().__init__(folder, RECORDS, ProbeRunStart)
        self._batches = 0

    def add_transcripts(self, transcripts: Sequence[Transcript]) -> None:
        """Keep the raw records of a batch."""
        for transcript in transcripts:
            self._held.append(b'{"transcript":' + transcript.to_line().rstrip() + b"}\n")

    def add_batch(self, batch: BatchRecord) -> None:
        """Keep how a batch went."""
        self._held.append(_line("batch", batch))
        self._batches += 1

    def add_self_check(self, check: SelfCheck) -> None:
        """Keep what a self-check found."""
        self._held.append(_line("self_check", check))

    def seal(
        self,
        finished_at_utc: datetime,
        samples: Iterable[Sample],
        problems: Iterable[str] = (),
        *,
        is_interrupted: bool = False,
    ) -> LandedProbeRun:
        """Make the run visible, whole and for good, by one rename; ``samples`` are all of it."""
        with self._held.turn:
            contents = _Contents(self._held.lines_path.stat().st_size, batches=self._batches)
            for sample in samples:
                contents.count(sample)
            return self._seal(contents, finished_at_utc, tuple(problems), is_interrupted)

    def seal_interrupted(self) -> LandedProbeRun | None:
        """Seal what a dead process left, ended by its last request; None when none had come."""
        with self._held.turn:
            contents = _read(self._held.lines_path)
            if contents.last_utc is None:
                self.abandon()
                return None
            problem = f"run {self._start.run_id} was interrupted"
            return self._seal(contents, contents.last_utc, (problem,), is_interrupted=True)

    def _seal(
        self,
        contents: _Contents,
        finished_at_utc: datetime,
        problems: tuple[str, ...],
        is_interrupted: bool,
    ) -> LandedProbeRun:
        path, manifest = self._held.seal(
            contents.length,
            lambda sha256, size: ProbeRunManifest(
                **self._start.model_dump(),
                finished_at_utc=finished_at_utc,
                is_interrupted=is_interrupted,
                requests=contents.requests,
                ok=contents.ok,
                batches=contents.batches,
                cost_usd=sum(contents.costs_usd) if contents.costs_usd else None,
                problems=problems,
                records_sha256=sha256,
                records_bytes=size,
            ),
        )
        return LandedProbeRun(path, manifest)


@dataclass
class _Contents:
    """What the whole lines of a file hold; a torn line and what follows it are left out."""

    length: int = 0
    requests: int = 0
    ok: int = 0
    batches: int = 0
    costs_usd: list[Decimal] = field(default_factory=list)
    last_utc: datetime | None = None

    def count(self, sample: Sample) -> None:
        """Take in a request."""
        self.requests += 1
        self.ok += sample.outcome == "ok"
        if sample.cost_usd is not None:
            self.costs_usd.append(sample.cost_usd)
        ended = sample.sent_at_utc or sample.scheduled_at_utc
        if sample.sent_ns is not None and sample.end_ns is not None:
            ended += timedelta(microseconds=(sample.end_ns - sample.sent_ns) / 1000)
        self.last_utc = max(self.last_utc or ended, ended)


def _read(path: Path) -> _Contents:
    contents = _Contents()
    with path.open("rb") as lines:
        for line in lines:
            try:
                record = _read_line(line)
            except ValueError:
                break
            if not line.endswith(b"\n"):
                break
            contents.length += len(line)
            if isinstance(record, Transcript):
                contents.count(read_sample(record))
            elif isinstance(record, BatchRecord):
                contents.batches += 1
    return contents


def _line(key: str, record: BatchRecord | SelfCheck) -> bytes:
    return json.dumps({key: asdict(record)}, separators=(",", ":")).encode("ascii") + b"\n"


def _read_line(line: bytes) -> ProbeRecord:
    ((key, value),) = json.loads(line).items()
    match key:
        case "transcript":
            return Transcript.from_record(value)
        case "batch":
            return BatchRecord(**value)
        case "self_check":
            return SelfCheck(**value)
    raise ValueError(f"a line of a probe run is none of ours: {key}")


def _seal_interrupted(folder: Path) -> LandedProbeRun | None:
    with ProbeRunWriter(folder) as writer:
        return writer.seal_interrupted()


_KIND = FolderKind(RECORDS, _RUN_ID, ProbeRunManifest, "run_id")
