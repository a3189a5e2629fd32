"""The engine's process: reads batches from standard input, a socket, and answers there.

When its input ends it stops the batch under way, hands over what there is, and ends. It writes
nothing else, because whatever it knows comes with keys.
"""

from __future__ import annotations

import gc
import os
import select
import socket
import sys
from contextlib import suppress
from pathlib import Path
from traceback import extract_tb

from pipeline.probes.engine.batch import run_batch
from pipeline.probes.engine.frames import (
    batch_from_record,
    read_frame,
    result_to_record,
    write_frame,
)
from pipeline.probes.engine.network import Network


def main() -> int:
    """Serve until the parent has had enough."""
    with suppress(OSError):
        os.nice(-10)  # ours to take only with privileges
    gc.freeze()
    gc.disable()
    # A parent that died reads no answer.
    with suppress(BrokenPipeError, ConnectionResetError), socket.socket(fileno=0) as channel:
        return _serve(channel)
    return 0


def _serve(channel: socket.socket) -> int:
    network = Network()
    try:
        while (record := read_frame(channel)) is not None:
            try:
                batch = batch_from_record(record)
                answer = result_to_record(run_batch(batch, network, lambda: _has_more(channel)))
            except Exception as error:
                write_frame(channel, {"error": _place(error)})
                return 1
            write_frame(channel, answer)
            del record, batch, answer
            gc.collect()
    finally:
        network.close()
    return 0


def _has_more(channel: socket.socket) -> bool:
    # The parent waits for its answer now, so all that can come is the end.
    return bool(select.select([channel], [], [], 0)[0])


def _place(error: Exception) -> str:
    # Not its words: they may quote a header.
    frame = extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} in {Path(frame.filename).name}, line {frame.lineno}"


if __name__ == "__main__":
    sys.exit(main())
