"""One score with its types, read from the cells of a file."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date
from decimal import Decimal, DecimalException
from typing import Any, TypeVar

from pipeline.scores.cells import Cells

SCORE_DECIMALS = 6
_DIGITS_BEFORE_POINT = 12  # of DECIMAL(18, 6)
_STEP = Decimal(1).scaleb(-SCORE_DECIMALS)
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,2})?", re.ASCII)
_BOOLEANS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_LONGEST_TEXT = 300

Value = TypeVar("Value")


class CellError(ValueError):
    """A cell cannot be read: what was found, and what helps."""


def typed_row(cells: Cells) -> tuple[dict[str, Any], list[str]]:
    """Return the row with its types, and what is wrong with its cells.

    Left out, ``higher_is_better`` is true, ``evidence`` is ``user``, and a scale has a zero when it
    begins there.
    """
    problems: list[str] = []

    def read(name: str, as_type: Callable[[Any], Value]) -> Value | None:
        value = cells.values[name]
        if value is None:
            return None
        try:
            return as_type(value)
        except CellError as error:
            problems.append(f"{name}: {error}")
            return None

    row: dict[str, Any] = {
        "source_name": read("model_id", _text),
        "metric": read("metric", _text),
        "score": read("score", _number),
        "scale_min": read("scale_min", _number),
        "scale_max": read("scale_max", _number),
        "higher_is_better": read("higher_is_better", _boolean),
        "has_zero": read("has_zero", _boolean),
        "variant": read("variant", _text),
        "source": read("source", _text),
        "source_url": read("source_url", _text),
        "as_of": read("as_of", _day),
        "evidence": read("evidence", _text),
        "licence": read("licence", _text),
        "citation": read("citation", _text),
    }
    return row | _left_out(row), problems


def _left_out(row: Mapping[str, Any]) -> dict[str, Any]:
    has_zero = row["scale_min"] == 0 if row["has_zero"] is None else row["has_zero"]
    return {
        "higher_is_better": row["higher_is_better"] is not False,
        "has_zero": has_zero,
        "evidence": row["evidence"] or "user",
    }


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise CellError(f"{value!r} is no text; put it between quotes")
    if len(value) > _LONGEST_TEXT:
        raise CellError(f"it has {len(value)} characters; at most {_LONGEST_TEXT} are kept")
    if not value.isprintable():
        raise CellError("it holds characters that cannot be printed; take them out")
    return value


def _number(value: Any) -> Decimal:
    is_number = isinstance(value, int | Decimal) and not isinstance(value, bool)
    text = str(value)
    if not is_number and not (isinstance(value, str) and _NUMBER.fullmatch(text)):
        raise CellError(f"{value!r} is no number; write it like 62.5")
    try:
        number = Decimal(text)
        exact = number.quantize(_STEP)
    except DecimalException:
        raise CellError(f"{text} is too large; no scale goes that far") from None
    if number.adjusted() >= _DIGITS_BEFORE_POINT:
        raise CellError(f"{text} is too large; no scale goes that far")
    if exact != number:
        raise CellError(f"{text} has more than {SCORE_DECIMALS} decimals; round it")
    return exact


def _boolean(value: Any) -> bool:
    found = value if isinstance(value, bool) else _BOOLEANS.get(str(value).lower())
    if found is None:
        raise CellError(f"{value!r} is neither true nor false; write one of them")
    return found


def _day(value: Any) -> date:
    try:
        if not isinstance(value, str) or len(value) != len("2026-11-30"):
            raise ValueError
        return date.fromisoformat(value)
    except ValueError:
        raise CellError(f"{value!r} is no day; write it like 2026-11-30") from None
