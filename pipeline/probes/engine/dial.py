"""Opening a TCP connection: the host's addresses in turn, none of them waited for too long."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from pipeline.probes.engine.clocks import ask_for_stamps
from pipeline.probes.engine.polling import WRITE, Poller

if TYPE_CHECKING:
    from pipeline.probes.engine.attempt import Attempt


class Address(NamedTuple):
    """An address of a host, as ``getaddrinfo`` gives it."""

    family: int
    sockaddr: Any


class ConnectError(Exception):
    """There is no connection; one line."""


class Dial:
    """A connection being opened for ``attempt``; each address has an equal share of the time.

    Raises ``ConnectError`` when no address is left to try.
    """

    def __init__(
        self, poller: Poller, addresses: Sequence[Address], connect_s: float, attempt: Attempt
    ) -> None:
        self.attempt = attempt
        self.peer: str | None = None
        self._poller = poller
        self._addresses = list(addresses)
        self._share_ns = int(connect_s * 1e9) // len(addresses)
        self._began_ns = 0
        self._socket: socket.socket | None = None
        self._is_answered = False
        self._try_next()

    def on_events(self, _events: int, _is_late: bool) -> bool:
        """Leave it to ``connected`` to find out what happened, which cannot wait."""
        self._is_answered = True
        return False

    def connected(self) -> socket.socket | None:
        """Return the socket once it is connected, still watched; it is the caller's then."""
        opening = self._socket
        if opening is None or not self._is_answered:
            return None
        if code := opening.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
            self._try_next(os.strerror(code))
            return None
        self._socket = None
        return opening

    def hurry(self, now_ns: int) -> None:
        """Try the next address, if there is one and this one has used up its share."""
        if self._addresses and now_ns - self._began_ns > self._share_ns:
            self._try_next()

    def close(self) -> None:
        """Give up."""
        if self._socket is not None:
            self._poller.forget(self._socket.fileno())
            self._socket.close()
            self._socket = None

    def _try_next(self, reason: str = "no answer") -> None:
        self.close()
        self._began_ns = time.monotonic_ns()
        self._is_answered = False
        while self._addresses:
            address = self._addresses.pop(0)
            try:
                self._socket = _begin_to_connect(address)
            except OSError as error:
                reason = error.strerror or reason
                continue
            self.peer = address.sockaddr[0]
            self._poller.watch(self._socket.fileno(), WRITE, self)
            return
        raise ConnectError(reason)


def _begin_to_connect(address: Address) -> socket.socket:
    opening = socket.socket(address.family, socket.SOCK_STREAM)
    try:
        opening.setblocking(False)
        opening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        ask_for_stamps(opening)
        opening.connect(address.sockaddr)
    except BlockingIOError:
        pass  # it is under way
    except OSError:
        opening.close()
        raise
    return opening
