"""How a value is written as text, in CSV and in JSON: exact, the same everywhere.

Decimals are plain (0.05, never 5E-2, no trailing zeros), instants ISO 8601 in UTC with Z, a
double that is no number is null. Each function returns SQL whose value is text, or null.
"""

from __future__ import annotations

from pipeline.duck import quoted
from pipeline.publishing.marts import Column

# A spreadsheet takes a cell that begins with one of these for a formula.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def csv_cell(column: Column) -> str:
    """Return the SQL of a cell; lists and nested values are JSON, text cannot become a formula."""
    name = column.quoted
    if not _is_text(column):
        return _plain(column) or f"to_json({name})::varchar"
    starts = ", ".join(f"chr({ord(start)})" for start in FORMULA_STARTS)
    text = f"{name}::varchar"
    return f"case when left({text}, 1) in ({starts}) then '''' || {text} else {text} end"


def json_token(column: Column) -> str:
    """Return the SQL of a JSON value: a number for every number, ``null`` for null."""
    plain = _plain(column)
    if plain is None:
        plain = f"to_json({column.quoted})::varchar"
    elif column.type == "DATE" or column.type.startswith("TIMESTAMP"):
        plain = f"'\"' || {plain} || '\"'"
    return f"coalesce({plain}, 'null')"


def json_object(columns: tuple[Column, ...]) -> str:
    """Return the SQL of a JSON object of all ``columns``, in their order."""
    # concat(), because a chain of || copies the growing text once a column.
    pieces = ["'{'"]
    for position, column in enumerate(columns):
        comma = "," if position else ""
        pieces += [f"'{comma}\"{quoted(column.name)}\":'", json_token(column)]
    return f"concat({', '.join(pieces)}, '}}')"


def _plain(column: Column) -> str | None:
    name, kind = column.quoted, column.type
    if kind.startswith("DECIMAL") and not kind.endswith("[]"):
        text = f"{name}::varchar"
        return text if kind.endswith(",0)") else f"rtrim(rtrim({text}, '0'), '.')"
    if kind.startswith("TIMESTAMP") and not kind.endswith("[]"):
        instant = f"{name} at time zone 'UTC'" if kind == "TIMESTAMP WITH TIME ZONE" else name
        # Microseconds only where there are any.
        return f"rtrim(rtrim(strftime({instant}, '%Y-%m-%dT%H:%M:%S.%f'), '0'), '.') || 'Z'"
    if kind in ("DOUBLE", "FLOAT"):
        return f"case when isfinite({name}) then {name}::varchar end"
    if kind in ("BOOLEAN", "DATE") or kind.endswith("INT") or kind.endswith("INTEGER"):
        return f"{name}::varchar"
    return None


def _is_text(column: Column) -> bool:
    return column.type in ("VARCHAR", "JSON") or column.type.startswith("ENUM")
