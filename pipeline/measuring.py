"""A probe has the machine to itself: sweeps, loads and builds wait for it, and it for them.

Two locks in the data folder, both freed by the kernel when their holder is killed. Work on the
market passes the gate, then stands on the floor for as long as it lasts, beside other work. A probe
shuts the gate behind itself, so that no more work comes, and waits until the floor is empty.
"""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from pipeline import locks
from pipeline.settings import Settings

GATE = ".measuring.lock"
FLOOR = ".measuring.floor.lock"


class MachineBusyError(Exception):
    """A probe, or other work, did not end in time."""


@contextmanager
def measuring(settings: Settings) -> Iterator[None]:
    """Keep the machine for a probe; raises ``MachineBusyError`` after the warehouse's timeout.

    Not to be entered while ``while_not_measuring`` lasts: it would wait for itself.
    """
    with _opened(settings, GATE) as gate, _opened(settings, FLOOR) as floor:
        _take(settings, gate, fcntl.LOCK_EX, lambda: _probe_at(gate))
        locks.write_holder(gate)
        _take(settings, floor, fcntl.LOCK_EX, lambda: "a sweep, load or build is under way")
        yield


@contextmanager
def while_not_measuring(settings: Settings) -> Iterator[None]:
    """Keep probes waiting while work on the market lasts; raises ``MachineBusyError``.

    Not to be entered twice by one process: between the two a probe may have shut the gate.
    """
    with _opened(settings, FLOOR) as floor:
        with _opened(settings, GATE) as gate:
            _take(settings, gate, fcntl.LOCK_SH, lambda: _probe_at(gate))
            # A probe leaves the floor before it opens the gate, so there is nothing to wait for.
            fcntl.flock(floor, fcntl.LOCK_SH)
        yield


def _opened(settings: Settings, name: str) -> TextIO:
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    return (settings.data_dir / name).open("a+")


def _probe_at(gate: TextIO) -> str:
    return f"a probe ({locks.holder_of(gate)}) is measuring"


def _take(settings: Settings, lock: TextIO, operation: int, what_is_on: Callable[[], str]) -> None:
    try:
        locks.take(lock, operation, settings.warehouse_lock_timeout_s, what_is_on)
    except BlockingIOError:
        raise MachineBusyError(
            f"{what_is_on()} for longer than TOKENTAPE_WAREHOUSE_LOCK_TIMEOUT_S; "
            "try again when that has ended"
        ) from None
