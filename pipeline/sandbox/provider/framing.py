"""From events to writes: line ends, blocks, content coding, transfer coding, segments."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from itertools import chain, pairwise
from typing import NamedTuple

from pipeline.sandbox.dice import Dice
from pipeline.sandbox.provider.events import Event, Kind, Stream
from pipeline.sandbox.provider.quirks import Struck

_LAST_CHUNK = b"0\r\n\r\n"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# Far enough apart that a reader takes them one by one.
_SEGMENT_GAP_MS = 0.3
_HEAD_PIECES = 16


class Step(NamedTuple):
    """One write, due ``at_ms`` after the request arrived; ``kinds`` are the events it completes.

    The last ``tail`` of its bytes stand behind the end of those events.
    """

    at_ms: float
    data: bytes
    kinds: tuple[Kind, ...]
    tail: int = 0


def stream_headers(struck: Struck, *, is_compressed: bool) -> dict[str, str]:
    """Return the headers that say how the body comes."""
    headers = {"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-cache"}
    if is_compressed:
        headers["Content-Encoding"] = "gzip"
    if "close_framing" in struck:
        return headers | {"Connection": "close"}
    return headers | {"Transfer-Encoding": "chunked"}


def steps_of(
    stream: Stream, struck: Struck, head: bytes, *, is_compressed: bool, dice: Dice
) -> list[Step]:
    """Return all writes of an answer, in order."""
    head_ms = struck.get("slow_headers", 0) * 1000
    start_ms = struck.get("slow_first_byte", 0) * 1000
    steps = _body_steps(stream, struck, start_ms + head_ms, is_compressed=is_compressed)
    if "split" in struck:
        parts = int(struck["split"])
        steps = chain.from_iterable(
            _cut(step, parts, dice, number) for number, step in enumerate(steps)
        )
    return [*_head_steps(head, start_ms, head_ms), *steps]


def _head_steps(head: bytes, start_ms: float, spread_ms: float) -> Iterator[Step]:
    size = -(-len(head) // (_HEAD_PIECES if spread_ms else 1))
    for start in range(0, len(head), size):
        piece = head[start : start + size]
        kinds: tuple[Kind, ...] = ("head",) if start + size >= len(head) else ()
        yield Step(start_ms + spread_ms * start / len(head), piece, kinds)


def _body_steps(
    stream: Stream, struck: Struck, start_ms: float, *, is_compressed: bool
) -> Iterator[Step]:
    packer = zlib.compressobj(wbits=31) if is_compressed else None
    is_chunked = "close_framing" not in struck
    tail = b"\r\n" if is_chunked else b""
    # The same block is the same bytes on the wire, unless it is compressed.
    framed: dict[bytes, bytes] = {}
    writes = _writes(stream.events, struck)
    last = len(writes) - 1
    for number, events in enumerate(writes):
        block = events[0].block if len(events) == 1 else b"".join(one.block for one in events)
        if number == 0 and "bom" in struck:
            block = _BYTE_ORDER_MARK + block
        data = framed.get(block)
        if data is None:
            data = _with_line_ends(block, struck)
            if packer is not None:
                data = packer.compress(data)
                data += packer.flush(zlib.Z_FINISH if number == last else zlib.Z_SYNC_FLUSH)
            if is_chunked:
                data = b"%x\r\n%b\r\n" % (len(data), data)
            if packer is None:
                framed[block] = data
        at_ms = start_ms + events[-1].at_ms
        kinds = tuple([event.kind for event in events])
        if kinds[-1] == "torn":
            yield Step(at_ms, data[: len(data) // 2], kinds[:-1])
        elif number == last and is_chunked and stream.ending == "whole":
            yield Step(at_ms, data + _LAST_CHUNK, kinds, len(tail + _LAST_CHUNK))
        else:
            yield Step(at_ms, data, kinds, len(tail))


def _writes(events: tuple[Event, ...], struck: Struck) -> list[tuple[Event, ...]]:
    size = len(events) if "buffered" in struck else int(struck.get("blocks", 1))
    return [events[start : start + size] for start in range(0, len(events), max(size, 1))]


def _with_line_ends(data: bytes, struck: Struck) -> bytes:
    if "crlf" in struck:
        return data.replace(b"\n", b"\r\n")
    return data.replace(b"\n", b"\r") if "cr" in struck else data


def _cut(step: Step, parts: int, dice: Dice, number: int) -> Iterator[Step]:
    """Cut before the last byte of the events, so that the last part completes them."""
    length = len(step.data) - step.tail
    drawn = (dice.unit("cut", number, part) for part in range(parts - 1))
    cuts = sorted({1 + int(unit * (length - 1)) for unit in drawn})
    for part, (start, end) in enumerate(pairwise([0, *cuts, len(step.data)])):
        kinds = step.kinds if end == len(step.data) else ()
        yield Step(step.at_ms + part * _SEGMENT_GAP_MS, step.data[start:end], kinds)
