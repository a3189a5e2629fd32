"""How samples are written for programs: JSON lines and CSV, each line whole and at once."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields
from typing import IO, Any

import click

from pipeline.probes.playing import PlayedBatch
from pipeline.probes.sample import Sample
from pipeline.publishing.text_forms import FORMULA_STARTS

Row = dict[str, Any]

OF_SELF_CHECK = ("self_check_ttft_error_p99_ms", "is_trusted")
COLUMNS = (*(field.name for field in fields(Sample)), *OF_SELF_CHECK)
STDOUT = "-"


@dataclass(frozen=True)
class Outputs:
    """Where rows are written, None nowhere, ``-`` to stdout; raises ``click.UsageError``."""

    json_path: str | None = None
    csv_path: str | None = None
    with_warm_up: bool = False

    def __post_init__(self) -> None:
        if self.json_path == self.csv_path == STDOUT:
            raise click.UsageError("--json and --csv cannot both be written to stdout")

    @property
    def are_on_stdout(self) -> bool:
        """Whether stdout is for programs, and people read stderr."""
        return STDOUT in (self.json_path, self.csv_path)

    def lines(self) -> list[str]:
        """Return where the rows are, for a person."""
        paths = (self.json_path, self.csv_path)
        return [f"samples in {path}" for path in paths if path not in (None, STDOUT)]

    @contextmanager
    def open(self) -> Iterator[Callable[[Row], None]]:
        """Open the files anew and give what writes a row to them.

        A line is in the kernel's hands when it was written, so a kill leaves whole lines.
        """
        with ExitStack() as stack:
            writers: list[Callable[[Row], None]] = []
            if self.json_path is not None:
                json_file = stack.enter_context(click.open_file(self.json_path, "wb"))
                writers.append(lambda row: _write(json_file, json_line(row)))
            if self.csv_path is not None:
                csv_file = stack.enter_context(click.open_file(self.csv_path, "wb"))
                _write(csv_file, _csv_line(COLUMNS))
                writers.append(lambda row: _write(csv_file, csv_line(row)))

            def write(row: Row) -> None:
                for write_to in writers:
                    write_to(row)

            yield write


def rows_of(batch: PlayedBatch, *, with_warm_up: bool) -> Iterator[Row]:
    """Yield a row for each sample of ``batch``."""
    found = {name: getattr(batch, name) for name in OF_SELF_CHECK}
    for sample in batch.samples:
        if with_warm_up or sample.phase != "warm_up":
            yield {**sample.to_record(), **found}


def json_line(row: Row) -> bytes:
    """Return a JSON object in one line."""
    return json.dumps(row, separators=(",", ":")).encode("ascii") + b"\n"


def csv_line(row: Row) -> bytes:
    """Return a line of CSV: arrays joined by spaces, null empty, no text that is a formula."""
    return _csv_line(_cell(row[column]) for column in COLUMNS)


def _csv_line(cells: Iterable[Any]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue().encode("utf-8")


def _cell(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return " ".join(map(str, value))
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str) and value.startswith(FORMULA_STARTS):
        return f"'{value}"
    return value


def _write(file: IO[bytes], line: bytes) -> None:
    file.write(line)
    file.flush()
