"""Values of a probe configuration: exact money, numbers, and the five fields of a schedule."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
_MOST_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
# Name, lowest, highest, and the names that stand for numbers, counted from the lowest.
_CRON_FIELDS: tuple[tuple[str, int, int, list[str]], ...] = (
    ("minute", 0, 59, []),
    ("hour", 0, 23, []),
    ("day of month", 1, 31, []),
    ("month", 1, 12, _MONTHS),
    ("day of week", 0, 7, _WEEKDAYS),
)


class Part(BaseModel):
    """A part of the configuration: never changes, knows all its keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


def as_floats(value: Any) -> Any:
    """Return ``value`` with each exact fraction in it as the nearest float."""
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, list):
        return [as_floats(item) for item in value]
    if isinstance(value, dict):
        return {key: as_floats(item) for key, item in value.items()}
    return value


def _no_flag(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("should be a number or a text that holds one")
    return value


# Bounds come before the reader of a value, else the JSON Schema would not know them.
ReadMoney = BeforeValidator(_no_flag)
ReadNumber = BeforeValidator(as_floats)
# Exact: a JSON number, or a text that holds one.
Usd = Annotated[Decimal, Field(ge=0), ReadMoney]
UsdLimit = Annotated[Decimal, Field(gt=0), ReadMoney]
Seconds = Annotated[float, Field(strict=True, gt=0, le=3600), ReadNumber]
Whole = Annotated[int, Field(strict=True)]


def check_cron(text: str) -> str:
    """Return ``text``, a schedule of five cron fields; ``ValueError`` says what is wrong."""
    fields = text.lower().split()
    if len(fields) != len(_CRON_FIELDS):
        raise ValueError(
            f'should have the five cron fields "minute hour day month weekday", has {len(fields)}; '
            'every three hours at minute 17 is "17 */3 * * *"'
        )
    _, _, days, months, _ = (
        {number for item in field.split(",") for number in _numbers_of(item, *known)}
        for field, known in zip(fields, _CRON_FIELDS, strict=True)
    )
    if fields[4] == "*" and min(days) > max(_MOST_DAYS[month - 1] for month in months):
        raise ValueError("names a day that none of its months has")
    return text


def _numbers_of(item: str, name: str, lowest: int, highest: int, names: list[str]) -> range:
    match = re.fullmatch(r"(\*|(\w+)(?:-(\w+))?)(?:/([1-9]\d*))?", item, re.ASCII)
    if match is not None:
        _, first, last, step = match.groups()
        start = lowest if first is None else _cron_number(first, lowest, names)
        stop = highest if first is None else _cron_number(last or first, lowest, names)
        is_single = first is not None and last is None
        if lowest <= start <= stop <= highest and not (is_single and step):
            return range(start, stop + 1, int(step or 1))
    raise ValueError(
        f"has {item!r} as {name}; it takes {lowest} to {highest}, "
        "ranges (1-5), lists (1,3), steps (*/2) and *"
    )


def _cron_number(text: str, lowest: int, names: list[str]) -> int:
    if text in names:
        return lowest + names.index(text)
    return int(text) if text.isdigit() else -1
