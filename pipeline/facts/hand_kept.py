"""Facts that no API states, kept by hand: each with where it was read, and when."""

from __future__ import annotations

import csv
from datetime import date
from decimal import Decimal, InvalidOperation
from pathlib import Path

import polars as pl

from pipeline.contracts.hand_kept_facts import HAND_KEPT_FACTS
from pipeline.loading import StepError
from pipeline.raw_tables import HAND_KEPT_FACTS as COLUMNS
from pipeline.raw_tables import frame_of

HAND_KEPT = Path(__file__).with_name("hand_kept.csv")
_NUMBERS = {"params_total_b", "params_active_b"}


class HandKeptError(StepError):
    """The file of facts has a mistake; the message names file, line and remedy."""


def read_hand_kept(path: Path = HAND_KEPT) -> pl.DataFrame:
    """Return the facts of the file, columns and types of ``raw.hand_kept_facts``.

    Raises ``HandKeptError`` for the first line that is not as the contract has it.
    """
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        if tuple(reader.fieldnames or ()) != tuple(COLUMNS):
            raise HandKeptError(f"{path}: line 1: the head must be {','.join(COLUMNS)}")
        rows = [_row(path, line, row) for line, row in enumerate(reader, start=2)]
    frame = frame_of(rows, COLUMNS)
    verdict = HAND_KEPT_FACTS.enforce(frame)
    if verdict.refused:
        first = verdict.refused[0]
        raise HandKeptError(f"{path}: line {first.position + 2}: {first.rule}: {first.detail}")
    return frame


def _row(path: Path, line: int, row: dict[str, str | None]) -> dict[str, object]:
    if None in row or None in row.values():
        raise HandKeptError(f"{path}: line {line}: {len(COLUMNS)} values are wanted")
    values = {name: (text or "").strip() for name, text in row.items()}
    try:
        if values["field"] in _NUMBERS and not 0 < Decimal(values["value"]) < 100_000:
            raise InvalidOperation
        return {**values, "as_of": date.fromisoformat(values["as_of"])}
    except InvalidOperation:
        raise HandKeptError(
            f"{path}: line {line}: {values['value']!r} is not a number of billions"
        ) from None
    except ValueError:
        raise HandKeptError(
            f"{path}: line {line}: as_of {values['as_of']!r} is not a day like 2026-12-01"
        ) from None
