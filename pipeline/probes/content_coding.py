"""Content coding undone piece by piece, so that each byte keeps the stamp of its read."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

# What an answer may inflate to; a chat completion is far below.
_MOST_BYTES = 64 * 1024 * 1024


class ContentCodingError(Exception):
    """A body cannot be read as its ``Content-Encoding`` says; one line."""


def decoded_pieces(
    body: bytes, pieces: tuple[tuple[int, int], ...], encoding: str | None
) -> Iterator[tuple[int, bytes]]:
    """Yield ``(arrived_ns, bytes)`` for each of ``pieces``, which are ``(arrived_ns, length)``.

    A piece that only moves the decoder on gives no bytes. Stamps never go back, as bytes are read
    in order. Raises ``ContentCodingError`` at the piece that is wrong.
    """
    coding = (encoding or "identity").strip().lower()
    if coding not in ("identity", "", "gzip", "x-gzip", "deflate"):
        raise ContentCodingError(f"answered in {coding} though identity was asked for")
    inflater = None if coding in ("identity", "") else _Inflater(coding)
    start, newest_ns = 0, 0
    for arrived_ns, length in pieces:
        newest_ns = max(newest_ns, arrived_ns)
        data = body[start : start + length]
        start += length
        yield newest_ns, data if inflater is None else inflater.feed(data)


class _Inflater:
    """gzip (one member or several) or deflate (with the zlib wrapper or, as some send it, bare)."""

    def __init__(self, coding: str) -> None:
        self._coding = coding
        self._wbits = zlib.MAX_WBITS if coding == "deflate" else zlib.MAX_WBITS | 16
        self._decoder = zlib.decompressobj(self._wbits)
        self._start = b""
        self._size = 0

    def feed(self, data: bytes) -> bytes:
        is_at_start = len(self._start) < 2  # what zlib needs to tell its wrapper
        if is_at_start:
            self._start += data
        try:
            return self._inflate(data)
        except zlib.error:
            if not is_at_start or self._coding != "deflate":
                raise ContentCodingError(f"the body is not {self._coding} as it says") from None
        self._wbits = -zlib.MAX_WBITS
        self._decoder = zlib.decompressobj(self._wbits)
        try:
            return self._inflate(self._start)
        except zlib.error:
            raise ContentCodingError(f"the body is not {self._coding} as it says") from None

    def _inflate(self, data: bytes) -> bytes:
        parts: list[bytes] = []
        while data:
            parts.append(self._decoder.decompress(data, _MOST_BYTES - self._size + 1))
            self._size += len(parts[-1])
            if self._size > _MOST_BYTES:
                raise ContentCodingError(f"the body inflates to more than {_MOST_BYTES >> 20} MiB")
            data = self._decoder.unused_data
            if self._decoder.eof:
                self._decoder = zlib.decompressobj(self._wbits)
        return b"".join(parts)
