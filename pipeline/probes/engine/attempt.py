"""One request on its way: connected, sent once, and answered or broken."""

from __future__ import annotations

import time

import h11

from pipeline.probes.engine.answer import Answer, in_short
from pipeline.probes.engine.clocks import offset_to_utc_ns
from pipeline.probes.engine.connection import Connection
from pipeline.probes.engine.dial import ConnectError, Dial
from pipeline.probes.engine.message import Message
from pipeline.probes.engine.network import Network
from pipeline.probes.engine.tls import TlsSession
from pipeline.probes.exchange import EngineRequest, Fault, FaultKind


class Attempt:
    """Drives a request over ``network`` and notes what happens when.

    Times are CLOCK_MONOTONIC, None for what did not happen; with ``end_ns`` it is over.
    """

    def __init__(
        self, request: EngineRequest, message: Message, network: Network, *, is_alone: bool
    ) -> None:
        self.request = request
        self.origin = message.origin
        self.answer = Answer(message.http)
        self.fault: Fault | None = None
        self.is_new_connection: bool | None = None
        self.peer: str | None = None
        self.dns_ms: float | None = None
        self.scheduled_ns = 0
        self.offset_to_utc_ns = 0
        self.began_ns = 0
        self.connected_ns: int | None = None
        self.tls_done_ns: int | None = None
        self.began_sending_ns: int | None = None
        self.sent_ns: int | None = None
        self.end_ns: int | None = None
        self._message = message.data
        self._network = network
        self._is_alone = is_alone
        self._tls: TlsSession | None = None
        self._dial: Dial | None = None
        self._connection: Connection | None = None

    def begin(self, scheduled_ns: int) -> None:
        """Send the request on an idle connection, or begin to open one."""
        self.scheduled_ns = scheduled_ns
        self.offset_to_utc_ns = offset_to_utc_ns()
        self.began_ns = time.monotonic_ns()
        idle = None if self._is_alone else self._network.take_idle(self.origin)
        self.is_new_connection = idle is None
        if idle is not None:
            idle.attempt = self
            self._connection, self.peer = idle, idle.peer
            self._send(idle)
            return
        try:
            self._open()
        except ConnectError as error:
            self.fail("connect", str(error))

    def advance(self) -> None:
        """Do what has become possible."""
        if self.end_ns is not None:
            return
        try:
            if self._dial is not None:
                self._take_over(self._dial)
            if self._connection is not None:
                self._go_on(self._connection)
        except ConnectError as error:
            self.fail("connect", str(error))
        except h11.RemoteProtocolError as error:
            self.fail("protocol", f"the answer is no HTTP: {in_short(error)}")

    def check(self, now_ns: int) -> None:
        """Give up what takes longer than it may."""
        if self.end_ns is not None:
            return
        limits, reads = self.request.deadlines, self.answer.reads
        taken_s = (now_ns - self.began_ns) / 1e9
        if taken_s > limits.total_s:
            self.fail("timeout", f"not whole after {limits.total_s:g} s")
        elif self._connection is not None and self.began_sending_ns is not None:
            last_ns = max(self._connection.last_send_ns, reads[-1][1] if reads else 0)
            if now_ns - last_ns > limits.idle_s * 1e9:
                self.fail("timeout", f"no byte for {limits.idle_s:g} s")
        elif taken_s > limits.connect_s:
            self.fail("timeout", f"not connected after {limits.connect_s:g} s")
        elif self._dial is not None:
            try:
                self._dial.hurry(now_ns)
            except ConnectError as error:
                self.fail("connect", str(error))

    def fail(self, kind: FaultKind, text: str) -> None:
        """End it here."""
        self._end(time.monotonic_ns(), Fault(kind, text))

    def drop(self) -> None:
        """Never begin it, because we were told to stop."""
        self.scheduled_ns = time.monotonic_ns()
        self.offset_to_utc_ns = offset_to_utc_ns()
        self.fail("stopped", "stopped before it was sent")

    def _open(self) -> None:
        lookup = self._network.lookup(self.origin)
        if lookup.fault is not None:
            self.fail(lookup.fault.kind, lookup.fault.text)
            return
        self.dns_ms = lookup.dns_ms
        self._tls = self._network.tls_session(self.origin)
        connect_s = self.request.deadlines.connect_s
        self._dial = Dial(self._network.poller, lookup.addresses, connect_s, self)

    def _take_over(self, dial: Dial) -> None:
        opened = dial.connected()
        if opened is not None:
            self.connected_ns = time.monotonic_ns()
            self.peer = dial.peer
            self._connection = Connection(self._network.poller, dial, opened, self._tls)
            self._dial = None

    def _go_on(self, connection: Connection) -> None:
        if self.began_sending_ns is None:
            if not connection.shake_hands():
                return
            if self._tls is not None:
                self.tls_done_ns = time.monotonic_ns()
            self._send(connection)
        elif self.sent_ns is None:
            connection.flush()
            self._note_sent(connection)
        for stamp_utc_ns, user_ns, data in connection.take():
            if self.answer.add(stamp_utc_ns, user_ns, data):
                stamp_ns = stamp_utc_ns - self.offset_to_utc_ns if stamp_utc_ns else user_ns
                # Never later, even if a clock was set meanwhile: the next request waits for it.
                self._end(min(stamp_ns, user_ns), None)
                return
        if connection.end is not None:
            if self.answer.is_ended_by_close:
                self._end(time.monotonic_ns(), None)
            else:
                where = "within its answer" if self.answer.reads else "before its answer"
                self.fail("cut", f"{connection.end} {where}")

    def _send(self, connection: Connection) -> None:
        connection.send(self._message)
        self.began_sending_ns = connection.last_send_ns
        self._note_sent(connection)

    def _note_sent(self, connection: Connection) -> None:
        if connection.is_sent:
            self.sent_ns = connection.last_send_ns

    def _end(self, end_ns: int, fault: Fault | None) -> None:
        self.end_ns, self.fault = end_ns, fault
        connection = self._connection
        if self._dial is not None:
            self._dial.close()
        elif connection is not None:
            is_usable = connection.is_sent and connection.end is None and self.answer.keeps_alive
            if is_usable and fault is None and not self._is_alone:
                self._network.keep(self.origin, connection)
            else:
                connection.close()
