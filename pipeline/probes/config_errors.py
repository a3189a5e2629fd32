"""Wrong probe configurations, told in one line: file, place, what was found, what is wanted."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

Place = tuple[str | int, ...]

_KEY_REMEDY = (
    "keys do not belong into this file; put the key into an environment variable and "
    'name the variable: "api_key_env": "MY_API_KEY"'
)
_NAMES_OF_KEYS = {"apikey", "key", "token", "secret", "authorization", "headers"}
# An address may hold a password, and a key may be written where its variable's name belongs.
_NEVER_SHOWN = {"base_url", "api_key_env", "extra_body"}
# What pydantic says in the words of Python, in those of JSON.
_WANTED = {
    "too_short": "should hold at least one",
    "tuple_type": "should be a list",
    "list_type": "should be a list",
    "dict_type": "should be an object",
    "model_type": "should be an object",
    "int_type": "should be a whole number",
    "bool_type": "should be true or false",
    "string_type": "should be a text",
    "decimal_type": "should be a number, or a text that holds one",
    "decimal_parsing": "should be a number, or a text that holds one",
}


class ProbeConfigError(Exception):
    """A probe configuration cannot be used. One line: file, place, what was found, remedy."""


def explain(where: str, error: ValidationError, raw: Any, schema: dict[str, Any]) -> str:
    """Return one line about everything that is wrong with ``raw``, which stands at ``where``."""
    problems = [
        _problem(details, raw, schema) for details in error.errors() if not _is_echo(details)
    ]
    return f"{where}: {'; '.join(problems)}"


def place_text(place: Place) -> str:
    """Return a place in a JSON document: ``providers[2].price``."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)
    return text.removeprefix(".") or "the file"


def _is_echo(details: ErrorDetails) -> bool:
    """Say whether an error only follows from another one: its parts could not be read."""
    return details["type"] == "default_factory_not_called" or (
        details["type"] == "too_short" and bool(details["input"])
    )


def _problem(details: ErrorDetails, raw: Any, schema: dict[str, Any]) -> str:
    kind, place = details["type"], _place_of(details, raw)
    if kind == "missing":
        about = str(_node_at(schema, place).get("description", "add it"))
        return f"{place_text(place)} is missing: {about.rstrip('.')}"
    if kind == "extra_forbidden":
        return _unknown_key(place, schema)
    message = details["msg"].removeprefix("Value error, ").removeprefix("Input ")
    wanted = _WANTED.get(kind, message)
    found = details["input"]
    if _NEVER_SHOWN.intersection(place) or (isinstance(found, list | dict) and found):
        return f"{place_text(place)} {wanted}"
    return f"{place_text(place)} is {_short(found)}: {wanted}"


def _unknown_key(place: Place, schema: dict[str, Any]) -> str:
    key = str(place[-1])
    if key.lower().replace("_", "").replace("-", "") in _NAMES_OF_KEYS:
        return f"{place_text(place)} is refused: {_KEY_REMEDY}"
    known = sorted(_node_at(schema, place[:-1]).get("properties", {}))
    near = difflib.get_close_matches(key, known, n=1)
    remedy = f"did you mean {near[0]}?" if near else f"known here: {', '.join(known)}"
    return f"{place_text(place)} is no known key; {remedy}"


def _place_of(details: ErrorDetails, raw: Any) -> Place:
    """Return where in ``raw`` an error is; steps that are only in our types are left out."""
    place: list[str | int] = []
    at = raw
    for part in details["loc"]:
        is_there = part in at if isinstance(at, dict) else isinstance(at, list)
        if is_there and isinstance(part, int) == isinstance(at, list):
            place.append(part)
            at = at[part]
    if details["type"] == "missing":
        place.append(details["loc"][-1])
    return tuple(place)


def _node_at(schema: dict[str, Any], place: Place) -> dict[str, Any]:
    """Return the schema of a place; ``{}`` when it has none."""
    node = schema
    for part in place:
        inner: dict[str, Any] = {}
        for option in _options(node, schema):
            inner = inner or (
                option.get("items", {})
                if isinstance(part, int)
                else option.get("properties", {}).get(part, {})
            )
        node = inner
    objects = [option for option in _options(node, schema) if "properties" in option]
    return {**(objects[0] if objects else {}), **node}


def _options(node: dict[str, Any], schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if "$ref" in node:
        yield from _options(schema["$defs"][node["$ref"].rsplit("/", 1)[-1]], schema)
    for option in (*node.get("anyOf", ()), *node.get("oneOf", ())):
        yield from _options(option, schema)
    yield node


def _short(value: Any) -> str:
    text = json.dumps(value, default=float, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."
