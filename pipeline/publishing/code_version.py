"""Which code made a snapshot: the version, and a hash of everything that decides its content."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from pipeline.release import release

ROOT = Path(__file__).resolve().parents[2]
DECIDES_CONTENT = (
    "pipeline/**/*.py",
    "pipeline/**/*.sql",
    "dbt_like_sql/**/*.sql",
    "dbt_like_sql/**/*.yml",
)


@cache
def code_version() -> str:
    """Return ``<version>+<hash of sources>``: between releases the version alone says little."""
    digest = hashlib.sha256()
    for path in sorted(path for pattern in DECIDES_CONTENT for path in ROOT.glob(pattern)):
        digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0")
        digest.update(path.read_bytes() + b"\0")
    return f"{release()}+{digest.hexdigest()[:12]}"
