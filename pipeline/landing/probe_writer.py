"""The writing half of the landing of probes: one run in progress, from its first record on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path

from pipeline.landing.probe_records import (
    LandedProbeRun,
    ProbeRunManifest,
    ProbeRunStart,
    batch_line,
    read_line,
    self_check_line,
    transcript_line,
)
from pipeline.landing.sealing import FolderWriter, whole_records
from pipeline.probes.reading import read_sample
from pipeline.probes.records import BatchRecord, SelfCheck
from pipeline.probes.sample import Sample
from pipeline.probes.transcript import Transcript

RECORDS = "records.jsonl"
SEALED_RECORDS = f"{RECORDS}.gz"


class ProbeRunWriter(FolderWriter[ProbeRunStart]):
    """Takes the records of one run."""

    def __init__(self, folder: Path) -> None:
        """Hold ``folder``, which has a ``begun.json``, for writing."""
        super().__init__(folder, RECORDS, ProbeRunStart)
        self._batches = 0

    def add_transcripts(self, transcripts: Sequence[Transcript]) -> None:
        """Keep the raw records of a batch."""
        for transcript in transcripts:
            self._append(transcript_line(transcript))

    def add_batch(self, batch: BatchRecord) -> None:
        """Keep how a batch went."""
        self._append(batch_line(batch))
        self._batches += 1

    def add_self_check(self, check: SelfCheck) -> None:
        """Keep what a self-check found."""
        self._append(self_check_line(check))

    def seal(
        self,
        finished_at_utc: datetime,
        samples: Iterable[Sample],
        problems: Iterable[str] = (),
        *,
        is_interrupted: bool = False,
    ) -> LandedProbeRun:
        """Make the run visible, whole and for good, by one rename; ``samples`` are all of it."""
        with self._turn:
            contents = _Contents(self._lines_path.stat().st_size, batches=self._batches)
            for sample in samples:
                contents.count(sample)
            return self._seal(contents, finished_at_utc, tuple(problems), is_interrupted)

    def seal_interrupted(self) -> LandedProbeRun | None:
        """Seal what a dead process left, ended by its last request; None when none had come."""
        with self._turn:
            contents = _read(self._lines_path)
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
        return self._seal_lines(
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
    for length, record in whole_records(path, read_line):
        contents.length = length
        if isinstance(record, Transcript):
            contents.count(read_sample(record))
        elif isinstance(record, BatchRecord):
            contents.batches += 1
    return contents
