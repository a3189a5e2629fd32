"""Landing of imported scores: each file as it came, before anything reads it.

An import is ``scores/<day>/<import_id>/{scores.csv or scores.json,manifest.json}``, read-only, and
never changes. To take one back, remove its folder and publish again.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from pydantic import AwareDatetime, BaseModel, ConfigDict, ValidationError

from pipeline.landing import CorruptLandingError
from pipeline.landing.sealing import turn_of
from pipeline.scores.cells import FileKind

MANIFEST = "manifest.json"
_IMPORT_ID = re.compile(r"\d{8}T\d{6}Z-[0-9a-f]{8}")


class ScoreImport(BaseModel):
    """What the manifest of an import says."""

    model_config = ConfigDict(frozen=True)

    import_id: str
    imported_at_utc: AwareDatetime
    file_name: str
    kind: FileKind
    bytes: int
    sha256: str


class ScoreLanding:
    """All imports of scores below the landing folder ``root``."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._scores = root / "scores"

    def keep(
        self, body: bytes, *, file_name: str, kind: FileKind, now: datetime
    ) -> tuple[ScoreImport, bool]:
        """Keep a file; return its manifest, and whether it is new: the same bytes are kept once."""
        sha256 = hashlib.sha256(body).hexdigest()
        instant = now.astimezone(UTC)
        manifest = ScoreImport(
            import_id=f"{instant:%Y%m%dT%H%M%SZ}-{sha256[:8]}",
            imported_at_utc=instant,
            file_name=file_name,
            kind=kind,
            bytes=len(body),
            sha256=sha256,
        )
        with turn_of(self._root):
            for before in self.imports(on_corrupt=lambda _: None):
                if before.sha256 == sha256 and before.kind == kind:
                    return before, False
            self._write(manifest, body)
        return manifest, True

    def imports(
        self, on_corrupt: Callable[[CorruptLandingError], None] | None = None
    ) -> list[ScoreImport]:
        """Return the manifests of all imports, oldest first.

        One that cannot be believed is handed to ``on_corrupt`` and left out; without
        ``on_corrupt`` its ``CorruptLandingError`` is raised.
        """
        found = []
        for folder in self._scores.glob("*/*"):
            if not _IMPORT_ID.fullmatch(folder.name):
                continue
            try:
                found.append(_read_manifest(folder))
            except CorruptLandingError as error:
                if on_corrupt is None:
                    raise
                on_corrupt(error)
        return sorted(found, key=lambda each: (each.imported_at_utc, each.import_id))

    def body(self, manifest: ScoreImport) -> bytes:
        """Return the file as it came; raises ``CorruptLandingError`` when it is another."""
        path = self._folder(manifest) / _file_name(manifest)
        try:
            body = path.read_bytes()
        except FileNotFoundError:
            raise CorruptLandingError(path, "is missing") from None
        if hashlib.sha256(body).hexdigest() != manifest.sha256:
            raise CorruptLandingError(path, "is not what was imported (its sha256 differs)")
        return body

    def _folder(self, manifest: ScoreImport) -> Path:
        return self._scores / f"{manifest.imported_at_utc:%Y-%m-%d}" / manifest.import_id

    def _write(self, manifest: ScoreImport, body: bytes) -> None:
        final = self._folder(manifest)
        folder = final.with_name(f"{final.name}.inprogress")
        folder.mkdir(parents=True, exist_ok=True)  # one of a process that died may be there
        _write_durably(folder / _file_name(manifest), body)
        _write_durably(folder / MANIFEST, manifest.model_dump_json(indent=2).encode() + b"\n")
        folder.rename(final)


def _write_durably(path: Path, body: bytes) -> None:
    path.unlink(missing_ok=True)
    with path.open("xb") as file:
        file.write(body)
        file.flush()
        os.fsync(file.fileno())
    path.chmod(0o444)


def _file_name(manifest: ScoreImport) -> str:
    return f"scores.{manifest.kind}"


def _read_manifest(folder: Path) -> ScoreImport:
    path = folder / MANIFEST
    try:
        manifest = ScoreImport.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        raise CorruptLandingError(path, "is missing") from None
    except ValidationError as error:
        raise CorruptLandingError(path, f"is no manifest ({error.errors()[0]['msg']})") from None
    if manifest.import_id != folder.name:
        raise CorruptLandingError(path, f"names {manifest.import_id}, not its folder's")
    return manifest
