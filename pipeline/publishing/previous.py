"""The snapshot before: what is the same in the next one is linked, not stored twice."""

from __future__ import annotations

import filecmp
import logging
import os
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pipeline.publishing.history import Month
from pipeline.publishing.manifest import Manifest, ManifestError, PublishedFile, read_manifest
from pipeline.publishing.swap import current_snapshot

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Previous:
    """A snapshot that is up, or None in both fields when there is none to build on."""

    folder: Path | None
    files: Mapping[str, PublishedFile]

    def link_month(self, month: Month, folder: Path) -> PublishedFile | None:
        """Link the file of ``month`` into ``folder``, unread; None when it must be written."""
        entry = self.files.get(month.path)
        if self.folder is None or entry is None:
            return None
        source = self.folder / month.path
        is_as_it_was = (
            entry.source_fingerprint == month.source_fingerprint
            and source.is_file()
            and source.stat().st_size == entry.bytes
        )
        if not is_as_it_was:
            return None
        target = folder / month.path
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(source, target)
        except OSError:  # no hard links here, or none left for this file: it is still unchanged
            shutil.copyfile(source, target)
        return entry

    def link_unchanged(
        self, folder: Path, files: Mapping[str, PublishedFile], paths: Iterable[str]
    ) -> int:
        """Replace those of ``paths`` that came out as before by links; return how many did."""
        linked = 0
        for path in paths:
            before = self.files.get(path)
            if self.folder is None or before is None or before.sha256 != files[path].sha256:
                continue
            spare = folder / f"{path}.same"
            try:
                os.link(self.folder / path, spare)
            except OSError:  # gone, no hard links here, or no more of this file: keep the new one
                continue
            # Compared byte for byte, so that damage to an old file stays in the old snapshot.
            if filecmp.cmp(spare, folder / path, shallow=False):
                spare.replace(folder / path)
                linked += 1
            else:
                spare.unlink()
        return linked


def previous_snapshot(published_dir: Path) -> Previous:
    """Return the current snapshot; a damaged one is not built on, and not in the way."""
    folder = current_snapshot(published_dir)
    if folder is not None:
        try:
            manifest: Manifest = read_manifest(folder)
            return Previous(folder, manifest.files)
        except (ManifestError, FileNotFoundError) as error:
            logger.warning("building on nothing: %s", error)
    return Previous(None, {})
