"""What comes with tokentape: the sources it knows, and the few scores that it may carry."""

from __future__ import annotations

import csv
from datetime import date
from functools import cache
from pathlib import Path

from pipeline.scores.reading import Scores, read_scores

FOLDER = Path(__file__).parent
BUNDLED_SCORES = FOLDER / "bundled_scores.csv"
SCORE_SOURCES = FOLDER / "score_sources.csv"
BUNDLED = "bundled"  # stands for the id of an import


@cache
def known_sources() -> dict[str, dict[str, str | None]]:
    """Return the rows of ``score_sources.csv`` by source; an empty cell is None."""
    with SCORE_SOURCES.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, strict=True))
    return {row["source"]: {name: cell or None for name, cell in row.items()} for row in rows}


def bundled_scores() -> Scores:
    """Return the scores that come with tokentape."""
    return read_scores(BUNDLED_SCORES.read_bytes(), "csv", today=date.max)
