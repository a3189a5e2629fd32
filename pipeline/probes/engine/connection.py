"""A connection that requests go over, one at a time; each read from it has its stamp."""

from __future__ import annotations

import socket
import ssl
import sys
import time
from fcntl import ioctl
from termios import FIONREAD
from typing import TYPE_CHECKING

from pipeline.probes.engine.clocks import ANCILLARY_BYTES, stamp_utc_ns
from pipeline.probes.engine.dial import ConnectError, Dial
from pipeline.probes.engine.polling import READ, WRITE, Poller
from pipeline.probes.engine.tls import RecordEnds, TlsSession

if TYPE_CHECKING:
    from pipeline.probes.engine.attempt import Attempt

_MOST_BYTES = 64 * 1024
# So short is the last read of most streams: "[DONE]", or the end of a chunked body.
_LAST_BYTES = 64
_CLOSED = "connection closed by the peer"


class Connection:
    """Takes over a socket that ``dial`` connected; ``attempt`` is whose request it carries.

    ``end`` says why nothing more will come, None while something may. ``last_send_ns`` is the time
    right before the last call that handed bytes to the kernel.
    """

    def __init__(
        self, poller: Poller, dial: Dial, connected: socket.socket, tls: TlsSession | None
    ) -> None:
        self.attempt: Attempt | None = dial.attempt
        self.peer = dial.peer
        self.end: str | None = None
        self.last_send_ns = 0
        self._poller = poller
        self._socket = connected
        self._tls = tls
        self._records = None if tls is None else RecordEnds()
        self._reads: list[tuple[int, int, bytes]] = []
        self._passed_reads = 0
        self._unsent = b""
        self._is_blocked = False
        self._is_send_broken = False
        poller.change(connected.fileno(), READ, self)

    @property
    def is_sent(self) -> bool:
        """Has the kernel got all there was to send?"""
        return not self._unsent and not self._is_send_broken

    def on_events(self, events: int, is_late: bool) -> bool:
        """Take from the kernel what has come; True if ``take``, which decrypts it, can wait.

        Several segments may lie there, and a read has one stamp, that of the last it touches. So
        when we are late, TLS records are read one by one.
        """
        if events == WRITE or self.end is not None:
            return False
        try:
            if is_late and self._records is not None:
                self._read_records(self._records)
            else:
                self._read(_MOST_BYTES)
        except BlockingIOError:
            pass
        except OSError as error:
            self.end = error.strerror
            return False
        is_answering = self.attempt is not None and self.attempt.sent_ns is not None
        return is_answering and bool(self._reads) and len(self._reads[-1][2]) > _LAST_BYTES

    def _read_records(self, records: RecordEnds) -> None:
        self._pass_over(records)
        waiting = int.from_bytes(ioctl(self._socket, FIONREAD, bytes(4)), sys.byteorder)
        if records.is_one(waiting):
            self._read(_MOST_BYTES)
            return
        while waiting > 0:
            waiting -= self._read(records.missing)
            self._pass_over(records)

    def _pass_over(self, records: RecordEnds) -> None:
        for _, _, data in self._reads[self._passed_reads :]:
            records.pass_over(data)
        self._passed_reads = len(self._reads)

    def _take_reads(self) -> list[tuple[int, int, bytes]]:
        if self._records is not None:
            self._pass_over(self._records)
        reads, self._reads, self._passed_reads = self._reads, [], 0
        return reads

    def _read(self, most: int) -> int:
        data, ancillary, _, _ = self._socket.recvmsg(most, ANCILLARY_BYTES)
        if not data:
            raise ConnectionResetError(0, _CLOSED)
        self._reads.append((stamp_utc_ns(ancillary), time.monotonic_ns(), data))
        return len(data)

    def take(self) -> list[tuple[int, int, bytes]]:
        """Return what was read since the last call: (stamp or 0, time after the read, bytes)."""
        tls, reads = self._tls, self._take_reads()
        if tls is None:
            return reads
        taken = []
        try:
            for stamp_ns, user_ns, data in reads:
                if text := tls.decrypt(data):
                    taken.append((stamp_ns, user_ns, text))
        except ssl.SSLError as error:
            self.end = f"TLS failed: {error.reason}"
        if tls.is_closed and self.end is None:
            self.end = _CLOSED
        self._hand_over(tls.to_send())
        return taken

    def shake_hands(self) -> bool:
        """Go on with the TLS handshake; True when it is done. Raises ``ConnectError``."""
        if self._tls is None:
            return True
        data = b"".join(data for _, _, data in self._take_reads())
        try:
            is_done = self._tls.shake_hands(data)
        except ssl.SSLCertVerificationError as error:
            raise ConnectError(f"its certificate is refused: {error.verify_message}") from None
        except ssl.SSLError as error:
            raise ConnectError(f"TLS failed: {error.reason}") from None
        self._hand_over(self._tls.to_send())
        if not is_done and self.end is not None:
            raise ConnectError(f"{self.end} in the TLS handshake")
        return is_done

    def send(self, message: bytes) -> None:
        """Send what goes now; ``flush`` sends the rest."""
        if self._tls is not None:
            self._tls.encrypt(message)
            message = self._tls.to_send()
        self._hand_over(message)

    def _hand_over(self, data: bytes) -> None:
        self._unsent += data
        self.flush()

    def flush(self) -> None:
        """Go on sending, if something is left to send."""
        if not self._unsent:
            return
        self.last_send_ns = time.monotonic_ns()
        try:
            sent = self._socket.send(self._unsent)
        except BlockingIOError:
            sent = 0
        except OSError:
            # An answer may have come all the same; if not, reading will tell.
            self._is_send_broken, sent = True, len(self._unsent)
        self._unsent = self._unsent[sent:]
        if bool(self._unsent) != self._is_blocked:
            self._is_blocked = not self._is_blocked
            events = READ | WRITE if self._is_blocked else READ
            self._poller.change(self._socket.fileno(), events, self)

    def close(self) -> None:
        """Close it, without a word to the peer."""
        self._poller.forget(self._socket.fileno())
        self._socket.close()
