"""HTTP requests, taken off what came over a connection."""

from __future__ import annotations

from dataclasses import dataclass

_HEAD_END = b"\r\n\r\n"
_MAX_HEAD = 1 << 16
_MAX_BODY = 1 << 24


class HttpError(ValueError):
    """What came is no request that this server understands."""


@dataclass(frozen=True)
class HttpRequest:
    """A request; names of headers in lower case."""

    method: str
    path: str
    query: str
    headers: dict[str, str]
    body: bytes


def take_request(buffer: bytearray) -> HttpRequest | None:
    """Take the first request off ``buffer``; None while it is not complete."""
    head_end = buffer.find(_HEAD_END)
    if head_end < 0:
        if len(buffer) > _MAX_HEAD:
            raise HttpError("the head of the request has no end")
        return None
    try:
        first, *lines = buffer[:head_end].decode("latin-1").split("\r\n")
        method, target, _ = first.split(" ")
        pairs = (line.partition(":") for line in lines)
        headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
        length = int(headers.get("content-length", 0))
    except ValueError:
        raise HttpError("the head of the request is malformed") from None
    if "transfer-encoding" in headers or not 0 <= length <= _MAX_BODY:
        raise HttpError(f"a body needs a Content-Length of at most {_MAX_BODY}")
    end = head_end + len(_HEAD_END) + length
    if len(buffer) < end:
        return None
    body = bytes(buffer[end - length : end])
    del buffer[:end]
    path, _, query = target.partition("?")
    return HttpRequest(method, path, query, headers, body)
