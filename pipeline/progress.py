"""How far a long job is: a bar on a terminal, else a line a minute in the log."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from tqdm import tqdm

log = logging.getLogger("tokentape")

SECONDS_BETWEEN_LINES = 60.0


class _Bar(tqdm):  # type: ignore[type-arg]
    """A bar without tqdm's watching thread, which would outlive it."""

    monitor_interval = 0


class Progress:
    """Counts the steps of one job and shows them; not thread-safe."""

    def __init__(
        self,
        title: str,
        *,
        stream: TextIO | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._title = title
        self._stream = stream if stream is not None else sys.stderr
        self._monotonic = monotonic
        self._total = self._done = self._failed = 0
        self._bar: _Bar | None = None
        self._started = self._last_line = monotonic()

    @contextmanager
    def counting(self, total: int) -> Iterator[None]:
        """Show ``total`` steps ahead; at the end close the bar, or write the last line."""
        self._total, self._done, self._failed = total, 0, 0
        self._started = self._last_line = self._monotonic()
        if self._stream.isatty():
            self._bar = _Bar(total=total, desc=self._title, file=self._stream, dynamic_ncols=True)
        try:
            yield
        finally:
            if self._bar is None:
                self._write_line()
            else:
                self._bar.close()
                self._bar = None

    def advance(self, *, has_failed: bool = False) -> None:
        """Count one step as done."""
        self._done += 1
        self._failed += has_failed
        if self._bar is not None:
            if has_failed:
                self._bar.set_postfix(failed=self._failed, refresh=False)
            self._bar.update()
        elif self._monotonic() - self._last_line >= SECONDS_BETWEEN_LINES:
            self._write_line()

    def _write_line(self) -> None:
        self._last_line = self._monotonic()
        log.info(
            "%s: %d of %d done, %d failed, %.0f s",
            self._title,
            self._done,
            self._total,
            self._failed,
            self._last_line - self._started,
        )


class Unseen(Progress):
    """The progress of one small job of many: nobody waits for it."""

    @contextmanager
    def counting(self, total: int) -> Iterator[None]:
        """Show nothing."""
        yield

    def advance(self, *, has_failed: bool = False) -> None:
        """Show nothing."""
