"""One HTTP answer: its end is found while it comes, what it says is read afterwards.

While streams run, a read costs no more than a look for the end. When the batch is over, h11 goes
through the same bytes and gives each piece of the body to the read that brought it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import h11

_BLANK_LINE = re.compile(rb"\n\r?\n")
_CHUNK_HEADER = re.compile(rb"([0-9A-Fa-f]{1,20})[^\r\n]*\r\n")
_LONGEST_CHUNK_HEADER = 4096
_LONGEST_HEAD = 64 * 1024


class Body(NamedTuple):
    """What an answer carried: ``pieces`` are (index of the read, length), ``problem`` one line."""

    data: bytes
    pieces: tuple[tuple[int, int], ...]
    problem: str | None


class Answer:
    """The bytes of one answer; ``http`` is an h11 client that has sent its request.

    ``reads`` are (the kernel's stamp or 0, the time after the read, all bytes up to its end).
    """

    def __init__(self, http: h11.Connection) -> None:
        self.head: h11.Response | None = None
        self.reads: list[tuple[int, int, int]] = []
        self._http = http
        self._received = bytearray()
        self._head_at = 0
        self._body_at = 0
        self._end: int | None = None
        self._next_chunk: int | None = None

    def add(self, stamp_utc_ns: int, user_ns: int, data: bytes) -> bool:
        """Take what a read brought; True when the answer is whole.

        Raises ``h11.RemoteProtocolError`` for what is no HTTP.
        """
        received = self._received
        received += data
        size = len(received)
        self.reads.append((stamp_utc_ns, user_ns, size))
        if self.head is None:
            self._read_heads()
        if self._next_chunk is not None and self._next_chunk < size:
            self._pass_chunks(self._next_chunk)
        return self._end is not None and self._end <= size

    @property
    def is_ended_by_close(self) -> bool:
        """Does the body go on until the peer closes?"""
        return self.head is not None and self._end is None and self._next_chunk is None

    @property
    def keeps_alive(self) -> bool:
        """May the connection take another request, now that the answer is whole?"""
        return self._end == len(self._received) and self._http.our_state is h11.DONE

    @property
    def head_read(self) -> int | None:
        """The index of the read that brought the head's first byte, None when there is no head."""
        if self.head is None:
            return None
        return next(index for index, read in enumerate(self.reads) if read[2] > self._head_at)

    def read_body(self) -> Body:
        """Return the body as far as it came; to be called once, when no more will come."""
        data, pieces, start, problem = bytearray(), [], self._body_at, None
        try:
            for index, (_, _, end) in enumerate(self.reads):
                if self.head is None or end <= start:
                    continue
                self._http.receive_data(bytes(self._received[start:end]))
                start, before = end, len(data)
                while isinstance(event := self._http.next_event(), h11.Data):
                    data += event.data
                if len(data) > before:
                    pieces.append((index, len(data) - before))
        except h11.RemoteProtocolError as error:
            problem = in_short(error)
        return Body(bytes(data), tuple(pieces), problem)

    def _read_heads(self) -> None:
        while self.head is None and (blank := _BLANK_LINE.search(self._received, self._body_at)):
            self._head_at, self._body_at = self._body_at, blank.end()
            self._http.receive_data(bytes(self._received[self._head_at : self._body_at]))
            event = self._http.next_event()
            # Else it is an interim answer, as 100 Continue, and another head follows.
            if isinstance(event, h11.Response):
                self.head = event
                self._begin_body(event)
        if self.head is None and len(self._received) - self._body_at > _LONGEST_HEAD:
            raise h11.RemoteProtocolError("its head does not end")

    def _begin_body(self, head: h11.Response) -> None:
        # h11 lets each of the two pass once at most, with a value that it can follow.
        named = dict(head.headers)
        if head.status_code in (204, 304):
            self._end = self._body_at
        elif b"transfer-encoding" in named:
            self._next_chunk = self._body_at
        elif b"content-length" in named:
            self._end = self._body_at + int(named[b"content-length"])

    def _pass_chunks(self, at: int) -> None:
        """Go from chunk to chunk, as far as they have come."""
        received = self._received
        while at < len(received):
            header = _CHUNK_HEADER.match(received, at)
            if header is None:
                rest = received[at : at + _LONGEST_CHUNK_HEADER]
                if b"\n" in rest or len(rest) == _LONGEST_CHUNK_HEADER:
                    raise h11.RemoteProtocolError("illegal chunk header")
                break
            size = int(header[1], 16)
            if not size:
                # Without trailers, the blank line begins with the line end of this header.
                if blank := _BLANK_LINE.search(received, header.end() - 1):
                    self._end = blank.end()
                break
            at = header.end() + size + 2
        self._next_chunk = at


def in_short(error: h11.ProtocolError) -> str:
    """Return what h11 found wrong, without the bytes it found it in."""
    return str(error).partition(":")[0]
