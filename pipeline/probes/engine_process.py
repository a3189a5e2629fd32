"""The parent's side of the engine: one process for a whole run, given one batch after another."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from pipeline.probes.engine.frames import (
    batch_to_record,
    read_frame,
    result_from_record,
    write_frame,
)
from pipeline.probes.exchange import Batch, BatchResult, EngineReport, Exchange, Fault

_ROOT = Path(__file__).resolve().parents[2]
_PATIENCE_S = 2.0


class EngineError(Exception):
    """The engine ended by itself, or failed; one line."""


class EngineProcess:
    """An engine, as a context manager; its connections stay open from batch to batch.

    ``run`` is for one thread at a time, ``stop`` for any thread and for signal handlers.
    """

    def __init__(self, *, python: str = sys.executable) -> None:
        self._python = python
        self._is_stopped = False

    def __enter__(self) -> Self:
        self._channel, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - the command is ours
                [self._python, "-m", "pipeline.probes.engine"],
                cwd=_ROOT,  # where -m looks first
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                # Ctrl-C is for us, not for it.
                start_new_session=True,
            )
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._channel.close()
        self._end()

    def run(self, batch: Batch) -> BatchResult:
        """Run ``batch`` and wait for its result; raises ``EngineError``.

        After ``stop`` all that is not over has the fault "stopped", in later batches too.
        """
        record = None
        if not self._is_stopped:
            try:
                write_frame(self._channel, batch_to_record(batch))
                record = read_frame(self._channel)
            except OSError:
                pass  # it is gone
            except BaseException:
                self._process.kill()  # its answer would be taken for that of the next batch
                raise
        if record is None and self._is_stopped:
            return _nothing_sent(batch)
        if record is None:
            raise EngineError(f"the engine ended by itself with code {self._end()}")
        if "error" in record:
            raise EngineError(f"the engine failed: {record['error']}")
        return result_from_record(record)

    def stop(self) -> None:
        """Let ``run`` return soon with what there is; nothing is sent from now on."""
        self._is_stopped = True
        with suppress(OSError):
            self._channel.shutdown(socket.SHUT_WR)  # the end of its input tells the engine

    def _end(self) -> int:
        try:
            return self._process.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()


def _nothing_sent(batch: Batch) -> BatchResult:
    now_ns = time.monotonic_ns()
    fault = Fault("stopped", "stopped before it was sent")
    exchanges = tuple(
        Exchange(request.request_id, now_ns, time.time_ns() - now_ns, fault=fault)
        for request in batch.requests
    )
    return BatchResult(exchanges, EngineReport(None, None, 0.0, None, None))
