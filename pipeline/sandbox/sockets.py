"""A threading HTTP server that can end its connections, politely or with a reset."""

from __future__ import annotations

import logging
import socket
import sys
from http.server import ThreadingHTTPServer
from threading import Lock
from typing import Any

log = logging.getLogger(__name__)


class EndableHttpServer(ThreadingHTTPServer):
    """Knows its open connections, so that closing need not wait for idle clients."""

    daemon_threads = False  # so that closing waits for all threads
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], handler: type[Any]) -> None:
        super().__init__(address, handler)
        self._open: set[socket.socket] = set()
        self._resets: set[socket.socket] = set()
        self._lock = Lock()

    def mark_reset(self, connection: socket.socket) -> None:
        """Close this connection without the regular end, when its handler is done."""
        with self._lock:
            self._resets.add(connection)

    def end_connections(self) -> None:
        """End all open connections; their handlers see the end of the stream."""
        with self._lock:
            for connection in self._open:
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:
                    log.debug("the client had already closed")

    def process_request(self, request: Any, client_address: Any) -> None:
        """Note the connection, then handle it in a thread of its own."""
        with self._lock:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Close a connection that has been handled."""
        with self._lock:
            self._open.discard(request)
            is_reset = request in self._resets
            self._resets.discard(request)
        if is_reset:
            self.close_request(request)  # a shutdown first would send a regular end
        else:
            super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Log what went wrong; a client that leaves early is no error."""
        if not isinstance(sys.exception(), OSError):
            log.exception("the sandbox failed to answer %s", client_address)
