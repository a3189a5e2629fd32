"""One thread that waits for sockets and for deadlines."""

from __future__ import annotations

import heapq
import select
import selectors
import socket
from collections.abc import Callable
from itertools import count
from time import monotonic_ns
from typing import IO

Action = Callable[[], None]
_LONGEST_WAIT_S = 0.5


class Loop:
    """Calls actions when their file is ready or their time has come."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._deadlines: list[tuple[int, int, Action]] = []
        self._order = count()
        self._is_stopping = False

    def at(self, due_ns: int, action: Action) -> None:
        """Call ``action`` at ``due_ns`` of the monotonic clock; of equals the first first."""
        heapq.heappush(self._deadlines, (due_ns, next(self._order), action))

    def watch(self, file: socket.socket | IO[bytes], action: Action) -> None:
        """Call ``action`` whenever ``file`` can be read."""
        self._selector.register(file, selectors.EVENT_READ, action)

    def watch_also_writing(self, file: socket.socket, *, wanted: bool) -> None:
        """Call the action of ``file`` when it can be written too, or no longer."""
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if wanted else 0)
        self._selector.modify(file, events, self._selector.get_key(file).data)

    def forget(self, file: socket.socket) -> None:
        """Watch ``file`` no longer."""
        self._selector.unregister(file)

    def stop(self) -> None:
        """Return from ``run`` soon; safe in a signal handler."""
        self._is_stopping = True

    def run(self) -> None:
        """Serve until ``stop``."""
        while not self._is_stopping:
            self._wait()
            for key, _ in self._selector.select(0):
                key.data()
            # What falls due meanwhile waits for the next turn, so that no file starves.
            now = monotonic_ns()
            while self._deadlines and self._deadlines[0][0] <= now:
                heapq.heappop(self._deadlines)[2]()
        self._selector.close()

    def _wait(self) -> None:
        wait_s = _LONGEST_WAIT_S
        if self._deadlines:
            wait_s = min(wait_s, (self._deadlines[0][0] - monotonic_ns()) / 1e9)
        if wait_s > 0:
            # The selector's own wait counts whole milliseconds; this one is exact.
            select.select([self._selector], [], [], wait_s)
