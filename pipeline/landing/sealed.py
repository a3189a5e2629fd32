"""Sealed folders of lines: found by day, their manifests believed, their lines verified.

A sealed folder is ``<day>/<id>/{<lines>.gz,manifest.json}``, read-only, and never changes.
"""

from __future__ import annotations

import gzip
import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Generic, Literal, TypeVar

from pydantic import AwareDatetime, BaseModel, ConfigDict, ValidationError

MANIFEST = "manifest.json"


class Begun(BaseModel):
    """What every kind of landed folder knows when it begins; its day is that of the start, UTC."""

    model_config = ConfigDict(frozen=True)

    format: Literal[1] = 1
    partition_date: date
    started_at_utc: AwareDatetime
    market: str


Manifest = TypeVar("Manifest", bound=Begun)


class CorruptLandingError(Exception):
    """A sealed file is not as it was sealed; ``path`` says which."""

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(
            f"{path} {problem}; put it back from a copy, or move its folder out of landing "
            "to go on without it"
        )
        self.path = path


OnCorrupt = Callable[[CorruptLandingError], None]


@dataclass(frozen=True)
class Landed(Generic[Manifest]):
    """A sealed folder, which is named by its id, and its manifest."""

    path: Path
    manifest: Manifest


@dataclass(frozen=True)
class FolderKind(Generic[Manifest]):
    """What tells one kind of landed folder from another.

    ``id_field`` of its manifest is the folder's name, which matches ``id_pattern``.
    """

    id_pattern: re.Pattern[str]
    manifest: type[Manifest]
    id_field: str


def days_of(folder: Path) -> Iterator[tuple[date, Path]]:
    """Return the days that ``folder`` has, in no order."""
    for day_folder in folder.iterdir() if folder.is_dir() else ():
        try:
            day = date.fromisoformat(day_folder.name)
        except ValueError:
            continue
        yield day, day_folder


def sealed_folders(
    parent: Path,
    kind: FolderKind[Manifest],
    first: date | None,
    last: date | None,
    on_corrupt: OnCorrupt | None,
) -> list[Landed[Manifest]]:
    """Return the sealed folders of the days ``first`` to ``last``, oldest start first.

    One whose manifest cannot be believed is handed to ``on_corrupt`` and left out; without
    ``on_corrupt`` its ``CorruptLandingError`` is raised.
    """
    found = []
    for day, day_folder in days_of(parent):
        if (first is None or first <= day) and (last is None or day <= last):
            for folder in day_folder.iterdir():
                if not kind.id_pattern.fullmatch(folder.name):
                    continue
                try:
                    found.append(Landed(folder, _read_manifest(folder, kind)))
                except CorruptLandingError as error:
                    if on_corrupt is None:
                        raise
                    on_corrupt(error)
    return sorted(found, key=lambda each: (each.manifest.started_at_utc, each.path.name))


def sealed_lines(path: Path, sha256: str) -> Iterator[bytes]:
    """Return the lines of a sealed file.

    The checksum is verified before the first one; raises ``CorruptLandingError``.
    """
    try:
        is_sound = sha256_of(path) == sha256
    except FileNotFoundError:
        raise CorruptLandingError(path, "is missing") from None
    if not is_sound:
        raise CorruptLandingError(path, "is not what was sealed (its sha256 differs)")
    return _lines(path)


def sha256_of(path: Path) -> str:
    """Return the checksum of a file, as manifests have it."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read_manifest(folder: Path, kind: FolderKind[Manifest]) -> Manifest:
    path = folder / MANIFEST
    try:
        manifest = kind.manifest.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        raise CorruptLandingError(path, "is missing") from None
    except ValidationError as error:
        raise CorruptLandingError(
            path, f"is no manifest of format 1 ({error.errors()[0]['msg']})"
        ) from None
    named = (getattr(manifest, kind.id_field), str(manifest.partition_date))
    if named != (folder.name, folder.parent.name):
        raise CorruptLandingError(path, f"names {named[0]} of {named[1]}, not its folder's")
    return manifest


def _lines(path: Path) -> Iterator[bytes]:
    with gzip.open(path, "rb") as lines:
        yield from lines
