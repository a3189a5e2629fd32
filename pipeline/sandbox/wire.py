"""How a reply travels over the socket: whole, slowly, in part, too much, or not at all."""

from __future__ import annotations

import gzip
import socket
import struct
from collections.abc import Callable, Iterator
from email.utils import formatdate
from http import HTTPStatus

from pipeline.sandbox.api import Reply
from pipeline.sandbox.faults import Fault

WIRE_FAULTS = frozenset(
    {
        "slow_headers",
        "slow_body",
        "reset",
        "truncated",
        "half_json",
        "empty_body",
        "invalid_utf8",
        "huge_body",
        "zip_bomb",
    }
)
Pause = Callable[[float], object]  # waits for seconds, shorter when the server stops
_STEPS = 20
_MIB = 1 << 20
_COMPRESS_FROM = 1024


def send(
    connection: socket.socket,
    reply: Reply,
    headers: dict[str, str],
    fault: Fault | None,
    pause: Pause,
    *,
    compress: bool = False,
) -> bool:
    """Send the reply as ``fault`` of the wire wants it; return whether the connection may live on.

    ``headers`` stand beside those of the reply. ``compress`` sends longer bodies as gzip.
    """
    body = reply.body()
    name = fault.name if fault else ""
    amount = fault.amount if fault else 0.0
    body = _spoiled(body, name)
    headers = reply.headers | headers | {"Content-Type": reply.content_type}
    if name == "zip_bomb":
        body, headers = gzip.compress(b"".join(_padded(body, amount)), 1), headers | _GZIP
    elif compress and len(body) >= _COMPRESS_FROM:
        body, headers = gzip.compress(body, 1, mtime=0), headers | _GZIP
    if name == "huge_body":
        head = head_of(reply.status, headers | {"Transfer-Encoding": "chunked"})
        connection.sendall(head)
        for piece in _padded(body, amount):
            connection.sendall(b"%x\r\n%b\r\n" % (len(piece), piece))
        connection.sendall(b"0\r\n\r\n")
        return True
    head = head_of(reply.status, headers | {"Content-Length": str(len(body))})
    match name:
        case "reset":
            reset_on_close(connection)
            return False
        case "truncated":
            connection.sendall(head + body[: int(len(body) * amount)])
            return False
        case "slow_headers":
            _drip(connection, head, amount, pause)
            connection.sendall(body)
        case "slow_body":
            connection.sendall(head)
            _drip(connection, body, amount, pause)
        case _:
            connection.sendall(head + body)
    return True


def reset_on_close(connection: socket.socket) -> None:
    """Make the next close send a reset instead of a regular end."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def head_of(status: int, headers: dict[str, str]) -> bytes:
    """Return the head of an answer."""
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = ""
    lines = [f"HTTP/1.1 {status} {phrase}", f"Date: {formatdate(usegmt=True)}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


_GZIP = {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}


def _spoiled(body: bytes, fault: str) -> bytes:
    match fault:
        case "half_json":
            return body[: len(body) // 2]
        case "empty_body":
            return b""
        case "invalid_utf8":
            # The first letter behind the first colon stands inside a text in every answer.
            return body.replace(b'":"', b'":"\xff\xfe', 1)
    return body


def _padded(body: bytes, mib: float) -> Iterator[bytes]:
    # Spaces behind the value keep it valid JSON of any size.
    yield body
    for _ in range(int(mib)):
        yield b" " * _MIB


def _drip(connection: socket.socket, data: bytes, seconds: float, pause: Pause) -> None:
    step = max(1, -(-len(data) // _STEPS))
    for start in range(0, len(data), step):
        connection.sendall(data[start : start + step])
        pause(seconds / _STEPS)
