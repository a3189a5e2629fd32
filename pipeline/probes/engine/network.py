"""What outlives a batch: open connections, addresses, TLS contexts."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping

from pipeline.probes.engine.clocks import stamping_socket
from pipeline.probes.engine.connection import Connection
from pipeline.probes.engine.dial import ConnectError
from pipeline.probes.engine.lookup import Lookup, look_up
from pipeline.probes.engine.message import Origin
from pipeline.probes.engine.polling import READ, Poller
from pipeline.probes.engine.tls import TlsSession, client_context


class Network:
    """The connections that no request is using, and what it takes to open others."""

    def __init__(self) -> None:
        self.poller = Poller()
        self._stamping = stamping_socket()
        self._idle: dict[Origin, list[Connection]] = {}
        self._lookups: dict[tuple[str, int], Lookup] = {}
        self._contexts: dict[str | None, ssl.SSLContext | str] = {}

    def prepare(
        self, wanted: Mapping[Origin, float], longest_s: float, is_stopped: Callable[[], bool]
    ) -> None:
        """Do what takes long: look up hosts of which connections will be opened, read CA files.

        ``wanted`` is how many connections to an origin may be called for, idle ones included.
        """
        opening = [origin for origin, n in wanted.items() if len(self._idle.get(origin, ())) < n]
        hosts = {(origin.host, origin.port) for origin in opening}
        self._lookups |= look_up(hosts, longest_s, is_stopped)
        for origin in opening:
            if origin.scheme == "https" and origin.ca_file not in self._contexts:
                self._contexts[origin.ca_file] = _context(origin.ca_file)

    def lookup(self, origin: Origin) -> Lookup:
        """Return what the last lookup of its host found."""
        return self._lookups[origin.host, origin.port]

    def tls_session(self, origin: Origin) -> TlsSession | None:
        """Return a new session, None where there is no TLS; raises ``ConnectError``."""
        if origin.scheme == "http":
            return None
        context = self._contexts[origin.ca_file]
        if isinstance(context, str):
            raise ConnectError(context)
        return TlsSession(context, origin.host)

    def take_idle(self, origin: Origin) -> Connection | None:
        """Return an open connection that nobody uses, the one used last; None without one."""
        idle = self._idle.get(origin, [])
        while idle:
            connection = idle.pop()
            connection.on_events(READ, is_late=False)
            if _is_open(connection):
                return connection
            connection.close()
        return None

    def keep(self, origin: Origin, connection: Connection) -> None:
        """Keep an open connection for the next request to its origin."""
        connection.attempt = None
        self._idle.setdefault(origin, []).append(connection)

    def look_after(self, connection: Connection) -> None:
        """Drop an idle connection if what has come ends it; TLS may talk to itself."""
        for idle in self._idle.values():
            if connection in idle and not _is_open(connection):
                idle.remove(connection)
                connection.close()

    def close(self) -> None:
        """Close all that is open."""
        for idle in self._idle.values():
            while idle:
                idle.pop().close()
        self._stamping.close()
        self.poller.close()


def _is_open(connection: Connection) -> bool:
    # Bytes that nobody asked for would be taken for the start of the next answer.
    return not connection.take() and connection.end is None


def _context(ca_file: str | None) -> ssl.SSLContext | str:
    try:
        return client_context(ca_file)
    except (OSError, ssl.SSLError) as error:
        return f"its ca_file cannot be used: {error.strerror or error}"
