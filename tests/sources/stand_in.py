"""A small HTTP server that answers as a test tells it to, and remembers what it was asked."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections import deque
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PREFIX = "/api/v1"
LONGEST_WAIT_S = 20


@dataclass(frozen=True)
class Reply:
    """What to answer: ``fault`` is none, truncated, cut_chunk, reset, drip or held."""

    status: int = 200
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=dict)
    fault: str = ""


@dataclass(frozen=True)
class Asked:
    """A request that came; ``path`` is below the base URL."""

    path: str
    headers: dict[str, str]


def reply(payload: Any, status: int = 200, **headers: str) -> Reply:
    """Answer with JSON; underscores in header names stand for dashes."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status, json.dumps(payload).encode(), {"Content-Type": "application/json"} | named)


class StandIn:
    """Answers each path with its replies in turn, the last one for ever; else 404."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.most_in_flight = 0
        self.released = threading.Event()
        self._replies: dict[str, deque[Reply]] = {}
        self._in_flight = 0
        self._change = threading.Condition()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_for(self))
        self._server.daemon_threads = False
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}{PREFIX}"

    def on(self, path: str, *replies: Reply) -> None:
        self._replies[path] = deque(replies)

    def paths(self) -> list[str]:
        return [asked.path for asked in self.asked]

    def wait_for_asked(self, path: str) -> None:
        """Return once ``path`` has been asked for."""
        with self._change:
            assert self._change.wait_for(lambda: path in self.paths(), LONGEST_WAIT_S), path

    def wait_for_in_flight(self, count: int) -> None:
        """Return once ``count`` requests wait for their answers, or have at once before."""
        with self._change:
            assert self._change.wait_for(lambda: self.most_in_flight >= count, LONGEST_WAIT_S)

    def close(self) -> None:
        self.released.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def take(self, asked: Asked) -> Reply:
        with self._change:
            self.asked.append(asked)
            self._in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self._in_flight)
            self._change.notify_all()
            replies = self._replies.get(asked.path, deque([reply({"error": "none"}, 404)]))
            return replies.popleft() if len(replies) > 1 else replies[0]

    def done(self) -> None:
        with self._change:
            self._in_flight -= 1


def _handler_for(stand_in: StandIn) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = LONGEST_WAIT_S

        def do_GET(self) -> None:
            asked = Asked(self.path.removeprefix(PREFIX), dict(self.headers.items()))
            answer = stand_in.take(asked)
            try:
                self._send(answer)
            except ConnectionError:
                self.close_connection = True  # the client had enough
            finally:
                stand_in.done()

        def _send(self, answer: Reply) -> None:
            if answer.fault == "held":
                stand_in.released.wait(LONGEST_WAIT_S)
            if answer.fault == "reset":
                # Lingering for 0 s turns the close into a reset.
                linger = struct.pack("ii", 1, 0)
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                self.connection.close()
                self.close_connection = True
                return
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            if answer.fault == "cut_chunk":
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                self.wfile.write(b"%x\r\n" % (len(answer.body) + 10) + answer.body)
                self.close_connection = True
                return
            missing = 10 if answer.fault == "truncated" else 0
            self.send_header("Content-Length", str(len(answer.body) + missing))
            self.end_headers()
            if answer.fault == "drip":
                for byte in answer.body:
                    self.wfile.write(bytes([byte]))
                    if stand_in.released.wait(0.02):
                        break
                self.close_connection = True
                return
            self.wfile.write(answer.body)
            self.close_connection = bool(missing)

        def log_message(self, *_: object) -> None:
            pass

    return Handler
