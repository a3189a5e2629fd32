"""Which sockets have something for us: epoll, or poll where there is none.

``selectors`` does the same at several times the price, which is paid at every read.
"""

from __future__ import annotations

import select
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pipeline.probes.engine.connection import Connection
    from pipeline.probes.engine.dial import Dial

# poll and epoll share these numbers, and those of errors, which come unasked.
READ = select.POLLIN
WRITE = select.POLLOUT


class Poller:
    """The watched descriptors; ``owners`` says whose they are."""

    def __init__(self) -> None:
        self.owners: dict[int, Connection | Dial] = {}
        if sys.platform == "linux":
            self._poll = select.epoll()
            self._units_per_s = 1.0
        else:
            self._poll = select.poll()
            self._units_per_s = 1000.0

    def watch(self, fd: int, events: int, owner: Connection | Dial) -> None:
        """Report ``events`` of a new descriptor from now on."""
        self._poll.register(fd, events)
        self.owners[fd] = owner

    def change(self, fd: int, events: int, owner: Connection | Dial) -> None:
        """Report other events of it, to ``owner``."""
        self._poll.modify(fd, events)
        self.owners[fd] = owner

    def forget(self, fd: int) -> None:
        """Report nothing more of it; to be called before it is closed."""
        self._poll.unregister(fd)
        del self.owners[fd]

    def wait(self, seconds: float) -> list[tuple[int, int]]:
        """Return (descriptor, events) as soon as there are some, or nothing after ``seconds``."""
        return self._poll.poll(seconds * self._units_per_s)

    def close(self) -> None:
        """Let go of the kernel's side of it."""
        if sys.platform == "linux":
            self._poll.close()
