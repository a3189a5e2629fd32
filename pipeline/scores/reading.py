"""Read a file of scores: the sound rows as a frame, and each refused one with its reason."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date

import polars as pl

from pipeline.raw_tables import frame_of
from pipeline.scores.cells import Cells, FileKind, read_cells
from pipeline.scores.contract import REMEDIES, SCORE_COLUMNS, score_contract
from pipeline.scores.rows import typed_row


@dataclass(frozen=True)
class Refusal:
    """A row that is not taken: where it stands, which model it names, why, and what helps."""

    place: str
    name: str
    reason: str

    def __str__(self) -> str:
        return f"{self.place} ({self.name}): {self.reason}"


@dataclass(frozen=True)
class Scores:
    """What a file holds: ``rows`` with the columns of ``SCORE_COLUMNS``, and what was refused."""

    rows: pl.DataFrame
    refused: tuple[Refusal, ...]


def read_scores(
    body: bytes, kind: FileKind, *, today: date, taken_sources: Collection[str] = ()
) -> Scores:
    """Read a file that came in ``today``; the same bytes and day give the same rows.

    Raises ``ScoreFileError`` when it is no such file at all.
    """
    sound, refused = [], []
    for cells in read_cells(body, kind):
        row, problems = typed_row(cells)
        if problems:
            refused.append(_refusal(cells, "; ".join(problems)))
        else:
            sound.append((cells, row))
    frame = frame_of([row for _, row in sound], SCORE_COLUMNS)
    verdict = score_contract(today, taken_sources).enforce(frame)
    refused += [
        _refusal(sound[finding.position][0], f"{finding.detail}; {REMEDIES[finding.rule]}")
        for finding in verdict.refused
    ]
    return Scores(verdict.accepted, tuple(refused))


def _refusal(cells: Cells, reason: str) -> Refusal:
    return Refusal(cells.place, str(cells.values["model_id"] or "no model"), reason)
