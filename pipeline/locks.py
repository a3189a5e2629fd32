"""Locks between processes; the kernel frees them when their holder dies, whatever way."""

from __future__ import annotations

import fcntl
import logging
import os
import time
from collections.abc import Callable
from typing import TextIO

log = logging.getLogger("tokentape")

POLL_S = 0.05
# A person who waits for longer wants to know what for.
TOLD_AFTER_S = 2.0


def take(lock: TextIO, operation: int, timeout_s: float, what_is_on: Callable[[], str]) -> None:
    """Take a lock by flock's ``operation``; it is let go when the file is closed.

    Raises ``BlockingIOError`` when others hold it for longer than ``timeout_s``. ``what_is_on``
    says in a few words what they do.
    """
    begun = time.monotonic()
    is_told = False
    while True:
        try:
            fcntl.flock(lock, operation | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            waited_s = time.monotonic() - begun
            if waited_s >= timeout_s:
                raise
            if waited_s >= TOLD_AFTER_S and not is_told:
                log.warning("waiting: %s", what_is_on())
                is_told = True
        time.sleep(POLL_S)


def write_holder(lock: TextIO) -> None:
    """Write into the file of a lock, opened for appending, that this process holds it."""
    lock.truncate(0)
    lock.write(f"process {os.getpid()}")
    lock.flush()


def holder_of(lock: TextIO) -> str:
    """Return who has written itself into the file of a lock."""
    lock.seek(0)
    return lock.read().strip() or "an unnamed process"
