"""A client's connection: kernel time stamps of what comes, own time stamps of what goes."""

from __future__ import annotations

import socket
import ssl
import struct
from collections.abc import Callable
from contextlib import suppress
from time import monotonic_ns, time_ns
from typing import Literal

from pipeline.sandbox.provider.loop import Loop
from pipeline.sandbox.provider.tls import TlsLayer
from pipeline.sandbox.wire import reset_on_close

# Linux's name for it; the module has none.
SO_TIMESTAMPNS = 35
_TIMESPEC = struct.Struct("@qq")
_CONTROL_SIZE = socket.CMSG_SPACE(_TIMESPEC.size)
_PIECE = 1 << 16


class Connection:
    """Calls ``on_data`` when bytes have come, ``on_gone`` once when it has ended.

    ``arrived_ns`` is when the kernel took in the last segment of what was read last. All that is
    sent is in the order of the calls of ``sealed``.
    """

    def __init__(
        self, loop: Loop, client: socket.socket, number: int, tls: ssl.SSLContext | None
    ) -> None:
        self.number = number
        self.accepted_ns = monotonic_ns()
        self.arrived_ns = 0
        self.stamp_source: Literal["kernel", "user"] = "user"
        self.received = bytearray()
        self.is_closed = False
        self.on_data: Callable[[], None] = _nothing
        self.on_gone: Callable[[], None] = _nothing
        self._loop = loop
        self._socket = client
        self._tls = TlsLayer(tls) if tls else None
        self._backlog = bytearray()
        self._is_ending = False
        client.setblocking(False)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        loop.watch(client, self._ready)

    def sealed(self, data: bytes) -> bytes:
        """Return the bytes that carry ``data`` on the wire."""
        return self._tls.seal(data) if self._tls else data

    def send(self, wire_data: bytes) -> int:
        """Send what ``sealed`` returned; return the time right before."""
        if self._backlog:
            self._backlog += wire_data
            return monotonic_ns()
        sent_ns = monotonic_ns()
        try:
            sent = self._socket.send(wire_data)
        except BlockingIOError:
            sent = 0
        except OSError:
            self._gone()
            return sent_ns
        if sent < len(wire_data):
            self._backlog += wire_data[sent:]
            self._loop.watch_also_writing(self._socket, wanted=True)
        return sent_ns

    def end(self, *, is_sound: bool = True) -> None:
        """Close when all is sent; without the farewell of TLS when it is not ``is_sound``."""
        if self.is_closed:
            return
        if is_sound and self._tls:
            self.send(self._tls.farewell())
        self._is_ending = True
        if not self._backlog:
            self._gone()

    def reset(self) -> None:
        """Close with a reset instead of a regular end."""
        if not self.is_closed:
            reset_on_close(self._socket)
            self._gone()

    def _ready(self) -> None:
        if self._backlog:
            self._flush()
        if not self.is_closed:
            self._read()

    def _read(self) -> None:
        try:
            data, control, _, _ = self._socket.recvmsg(_PIECE, _CONTROL_SIZE)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._gone()
            return
        self._stamp(control)
        if self._tls:
            try:
                data, answer = self._tls.receive(data)
            except ssl.SSLError:
                self._gone()
                return
            if answer:
                self.send(answer)
        self.received += data
        if data:
            self.on_data()

    def _stamp(self, control: list[tuple[int, int, bytes]]) -> None:
        for level, kind, value in control:
            if (level, kind) == (socket.SOL_SOCKET, SO_TIMESTAMPNS):
                seconds, nanoseconds = _TIMESPEC.unpack(value)
                self.arrived_ns = seconds * 1_000_000_000 + nanoseconds - _real_minus_monotonic()
                self.stamp_source = "kernel"
                return
        self.arrived_ns, self.stamp_source = monotonic_ns(), "user"

    def _flush(self) -> None:
        try:
            sent = self._socket.send(self._backlog)
        except BlockingIOError:
            return
        except OSError:
            self._gone()
            return
        del self._backlog[:sent]
        if not self._backlog:
            self._loop.watch_also_writing(self._socket, wanted=False)
            if self._is_ending:
                self._gone()

    def _gone(self) -> None:
        if self.is_closed:
            return
        self.is_closed = True
        self._loop.forget(self._socket)
        with suppress(OSError):
            self._socket.close()
        self.on_gone()
        # Who is called holds us, and no garbage collector runs here.
        self.on_data = self.on_gone = _nothing


def _nothing() -> None:
    pass


def stamp_arrivals(server: socket.socket) -> None:
    """Let the kernel stamp what arrives at the connections that ``server`` accepts."""
    with suppress(OSError):  # elsewhere than on Linux the time of reading must do
        server.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)


def _real_minus_monotonic() -> int:
    """Return the offset of the clocks; best of three, as one may be interrupted in between."""
    tries = []
    for _ in range(3):
        before, real, after = monotonic_ns(), time_ns(), monotonic_ns()
        tries.append((after - before, real - (before + after) // 2))
    return min(tries)[1]
