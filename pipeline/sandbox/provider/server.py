"""The provider on its port: accepts connections, routes requests, keeps the log."""

from __future__ import annotations

import gc
import os
import socket
import ssl
from collections import deque
from contextlib import suppress

from pipeline.sandbox.api import Reply, error
from pipeline.sandbox.provider.answers import Answer, Completions, plain_answer
from pipeline.sandbox.provider.connection import Connection, stamp_arrivals
from pipeline.sandbox.provider.http_requests import HttpRequest
from pipeline.sandbox.provider.loop import Loop
from pipeline.sandbox.provider.script import Script, ScriptError
from pipeline.sandbox.provider.scripted import ScriptSource
from pipeline.sandbox.provider.session import Session
from pipeline.sandbox.provider.truth import TrueRequest

_MOST_KEPT = 2000
# So that the moment between a time stamp and its send is short on a busy machine too.
_NICE = -15


class ProviderServer:
    """Serves ``source`` on ``host:port`` while it runs, in the thread that runs it.

    ``POST /sandbox/script`` sets what is played, ``GET /sandbox/script`` tells it, ``GET
    /sandbox/truth`` tells the records of the answers that are over, a line of JSON each and each
    of them once; the oldest go when nobody asks.
    """

    def __init__(
        self,
        source: ScriptSource,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.loop = Loop()
        self._completions = Completions(source)
        self._tls = tls
        self._log: deque[TrueRequest] = deque(maxlen=_MOST_KEPT)
        self._connections = self._requests = 0
        self._listener = socket.create_server((host, port), backlog=1024)
        self._listener.setblocking(False)
        stamp_arrivals(self._listener)
        self.loop.watch(self._listener, self._accept)

    @property
    def base_url(self) -> str:
        """The base URL of the API."""
        host, port = self._listener.getsockname()[:2]
        scheme = "https" if self._tls else "http"
        return f"{scheme}://{host}:{port}{self._completions.source.base_path}"

    def run(self) -> None:
        """Serve until the loop is stopped; the process is for nothing else from now on."""
        with suppress(OSError):
            os.nice(_NICE)
        gc.collect()
        gc.freeze()
        gc.disable()
        with self._listener:
            self.loop.run()

    def answer(self, request: HttpRequest, connection: Connection, nth: int) -> Answer:
        """Return the answer to the ``nth`` request of ``connection``."""
        match request.method, request.path:
            case "GET", "/sandbox/truth":
                lines = b"".join(record.to_line() for record in self._log)
                self._log.clear()
                return plain_answer(Reply(200, lines.decode("ascii"), "application/x-ndjson"))
            case "GET", "/sandbox/script":
                script = self._completions.source.script
                return plain_answer(Reply(200, script.model_dump(mode="json")))
            case "POST", "/sandbox/script":
                return plain_answer(self._set_script(request.body))
            case "GET", path:
                is_authenticated = "authorization" in request.headers
                return plain_answer(
                    self._completions.source.look_up(
                        path, request.query, is_authenticated=is_authenticated
                    )
                )
            case "POST", path if path.endswith("/chat/completions"):
                record = TrueRequest(
                    seq=self._requests,
                    connection=connection.number,
                    nth=nth,
                    accepted_ns=connection.accepted_ns,
                    arrived_ns=connection.arrived_ns,
                    stamp_source=connection.stamp_source,
                )
                self._requests += 1
                return self._completions.answer(request, record)
        return plain_answer(error(404, f"No route for {request.method} {request.path}"))

    def ended(self, record: TrueRequest) -> None:
        """Keep the record of an answer that is over."""
        self._completions.ended(record)
        self._log.append(record)

    def _accept(self) -> None:
        with suppress(OSError):  # the client has left meanwhile
            client, _ = self._listener.accept()
            self._connections += 1
            Session(self.loop, self, Connection(self.loop, client, self._connections, self._tls))

    def _set_script(self, body: bytes) -> Reply:
        try:
            self._completions.set_script(Script.from_json(body))
        except ScriptError as problem:
            return error(400, str(problem))
        return Reply(200, {})
