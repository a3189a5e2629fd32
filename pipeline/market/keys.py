"""Counts of keys in the answers that no contract knows: drift, seen on the day it starts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, get_args

from pydantic import BaseModel

from pipeline.exact_json import write_json
from pipeline.prices import OVERRIDE_KEYS, PRICING_KEYS

_ENVELOPE = frozenset({"data", "total_count", "links"})
_ENDPOINTS_DATA = frozenset({"id", "name", "created", "description", "architecture", "endpoints"})


class UnknownKeys:
    """Counts unknown keys per kind of object (``model``, ``endpoint.pricing`` ...)."""

    def __init__(self) -> None:
        self._counts: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def count_envelope(self, kind: str, payload: Mapping[str, Any]) -> None:
        """Count the keys around the records of one answer."""
        self._count(kind, payload.keys() - _ENVELOPE)
        if isinstance(payload["data"], dict):
            self._count(kind, payload["data"].keys() - _ENDPOINTS_DATA)

    def count_answer(self, kind: str, answer: BaseModel) -> None:
        """Count the undeclared keys of a typed answer and of the objects in it."""
        if answer.model_extra:
            self._count(kind, answer.model_extra)
        values = answer.__dict__
        for name in _inner_answers(type(answer)):
            if values[name] is not None:
                self.count_answer(f"{kind}.{name}", values[name])
        pricing = values.get("pricing")
        if pricing is not None:
            self._count_pricing(f"{kind}.pricing", pricing)

    def to_json(self) -> str:
        """Return ``{kind: {key: count}}`` with both levels sorted."""
        return write_json(
            {kind: dict(counts) for kind, counts in self._counts.items()}, sort_keys=True
        )

    def _count_pricing(self, kind: str, pricing: Mapping[str, Any]) -> None:
        if not pricing.keys() <= PRICING_KEYS:
            self._count(kind, pricing.keys() - PRICING_KEYS)
        for override in pricing.get("overrides") or ():
            self._count(f"{kind}.overrides", override.keys() - OVERRIDE_KEYS)

    def _count(self, kind: str, keys: Iterable[str]) -> None:
        for key in keys:
            self._counts[kind][key] += 1


@cache
def _inner_answers(kind: type[BaseModel]) -> tuple[str, ...]:
    """Return the fields of ``kind`` that may hold another typed answer."""
    return tuple(
        name
        for name, declared in kind.model_fields.items()
        if any(
            isinstance(part, type) and issubclass(part, BaseModel)
            for part in get_args(declared.annotation)
        )
    )
