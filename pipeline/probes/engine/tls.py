"""TLS between the socket and the bytes of HTTP, fed by hand, so that each read keeps its stamp."""

from __future__ import annotations

import ssl

_HEADER_BYTES = 5
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

    def decrypt(self, data: bytes) -> bytes:
        """Return the text of the records that ``data`` makes whole."""
        incoming, session, text = self._incoming, self._session, b""
        incoming.write(data)
        try:
            while incoming.pending:
                record = session.read(_MOST_TEXT_BYTES)
                if not record:
                    self.is_closed = True
                    break
                text = text + record if text else record
        except ssl.SSLWantReadError:
            pass  # the last record is not whole yet
        return text


class RecordEnds:
    """Where TLS records end in what is read: ``missing`` bytes make the header or record whole."""

    def __init__(self) -> None:
        self.missing = _HEADER_BYTES
        self._header = b""
        self._lengths = (0, 0)

    def is_one(self, waiting: int) -> bool:
        """Are so many bytes one record, if records are no shorter than 3/4 of the last two?"""
        return not self._header and waiting < min(self._lengths) * 3 // 2

    def pass_over(self, data: bytes) -> None:
        """Count ``data``, the bytes that follow those counted before."""
        at, size = 0, len(data)
        while size - at >= self.missing:
            end = at + self.missing
            if len(self._header) < _HEADER_BYTES:
                self._header += data[at:end]
                self.missing = self._header[3] << 8 | self._header[4]
                self._lengths = self._lengths[1], self.missing
            else:
                self._header, self.missing = b"", _HEADER_BYTES
            at = end
        if len(self._header) < _HEADER_BYTES:
            self._header += data[at:]
        self.missing -= size - at
