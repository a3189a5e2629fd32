"""When each target was last asked, kept from run to run: only an idle one can start cold."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from pipeline.probes.config import Target
from pipeline.probes.sample import Sample


class LastSent:
    """A file of instants, for any number of processes at a time.

    A target is known by its address, model and tag: its name may change from file to file. What
    cannot be read counts as never asked.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def of(self, targets: Iterable[Target]) -> dict[str, datetime]:
        """Return when targets were last asked, by their names; those never asked are left out."""
        try:
            instants = _instants(self._path.read_text("utf-8"))
        except OSError:
            return {}
        return {
            target.name: instants[_key(target)] for target in targets if _key(target) in instants
        }

    def note(self, targets: Iterable[Target], samples: Iterable[Sample]) -> None:
        """Note when ``samples`` were sent to ``targets``."""
        keys = {target.name: _key(target) for target in targets}
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a+", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            instants = _instants(file.read())
            for sample in samples:
                at, key = sample.sent_at_utc, keys[sample.target]
                if at is not None:
                    instants[key] = max(at, instants.get(key, at))
            file.truncate(0)
            json.dump({key: at.isoformat() for key, at in instants.items()}, file)


def _key(target: Target) -> str:
    return f"{target.base_url} {target.model} {target.tag or ''}".strip()


def _instants(text: str) -> dict[str, datetime]:
    try:
        return {str(key): datetime.fromisoformat(at) for key, at in json.loads(text).items()}
    except (ValueError, AttributeError, TypeError):
        return {}
