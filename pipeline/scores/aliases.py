"""Aliases kept by hand: what a source calls a model, where writing alike does not tell."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

BUNDLED_ALIASES = Path(__file__).with_name("aliases.csv")
USER_ALIASES = "score_aliases.csv"  # below the data folder

KINDS = ("exact", "variant", "base")
_COLUMNS = ("source", "source_name", "model_id", "variant", "kind", "added_by", "added_at")
_MODEL_ID = re.compile(r"[a-z0-9_.-]+/[a-z0-9_.:+-]+")


class ScoreAliasError(Exception):
    """A file of aliases cannot be used; one line: which line, what is wrong, what helps."""


@dataclass(frozen=True)
class Alias:
    """``source_name`` of ``source`` (``*``: of any) means ``model_id``.

    ``kind`` is ``exact``, ``variant`` for another checkpoint or setting of the model, ``base`` for
    the model it was made from.
    """

    source: str
    source_name: str
    model_id: str
    variant: str | None
    kind: str


def alias_key(source: str, name: str) -> tuple[str, str]:
    """Return what an alias is looked up by: case and outer spaces do not matter."""
    return source.strip().lower(), name.strip().lower()


def read_aliases(path: Path) -> dict[tuple[str, str], Alias]:
    """Read a file of aliases by ``alias_key``; raises ``ScoreAliasError``."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = csv.DictReader(file, strict=True)
            if tuple(lines.fieldnames or ()) != _COLUMNS:
                raise ScoreAliasError(f"{path}: the header must be {','.join(_COLUMNS)}")
            aliases: dict[tuple[str, str], Alias] = {}
            for line in lines:
                alias = _alias(line, f"{path} line {lines.line_num}")
                key = alias_key(alias.source, alias.source_name)
                if key in aliases:
                    raise ScoreAliasError(
                        f"{path} line {lines.line_num}: {alias.source_name!r} has an alias above; "
                        "leave one of them in"
                    )
                aliases[key] = alias
    except (UnicodeDecodeError, csv.Error) as error:
        raise ScoreAliasError(f"{path}: it is no CSV in UTF-8 ({error}); save it as one") from None
    refuse_chains(path, aliases.values())
    return aliases


def load_aliases(user_file: Path) -> dict[tuple[str, str], Alias]:
    """Return the bundled aliases and, over them, those of ``user_file`` if it is there."""
    aliases = read_aliases(BUNDLED_ALIASES)
    return aliases | read_aliases(user_file) if user_file.exists() else aliases


def refuse_chains(path: Path, aliases: Iterable[Alias]) -> None:
    """Raise ``ScoreAliasError`` where an alias points at another alias, so also in a circle."""
    found = list(aliases)
    names = {alias.source_name.strip().lower() for alias in found}
    for alias in found:
        is_own_name = alias.model_id == alias.source_name.strip().lower()
        if alias.model_id in names and not is_own_name:
            raise ScoreAliasError(
                f"{path}: {alias.source_name!r} points at {alias.model_id}, which is an alias "
                "itself; point at the model's id at OpenRouter"
            )


def _alias(line: Mapping[str, str | None], place: str) -> Alias:
    cells = {name: (line.get(name) or "").strip() for name in _COLUMNS}
    if not cells["source"] or not cells["source_name"]:
        raise ScoreAliasError(f"{place}: source or source_name is empty; * means any source")
    if not _MODEL_ID.fullmatch(cells["model_id"]):
        raise ScoreAliasError(
            f"{place}: {cells['model_id']!r} is no id of a model; write it like author/slug"
        )
    if cells["kind"] not in KINDS:
        raise ScoreAliasError(f"{place}: kind is {cells['kind']!r}; write {', '.join(KINDS)}")
    return Alias(
        source=cells["source"],
        source_name=cells["source_name"],
        model_id=cells["model_id"],
        variant=cells["variant"] or None,
        kind=cells["kind"],
    )
