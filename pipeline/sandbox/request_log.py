"""What a sandbox server was asked, for those who test a client against it."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock

_KEPT = 100_000


@dataclass(frozen=True)
class LoggedRequest:
    """One request to the API; ``status`` is 0 when no answer was sent."""

    path: str  # below the base URL, with the query
    status: int
    faults: tuple[str, ...]
    headers: dict[str, str]  # names in lower case; the key itself is left out
    is_authenticated: bool


class RequestLog:
    """Requests in the order of their answers, and how many were in work at once. Thread-safe."""

    def __init__(self) -> None:
        self._entries: deque[LoggedRequest] = deque(maxlen=_KEPT)
        self._lock = Lock()
        self._in_flight = 0
        self._max_in_flight = 0
        self._connections = 0

    @property
    def entries(self) -> list[LoggedRequest]:
        """The last requests, oldest first."""
        with self._lock:
            return list(self._entries)

    @property
    def paths(self) -> list[str]:
        """Paths of the last requests, oldest first."""
        return [entry.path for entry in self.entries]

    @property
    def statuses(self) -> Counter[int]:
        """How often each status was sent."""
        return Counter(entry.status for entry in self.entries)

    @property
    def max_in_flight(self) -> int:
        """The largest number of requests that were in work at the same time."""
        return self._max_in_flight

    @property
    def connections(self) -> int:
        """How many connections clients opened."""
        return self._connections

    def __len__(self) -> int:
        with self._lock:
            return len(self._entries)

    def clear(self) -> None:
        """Forget all that was."""
        with self._lock:
            self._entries.clear()
            self._max_in_flight = self._in_flight
            self._connections = 0

    def connection_opened(self) -> None:
        """Count a new connection."""
        with self._lock:
            self._connections += 1

    def add(
        self, path: str, status: int, faults: Iterable[str], headers: Iterable[tuple[str, str]]
    ) -> None:
        """Write down one request."""
        named = {name.lower(): value for name, value in headers}
        is_authenticated = named.pop("authorization", None) is not None
        entry = LoggedRequest(path, status, tuple(faults), named, is_authenticated)
        with self._lock:
            self._entries.append(entry)

    @contextmanager
    def in_flight(self) -> Iterator[None]:
        """Count a request as in work."""
        with self._lock:
            self._in_flight += 1
            self._max_in_flight = max(self._max_in_flight, self._in_flight)
        try:
            yield
        finally:
            with self._lock:
                self._in_flight -= 1
