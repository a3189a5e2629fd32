"""The writing half of landing: one sweep in progress, from its first answer to its seal."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

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
from pipeline.landing.sealing import FolderWriter, whole_records

ANSWERS = "answers.jsonl"
SEALED_ANSWERS = f"{ANSWERS}.gz"


class SweepWriter(FolderWriter[SweepStart]):
    """Takes the answers of one sweep."""

    def __init__(self, folder: Path) -> None:
        """Hold ``folder``, which has a ``begun.json``, for writing."""
        super().__init__(folder, ANSWERS, SweepStart)
        self.answers = 0

    @property
    def sweep_id(self) -> str:
        """Start instant and eight random hex digits."""
        return self._start.sweep_id

    def write(self, answer: Answer) -> None:
        """Keep an answer."""
        self._append(answer_line(answer))
        with self._turn:
            self.answers += 1

    def record_failure(self, failure: RequestFailure) -> None:
        """Keep the fact that a request gave up."""
        self._append(failure_line(failure))

    def seal(self, finished_at_utc: datetime) -> LandedSweep:
        """Make the sweep visible, whole and for good, by one rename."""
        with self._turn:
            contents = _read(self._lines_path)
            return self._seal(contents, finished_at_utc, is_interrupted=False)

    def seal_interrupted(self) -> LandedSweep | None:
        """Seal what a dead process left, as ended by its last answer; None when none had come."""
        with self._turn:
            contents = _read(self._lines_path)
            if contents.last_arrival is None:
                self.abandon()
                return None
            return self._seal(contents, contents.last_arrival, is_interrupted=True)

    def _seal(
        self, contents: _Contents, finished_at_utc: datetime, *, is_interrupted: bool
    ) -> LandedSweep:
        return self._seal_lines(
            contents.length,
            lambda sha256, size: SweepManifest(
                **self._start.model_dump(),
                finished_at_utc=finished_at_utc,
                is_interrupted=is_interrupted,
                answers=contents.answers,
                failures=contents.failures,
                answers_sha256=sha256,
                answers_bytes=size,
            ),
        )


@dataclass
class _Contents:
    """What the whole lines of a file hold; a torn line and what follows it are left out."""

    length: int = 0
    answers: int = 0
    last_arrival: datetime | None = None
    failures: list[RequestFailure] = field(default_factory=list)


def _read(path: Path) -> _Contents:
    contents = _Contents()
    for length, record in whole_records(path, read_line):
        contents.length = length
        if isinstance(record, RequestFailure):
            contents.failures.append(record)
            continue
        contents.answers += 1
        earlier = contents.last_arrival or record.arrived_at_utc
        contents.last_arrival = max(earlier, record.arrived_at_utc)
    return contents
