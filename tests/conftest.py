"""What several test modules share."""

from __future__ import annotations

from pathlib import Path

import pytest

RECORDINGS = Path(__file__).resolve().parents[2] / "shared" / "recordings"


@pytest.fixture(scope="session")
def recordings() -> Path:
    """Folder of recorded answers of the live market; not part of the project."""
    if not RECORDINGS.is_dir():
        pytest.skip(f"no recorded answers at {RECORDINGS}")
    return RECORDINGS
