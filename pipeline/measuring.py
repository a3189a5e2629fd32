"""A probe has the machine to itself: sweeps, loads and builds wait for it, and it for them.

Two locks in the data folder, both freed by the kernel when their holder is killed. Work on the
market passes the gate, then stands on the floor for as long as it lasts, beside other work. A probe
shuts the gate behind itself, so that no more work comes, and waits until the floor is empty.
"""

from __future__ import annotations

import fcntl
import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from pipeline.settings import Settings

log = logging.getLogger("tokentape")

GATE = ".measuring.lock"
FLOOR = ".measuring.floor.lock"
POLL_S = 0.05


class MachineBusyError(Exception):
    """A probe, or other work, did not end in time."""


@contextmanager
def measuring(settings: Settings) -> Iterator[None]:
    """Keep the machine for a probe; raises ``MachineBusyError`` after the warehouse's timeout.

    Not to be entered while ``while_not_measuring`` lasts: it would wait for itself.
    """
    deadline = time.monotonic() + settings.warehouse_lock_timeout_s
    with _opened(settings, GATE) as gate, _opened(settings, FLOOR) as floor:
        _take(gate, fcntl.LOCK_EX, deadline, lambda: _probe_at(gate))
        gate.truncate(0)
        gate.write(f"process {os.getpid()}")
        gate.flush()
        _take(floor, fcntl.LOCK_EX, deadline, lambda: "a sweep, load or build is under way")
        yield


@contextmanager
def while_not_measuring(settings: Settings) -> Iterator[None]:
    """Keep probes waiting while work on the market lasts; raises ``MachineBusyError``.

    Not to be entered twice by one process: between the two a probe may have shut the gate.
    """
    deadline = time.monotonic() + settings.warehouse_lock_timeout_s
    with _opened(settings, FLOOR) as floor:
        with _opened(settings, GATE) as gate:
            _take(gate, fcntl.LOCK_SH, deadline, lambda: _probe_at(gate))
            # A probe leaves the floor before it opens the gate, so there is nothing to wait for.
            fcntl.flock(floor, fcntl.LOCK_SH)
        yield


def _opened(settings: Settings, name: str) -> TextIO:
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    return (settings.data_dir / name).open("a+")


def _probe_at(gate: TextIO) -> str:
    gate.seek(0)
    return f"a probe ({gate.read() or 'an unnamed process'}) is measuring"


def _take(lock: TextIO, operation: int, deadline: float, what_is_on: Callable[[], str]) -> None:
    is_told = False
    while True:
        try:
            fcntl.flock(lock, operation | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise MachineBusyError(
                    f"{what_is_on()} for longer than TOKENTAPE_WAREHOUSE_LOCK_TIMEOUT_S; "
                    "try again when that has ended"
                ) from None
            if not is_told:
                log.info("waiting: %s", what_is_on())
                is_told = True
            time.sleep(POLL_S)
