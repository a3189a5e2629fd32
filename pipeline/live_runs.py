"""Which of Dagster's runs are alive: one that was killed cannot say that it ended, its lock can.

Dagster itself would keep the slot that a killed run held in a pool for ever, and the next run
would wait for it. A run holds a file lock while it lasts, which the kernel frees however it dies.
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dagster as dg

FOLDER = "running"


@contextmanager
def turn_in(home: Path) -> Iterator[None]:
    """Wait for this process's turn with Dagster's folder ``home``."""
    with (home / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def alive(instance: dg.DagsterInstance, run_id: str) -> Iterator[None]:
    """Show that a run lives; may be entered again within itself."""
    home = Path(instance.root_directory)
    with turn_in(home):
        (home / FOLDER).mkdir(exist_ok=True)
        lock = (home / FOLDER / run_id).open("a")
        fcntl.flock(lock, fcntl.LOCK_SH)
    with lock:
        yield


def end_dead_runs(instance: dg.DagsterInstance) -> None:
    """Report runs failed whose process is gone, and free their slots in pools."""
    home = Path(instance.root_directory)
    with turn_in(home):
        for path in (home / FOLDER).glob("*"):
            if not _is_let_go(path):
                continue
            run = instance.get_run_by_id(path.name)
            if run is not None and not run.is_finished:
                instance.report_run_failed(run, "its process is gone, it was killed")
            # One that was stopped, rather than killed, may have kept its slot as well.
            instance.event_log_storage.free_concurrency_slots_for_run(path.name)
            path.unlink()


def _is_let_go(path: Path) -> bool:
    with path.open() as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True
