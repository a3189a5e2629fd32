"""Landing of model cards: raw answers of the hub that holds them, one folder a pull.

A pull is kept as a sweep is, with the same lines and the same manifest, whose ``sweep_id`` is the
pull's id: ``model_cards/<day>/<pull_id>/{answers.jsonl.gz,manifest.json}``. The subject of an
answer is the repository that was asked for.
"""

from __future__ import annotations

from pathlib import Path

from pipeline.landing.folder import Landing

FOLDER = "model_cards"


class CardLanding(Landing):
    """All pulls of model cards below ``root``; see ``Landing`` for what it can do."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self._sweeps = root / FOLDER
