"""A real local HTTP server that speaks the contract of the API, faults included."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler
from threading import Event, Thread
from types import TracebackType
from typing import Any, Self, cast
from urllib.parse import unquote

from pipeline.sandbox.api import BASE_PATH, Api, Reply, Source, error
from pipeline.sandbox.fault_bodies import spoil
from pipeline.sandbox.faults import Fault, FaultPlan, UnknownFaultError
from pipeline.sandbox.huggingface import HUB_PATH, hub_answer
from pipeline.sandbox.request_log import RequestLog
from pipeline.sandbox.sockets import EndableHttpServer
from pipeline.sandbox.wire import WIRE_FAULTS, send

log = logging.getLogger(__name__)


class SandboxServer:
    """Serves a source on ``http://host:port/api/v1`` while the context lasts.

    Cards of the sandbox's models with open weights are under ``/huggingface`` of the same port.
    ``now`` is the clock of the market (default: the real one); ``set_now`` stops it at an instant.
    ``latency_ms`` is waited before each answer. ``POST /sandbox/faults`` with
    ``{"faults": [{"name": ...}]}`` replaces the fault switches, ``POST /sandbox/clock`` with
    ``{"now": ISO or null}`` sets the clock, both also as methods here.
    """

    def __init__(
        self,
        source: Source,
        *,
        faults: Iterable[Fault] = (),
        latency_ms: float = 0,
        host: str = "127.0.0.1",
        port: int = 0,
        now: Callable[[], datetime] | None = None,
        page_size: int | None = None,
        compress: bool = False,
        seed: int = 0,
    ) -> None:
        self.api = Api(source, page_size)
        self.faults = FaultPlan(seed)
        self.faults.set(faults)
        self.requests = RequestLog()
        self.latency_ms = latency_ms
        self.compress = compress
        self.stopping = Event()
        self._clock = now or _real_time
        self._fixed_now: datetime | None = None
        self._http = _SandboxHttp((host, port), _Handler)
        self._http.sandbox = self
        self._thread = Thread(target=self._http.serve_forever, args=(0.05,), name="sandbox")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def root_url(self) -> str:
        """The address without a path, for ``/sandbox/faults``."""
        host, port = self._http.server_address[:2]
        return f"http://{host!s}:{port}"

    @property
    def url(self) -> str:
        """The base URL of the API."""
        return f"{self.root_url}{BASE_PATH}"

    @property
    def hub_url(self) -> str:
        """The base URL of the hub of open weights."""
        return f"{self.root_url}{HUB_PATH}"

    def now(self) -> datetime:
        """Return the instant at which the market is asked."""
        return self._fixed_now or self._clock()

    def set_now(self, instant: datetime | None) -> None:
        """Stop the market's clock at ``instant``; None lets it run again."""
        self._fixed_now = instant

    def set_faults(self, *faults: Fault) -> None:
        """Replace the fault switches; none at all makes the server sound again."""
        self.faults.set(faults)

    def close(self) -> None:
        """End all connections and threads."""
        self.stopping.set()
        if self._thread.is_alive():
            self._http.shutdown()
            self._thread.join()
        self._http.end_connections()
        self._http.server_close()


def _real_time() -> datetime:
    return datetime.now(UTC)


class _SandboxHttp(EndableHttpServer):
    sandbox: SandboxServer


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    @property
    def sandbox(self) -> SandboxServer:
        return cast(_SandboxHttp, self.server).sandbox

    def setup(self) -> None:
        super().setup()
        self.sandbox.requests.connection_opened()

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        path = unquote(path)
        if path == "/sandbox/faults":
            switches = [vars(fault) for fault in self.sandbox.faults.switches()]
            self._send(Reply(200, {"faults": switches}))
        elif path.startswith(f"{BASE_PATH}/"):
            self._serve(path.removeprefix(BASE_PATH), query, self._api_answer)
        elif path.startswith(f"{HUB_PATH}/"):
            self._serve(path, query, self._hub_answer)
        else:
            self._send(error(404, f"Nothing here; the API is under {BASE_PATH}"))

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self._send(self._control(body))

    def log_message(self, format: str, *args: Any) -> None:
        log.debug(format, *args)

    def _api_answer(self, path: str, query: str, is_authenticated: bool) -> Reply:
        sandbox = self.sandbox
        return sandbox.api.answer(path, query, sandbox.now(), is_authenticated=is_authenticated)

    def _hub_answer(self, path: str, query: str, is_authenticated: bool) -> Reply:
        return hub_answer(path.removeprefix(HUB_PATH), query, is_authenticated=is_authenticated)

    def _serve(self, path: str, query: str, answer: Callable[[str, str, bool], Reply]) -> None:
        sandbox = self.sandbox
        with sandbox.requests.in_flight():
            faults = sandbox.faults.pick(path)
            waits = [fault.amount for fault in faults if fault.name == "latency"]
            wait_ms = sandbox.latency_ms + sum(waits)
            if wait_ms:
                sandbox.stopping.wait(wait_ms / 1000)
            reply = answer(path, query, "Authorization" in self.headers)
            for fault in faults:
                reply = spoil(reply, fault)
            wire_fault = next((fault for fault in faults if fault.name in WIRE_FAULTS), None)
            status = 0 if wire_fault and wire_fault.name == "reset" else reply.status
            full_path = f"{path}?{query}" if query else path
            sandbox.requests.add(full_path, status, [f.name for f in faults], self.headers.items())
            self._send(reply, wire_fault)

    def _send(self, reply: Reply, fault: Fault | None = None) -> None:
        compress = self.sandbox.compress and "gzip" in self.headers.get("Accept-Encoding", "")
        if fault and fault.name == "reset":
            cast(_SandboxHttp, self.server).mark_reset(self.connection)
        may_live_on = send(
            self.connection,
            reply,
            {"X-Tokentape-Sandbox": self.sandbox.api.source.kind},
            fault,
            self.sandbox.stopping.wait,
            compress=compress,
        )
        self.close_connection = self.close_connection or not may_live_on

    def _control(self, body: bytes) -> Reply:
        try:
            message = json.loads(body or b"{}")
            if self.path == "/sandbox/faults":
                self.sandbox.set_faults(*map(Fault.from_json, message["faults"]))
                return Reply(200, {"faults": len(message["faults"])})
            if self.path == "/sandbox/clock":
                self.sandbox.set_now(message["now"] and _instant(message["now"]))
                return Reply(200, {"now": self.sandbox.now().isoformat()})
        except UnknownFaultError as problem:
            return error(400, str(problem))
        except (ValueError, KeyError, TypeError):
            return error(400, 'expected {"faults": [...]} or {"now": ISO time or null}')
        return error(404, f"No route for POST {self.path}")


def _instant(text: str) -> datetime:
    instant = datetime.fromisoformat(text)
    return instant if instant.tzinfo else instant.replace(tzinfo=UTC)
