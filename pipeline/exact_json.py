"""JSON without loss: numbers stay exact, and no text gets in that a table cannot hold."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any, NoReturn

_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")


class NotJson(ValueError):  # noqa: N818 - says what is the case
    """A body is no usable JSON. One line: what is wrong with it."""


def read_json(body: bytes) -> Any:
    """Parse a UTF-8 JSON body; fractions come as ``Decimal``, NaN and Infinity are refused.

    Half of a surrogate pair, which no UTF-8 table can hold, becomes U+FFFD. Raises ``NotJson``.
    """
    try:
        text = body.decode("utf-8-sig")
        value = _DECODER.decode(text)
        return _without_half_pairs(value) if _SURROGATE_ESCAPE.search(body) else value
    except UnicodeDecodeError as error:
        raise NotJson(f"body is not UTF-8 (byte {error.start})") from None
    except json.JSONDecodeError as error:
        start = " ".join(text[:60].split())
        raise NotJson(f"body is not JSON ({error.msg} at {error.pos}): {start!r}") from None
    except (ValueError, ArithmeticError) as error:
        raise NotJson(f"body is not usable JSON: {error}") from None
    except RecursionError:
        raise NotJson("body is not usable JSON: nested too deeply") from None


def write_json(value: Any, *, sort_keys: bool = False) -> str:
    """Write ``value`` as compact JSON.

    A ``Decimal`` is written as a number where a double holds it exactly, else as text.
    """
    try:
        return (_SORTED if sort_keys else _AS_GIVEN).encode(value)
    except RecursionError:
        # Reading stops at about the same depth, but not at the very same.
        return '"nested too deeply"'


def _number(value: object) -> float | str:
    if isinstance(value, Decimal):
        nearest = float(value)
        return nearest if Decimal(repr(nearest)) == value else str(value)
    raise TypeError(f"{type(value).__name__} has no JSON form here")


_AS_GIVEN = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, default=_number)
_SORTED = json.JSONEncoder(
    separators=(",", ":"), ensure_ascii=False, default=_number, sort_keys=True
)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


_DECODER = json.JSONDecoder(parse_float=Decimal, parse_constant=_refuse_constant)


def _without_half_pairs(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_without_half_pairs(item) for item in value]
    if isinstance(value, dict):
        return {_without_half_pairs(k): _without_half_pairs(v) for k, v in value.items()}
    return value
