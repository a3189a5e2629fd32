"""A request as bytes, and where they go."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urlsplit

import h11

from pipeline.probes.exchange import EngineRequest

_PORTS = {"http": 80, "https": 443}


class Origin(NamedTuple):
    """Requests to one origin may share connections; ``ca_file`` is whom its TLS trusts."""

    scheme: str
    host: str
    port: int
    ca_file: str | None


class MessageError(Exception):
    """A request cannot be put into bytes; one line that quotes nothing of it."""


class Message(NamedTuple):
    """The bytes of a request; ``http`` is the h11 client that made them and awaits the answer."""

    origin: Origin
    data: bytes
    http: h11.Connection


def message_of(request: EngineRequest) -> Message:
    """Write ``request`` as a POST of HTTP/1.1; raises ``MessageError``."""
    try:
        url = urlsplit(request.url)
        scheme, host, port = url.scheme, url.hostname, url.port
    except ValueError:
        scheme, host, port = "", None, None
    if scheme not in _PORTS or not host:
        raise MessageError("its URL is no http or https URL")
    origin = Origin(
        scheme, host, port or _PORTS[scheme], request.ca_file if scheme == "https" else None
    )
    target = (url.path or "/") + (f"?{url.query}" if url.query else "")
    headers = {
        "Host": url.netloc.rpartition("@")[2],
        "Content-Length": str(len(request.body)),
        **request.headers,
    }
    http = h11.Connection(h11.CLIENT)
    try:
        head = h11.Request(method="POST", target=target, headers=list(headers.items()))
        parts = (head, h11.Data(data=request.body), h11.EndOfMessage())
        return Message(origin, b"".join([http.send(part) or b"" for part in parts]), http)
    except (h11.LocalProtocolError, UnicodeError):
        # Their own words would quote the header, which may be the key.
        raise MessageError("its headers or URL are no valid HTTP") from None
