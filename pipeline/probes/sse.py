"""Server-sent events: bytes with their arrival in, events with the stamp of their last byte out.

To the WHATWG specification (HTML, "Interpreting an event stream"), but for three things: comments
are handed out too, an event that the end of the stream cut off is handed out by ``close``, marked,
and ``id`` and ``retry`` are skipped, as nobody reconnects.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

_LINE_END = re.compile(rb"\r\n|\n|\r")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class SseEvent:
    """An event (``data`` is its text) or a comment (``comment`` is), never both.

    ``completed_ns`` is the stamp of the read that completed it. ``is_cut`` says that the stream
    ended before the blank line that ends an event.
    """

    completed_ns: int
    name: str = "message"
    data: str | None = None
    comment: str | None = None
    is_cut: bool = False


class SseParser:
    """Takes a stream in pieces that may be split anywhere, and in linear time."""

    def __init__(self) -> None:
        self._arrived_ns = 0
        self._is_first_line = True
        self._is_after_cr = False
        self._line: list[bytes] = []  # the line that has not ended yet, as it came
        self._data: list[bytes] = []
        self._name = b""

    def feed(self, arrived_ns: int, data: bytes) -> list[SseEvent]:
        """Return the events and comments that ``data`` completes."""
        if not data:
            return []
        self._arrived_ns = arrived_ns
        # A CR ends its line at once, so that no event waits for the byte after it; the LF of a
        # CRLF whose CR came in the read before is dropped here.
        if self._is_after_cr:
            data = data.removeprefix(b"\n")
        self._is_after_cr = data.endswith(b"\r")
        *lines, rest = _LINE_END.split(data)
        if lines:
            lines[0] = b"".join((*self._line, lines[0]))
            self._line.clear()
        self._line.append(rest)
        return [event for line in lines if (event := self._take(line)) is not None]

    def close(self) -> list[SseEvent]:
        """Return what the end of the stream cut off, with the stamp of the last read."""
        line = b"".join(self._line)
        self._line.clear()
        cut = (self._take(line) if line else None, self._dispatch())
        return [replace(event, is_cut=True) for event in cut if event is not None]

    def _take(self, line: bytes) -> SseEvent | None:
        if self._is_first_line:
            self._is_first_line = False
            line = line.removeprefix(_BYTE_ORDER_MARK)
        if not line:
            return self._dispatch()
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if not field:
            return SseEvent(self._arrived_ns, comment=_text(value))
        if field == b"data":
            self._data.append(value)
        elif field == b"event":
            self._name = value
        return None

    def _dispatch(self) -> SseEvent | None:
        lines, name = self._data, self._name
        self._data, self._name = [], b""
        if not lines:
            return None
        return SseEvent(self._arrived_ns, _text(name) or "message", _text(b"\n".join(lines)))


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")
