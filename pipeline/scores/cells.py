"""A file of scores as somebody wrote it, CSV or JSON, taken apart into named cells."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pipeline.exact_json import NotJson, read_json

FileKind = Literal["csv", "json"]

NEEDED = ("model_id", "metric", "score", "source", "as_of")
COLUMNS = (
    *NEEDED,
    "scale_min",
    "scale_max",
    "higher_is_better",
    "has_zero",
    "variant",
    "source_url",
    "evidence",
    "licence",
    "citation",
)


class ScoreFileError(Exception):
    """A file of scores cannot be used at all; one line: what, where, and what helps."""


@dataclass(frozen=True)
class Cells:
    """A row of a file; ``place`` says where it stands, absent and empty cells are None."""

    place: str
    values: Mapping[str, Any]


def kind_of(file_name: str) -> FileKind:
    """Return the kind of a file by its name; raises ``ScoreFileError`` for another than two."""
    match file_name.lower().rpartition(".")[2]:
        case "csv":
            return "csv"
        case "json":
            return "json"
    raise ScoreFileError(f"{file_name} is neither .csv nor .json; rename it by what it is")


def read_cells(body: bytes, kind: FileKind) -> list[Cells]:
    """Return the rows of a file; JSON is a list of objects, CSV has a header.

    Raises ``ScoreFileError`` when the file is not of its kind, lacks a column that is needed,
    has one that nobody knows (a typing error would lose its values), or has no row.
    """
    rows = _csv_rows(body) if kind == "csv" else _json_rows(body)
    if not rows:
        raise ScoreFileError("it holds no score; a row has " + ", ".join(NEEDED))
    return rows


def _csv_rows(body: bytes) -> list[Cells]:
    try:
        text = body.decode("utf-8-sig")
        lines = csv.reader(io.StringIO(text, newline=""), strict=True)
        header = [name.strip() for name in next(lines, [])]
        _check_columns(header, "its header")
        rows = []
        for cells in lines:
            place = f"line {lines.line_num}"
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(header):
                raise ScoreFileError(
                    f"{place} has {len(cells)} cells, the header {len(header)}; put text with a "
                    "comma between double quotes"
                )
            rows.append(_cells(place, dict(zip(header, cells, strict=True))))
    except UnicodeDecodeError as error:
        raise ScoreFileError(f"it is not UTF-8 (byte {error.start}); save it as UTF-8") from None
    except csv.Error as error:
        raise ScoreFileError(f"it is no CSV ({error}); save it as CSV with commas") from None
    return rows


def _json_rows(body: bytes) -> list[Cells]:
    try:
        records = read_json(body)
    except NotJson as error:
        raise ScoreFileError(f"it cannot be read: {error}") from None
    if not isinstance(records, list) or not all(isinstance(each, dict) for each in records):
        raise ScoreFileError("it is no list of objects; write [{...}, {...}], one a score")
    rows = []
    for number, record in enumerate(records, start=1):
        place = f"entry {number}"
        _check_columns(list(record), place)
        rows.append(_cells(place, record))
    return rows


def _check_columns(names: list[str], where: str) -> None:
    missing = [name for name in NEEDED if name not in names]
    if missing:
        raise ScoreFileError(f"{where} lacks {', '.join(missing)}; needed: {', '.join(NEEDED)}")
    unknown = [name for name in names if name not in COLUMNS]
    if unknown:
        raise ScoreFileError(f"{where} has {unknown[0]!r}; known: {', '.join(COLUMNS)}")
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ScoreFileError(f"{where} has {twice[0]} twice; take one away")


def _cells(place: str, given: Mapping[str, Any]) -> Cells:
    values = {}
    for name in COLUMNS:
        value = given.get(name)
        if isinstance(value, str):
            value = " ".join(value.split())
        values[name] = None if value == "" else value
    return Cells(place, values)
