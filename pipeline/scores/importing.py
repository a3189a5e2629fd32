"""Import a file of scores: checked, then kept in landing as it came."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pipeline.scores.bundled import known_sources
from pipeline.scores.cells import ScoreFileError, kind_of
from pipeline.scores.landing import ScoreImport, ScoreLanding
from pipeline.scores.reading import Scores, read_scores
from pipeline.settings import Settings

LARGEST_BYTES = 16 * 2**20


@dataclass(frozen=True)
class ImportReport:
    """What an import did; ``kept`` is None when no row was sound, so that nothing was kept."""

    scores: Scores
    kept: ScoreImport | None
    is_new: bool


def import_scores(settings: Settings, path: Path, now: datetime) -> ImportReport:
    """Import ``path``; the same bytes once more change nothing.

    Raises ``ScoreFileError`` when it is no file of scores.
    """
    try:
        kind = kind_of(path.name)
        if path.stat().st_size > LARGEST_BYTES:
            raise ScoreFileError(f"it is larger than {LARGEST_BYTES >> 20} MiB; split it")
        body = path.read_bytes()
        scores = read_scores(body, kind, today=now.date(), taken_sources=known_sources())
    except ScoreFileError as error:
        raise ScoreFileError(f"{path}: {error}") from None
    if scores.rows.is_empty():
        return ImportReport(scores, None, is_new=False)
    landing = ScoreLanding(settings.landing_dir)
    kept, is_new = landing.keep(body, file_name=path.name, kind=kind, now=now)
    return ImportReport(scores, kept, is_new)
