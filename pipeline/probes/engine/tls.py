"""TLS between the socket and the bytes of HTTP, fed by hand, so that each read keeps its stamp."""

from __future__ import annotations

import ssl

# A record has no more text, so that what is read of one leaves none of it behind.
_MOST_TEXT_BYTES = 16384


def client_context(ca_file: str | None) -> ssl.SSLContext:
    """Return a context that trusts ``ca_file``, or else the system's store (or SSL_CERT_FILE)."""
    context = ssl.create_default_context(cafile=ca_file)
    context.set_alpn_protocols(["http/1.1"])
    return context


class TlsSession:
    """The client's side of one session; raises ``ssl.SSLError`` for what it cannot accept."""

    def __init__(self, context: ssl.SSLContext, host: str) -> None:
        self.is_closed = False
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self._session = context.wrap_bio(self._incoming, self._outgoing, server_hostname=host)

    def shake_hands(self, data: bytes) -> bool:
        """Go on with the handshake, given what came in; True when it is done."""
        self._incoming.write(data)
        try:
            self._session.do_handshake()
        except ssl.SSLWantReadError:
            return False
        return True

    def encrypt(self, data: bytes) -> None:
        """Add ``data`` to what is to be sent."""
        self._session.write(data)

    def to_send(self) -> bytes:
        """Take what is to be sent, often nothing."""
        return self._outgoing.read() if self._outgoing.pending else b""

    def decrypt(self, data: bytes) -> list[bytes]:
        """Return the texts of the records that ``data`` makes whole."""
        incoming, texts = self._incoming, []
        incoming.write(data)
        try:
            while incoming.pending:
                text = self._session.read(_MOST_TEXT_BYTES)
                if not text:
                    self.is_closed = True
                    break
                texts.append(text)
        except ssl.SSLWantReadError:
            pass  # the last record is not whole yet
        return texts
