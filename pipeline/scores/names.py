"""Which model a source means by a name: by alias, by id, or written alike; never by likeness.

A wrong match would put one model's score beside another one's price, so a name that could mean two
models means none.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pipeline.scores.aliases import Alias, alias_key

# 20241022 or 2024-10-22, after a separator, at the end of the name or before its variant.
_DATE = re.compile(r"[-@_. ](20\d{2})[-_.]?(0[1-9]|1[0-2])[-_.]?(0[1-9]|[12]\d|3[01])(?=$|:)")
_SEPARATORS = re.compile(r"[\s._/-]+")


@dataclass(frozen=True)
class KnownModel:
    """A model that is or was listed; its other names are exact ones too."""

    model_id: str
    canonical_slug: str | None = None
    hugging_face_id: str | None = None


@dataclass(frozen=True)
class Match:
    """What a name stands for: ``model_id``, or None and the reason."""

    model_id: str | None
    matched_by: str | None = None
    kind: str | None = None
    variant: str | None = None
    reason: str | None = None


class NameMatcher:
    """Matches names with the models that are known; aliases decide first."""

    def __init__(self, models: Iterable[KnownModel], aliases: Mapping[tuple[str, str], Alias]):
        self._aliases = aliases
        self._ids: set[str] = set()
        self._other_names: dict[str, set[str]] = defaultdict(set)
        self._alike: dict[str, set[str]] = defaultdict(set)
        self._alike_but_for_date: dict[str, set[str]] = defaultdict(set)
        for model in models:
            self._ids.add(model.model_id)
            self._alike[normalised(model.model_id)].add(model.model_id)
            self._alike_but_for_date[without_date(model.model_id)].add(model.model_id)
            # Slug and repository are shared with the :free row, which has its own id.
            if ":" not in model.model_id:
                for name in (model.canonical_slug, model.hugging_face_id):
                    if name:
                        self._other_names[name].add(model.model_id)

    def match(self, source: str, name: str) -> Match:
        """Return the model that ``source`` means by ``name``."""
        alias = self._aliases.get(alias_key(source, name)) or self._aliases.get(
            alias_key("*", name)
        )
        if alias is not None:
            if alias.model_id not in self._ids:
                return Match(None, reason=f"its alias {alias.model_id} was never listed")
            return Match(alias.model_id, "alias", alias.kind, alias.variant)
        if name in self._ids:
            return Match(name, "id")
        for found, matched_by in (
            (self._other_names.get(name), "id"),
            # With its date first: two checkpoints of one model differ in nothing else.
            (self._alike.get(normalised(name)), "normalised"),
            (self._alike_but_for_date.get(without_date(name)), "normalised"),
        ):
            if found:
                return _only_one(found, matched_by)
        return Match(None, reason="no model is written like this")


def normalised(name: str) -> str:
    """Return a name without its vendor, in small letters, every separator a dash.

    A variant after a colon stays: ``x`` is not ``x:free``.
    """
    return _SEPARATORS.sub("-", name.strip().rpartition("/")[2].lower()).strip("-")


def without_date(name: str) -> str:
    """Return a name as ``normalised`` does, its date taken off as well."""
    return normalised(_DATE.sub("", name.strip()))


def _only_one(found: set[str], matched_by: str) -> Match:
    if len(found) > 1:
        return Match(None, reason=f"it could be any of {', '.join(sorted(found))}")
    return Match(next(iter(found)), matched_by)
