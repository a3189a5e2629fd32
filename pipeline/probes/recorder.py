"""Where a run goes as it comes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pipeline.probes.records import BatchRecord, SelfCheck
from pipeline.probes.transcript import Transcript


class Recorder(Protocol):
    """Keeps a run as it comes; what was handed over must outlive a kill."""

    def add_self_check(self, check: SelfCheck) -> None:
        """Keep what a self-check found."""

    def add_transcripts(self, transcripts: Sequence[Transcript]) -> None:
        """Keep the raw records of a batch, before anything reads them."""

    def add_batch(self, batch: BatchRecord) -> None:
        """Keep how a batch went."""


class NoRecorder:
    """Keeps nothing."""

    def add_self_check(self, check: SelfCheck) -> None:
        """Forget it."""

    def add_transcripts(self, transcripts: Sequence[Transcript]) -> None:
        """Forget them."""

    def add_batch(self, batch: BatchRecord) -> None:
        """Forget it."""
