"""TLS over a socket that somebody else reads and writes."""

from __future__ import annotations

import ssl
from contextlib import suppress

_PIECE = 1 << 16


class TlsLayer:
    """The server's end of one connection: sealed bytes in, plain bytes out, and back."""

    def __init__(self, context: ssl.SSLContext) -> None:
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self._is_open = False

    def receive(self, data: bytes) -> tuple[bytes, bytes]:
        """Return the plain bytes in ``data`` and what must be sent back; ``ssl.SSLError``."""
        self._incoming.write(data)
        plain = b""
        try:
            if not self._is_open:
                self._tls.do_handshake()
                self._is_open = True
            while piece := self._tls.read(_PIECE):
                plain += piece
        except ssl.SSLWantReadError:
            pass  # the rest is still on its way
        except ssl.SSLZeroReturnError:
            pass  # the client says that it is done; the end of the connection follows
        return plain, self._outgoing.read()

    def seal(self, data: bytes) -> bytes:
        """Return what to send for ``data``; in the order in which it will be sent."""
        self._tls.write(data)
        return self._outgoing.read()

    def farewell(self) -> bytes:
        """Return what ends the stream of a sound connection."""
        with suppress(ssl.SSLError):  # the client's farewell is not waited for
            self._tls.unwrap()
        return self._outgoing.read()
