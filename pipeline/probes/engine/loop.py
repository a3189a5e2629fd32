"""One batch: requests begin when they are due, and reading goes before everything else.

With many streams, what was read is worked through a moment later and several reads at a time.
Nothing is measured later for it: the kernel has stamped what came.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable
from heapq import heappop, heappush

from pipeline.probes.engine.attempt import Attempt
from pipeline.probes.engine.connection import Connection
from pipeline.probes.engine.dial import Dial
from pipeline.probes.engine.network import Network

# A socket that was not looked at for so long may hold more than one segment.
_LATE_NS = 500_000
# What was read is worked through in turns of this length; between two of them sockets are read.
_TURN_NS = 100_000
# What can wait does so for this long per stream: several reads at a time cost less.
_PUT_OFF_NS = 400_000
_LONGEST_PUT_OFF_NS = 100_000_000
# Deadlines and the word to stop are looked at so often.
_TICK_NS = 20_000_000
# A wake-up may come so late, so the last bit of time before a request is due is spent awake.
_AWAKE_NS = 1_500_000
_NEVER_NS = 1 << 62


class Loop:
    """Runs attempts, as many at a time as there are streams.

    The streams become free one after the other within ``ramp_s``. An attempt whose request has a
    due time waits for that too; the others take their turn in the order they come in.
    """

    def __init__(
        self,
        attempts: Iterable[Attempt],
        streams: int,
        ramp_s: float,
        network: Network,
        is_stopped: Callable[[], bool],
    ) -> None:
        self._network = network
        self._is_stopped = is_stopped
        self._start_ns = time.monotonic_ns()
        self._waiting = deque(sorted(attempts, key=lambda attempt: attempt.request.due_s or 0.0))
        # A heap: when each free stream became free, or will.
        self._free_ns = [
            self._start_ns + int(ramp_s * 1e9 * stream / streams) for stream in range(streams)
        ]
        self._under_way: set[Attempt] = set()
        self._to_do: dict[Connection | Dial, None] = {}
        # Those that can wait, the oldest first, and since when they do.
        self._put_off: dict[Connection | Dial, int] = {}
        self._tick_ns = 0

    def run(self) -> None:
        """Return when every attempt is over."""
        poller, looked_ns = self._network.poller, 0
        while self._waiting or self._under_way:
            now_ns = time.monotonic_ns()
            if now_ns >= self._tick_ns:
                self._check(now_ns)
                self._tick_ns = now_ns + _TICK_NS
            if now_ns >= self._due_ns():
                self._begin_next()
            events = poller.wait(self._pause_s())
            now_ns = time.monotonic_ns()
            is_late = now_ns - looked_ns > _LATE_NS
            looked_ns = now_ns
            for fd, event in events:
                link = poller.owners[fd]
                if link.on_events(event, is_late):
                    self._put_off.setdefault(link, now_ns)
                else:
                    self._to_do[link] = None
            self._work(now_ns)

    def _due_ns(self) -> int:
        if not self._waiting or not self._free_ns:
            return _NEVER_NS
        due_s = self._waiting[0].request.due_s
        return max(self._free_ns[0], self._start_ns + int((due_s or 0.0) * 1e9))

    def _begin_next(self) -> None:
        attempt, free_ns = self._waiting.popleft(), heappop(self._free_ns)
        due_s = attempt.request.due_s
        attempt.begin(free_ns if due_s is None else self._start_ns + int(due_s * 1e9))
        self._under_way.add(attempt)
        self._settle(attempt)

    def _pause_s(self) -> float:
        if self._to_do:
            return 0.0
        wake_ns = min(self._tick_ns, self._due_ns() - _AWAKE_NS, self._put_off_until_ns())
        return max(wake_ns - time.monotonic_ns(), 0) / 1e9

    def _put_off_until_ns(self) -> int:
        if not self._put_off:
            return _NEVER_NS
        since_ns = next(iter(self._put_off.values()))
        return since_ns + min(len(self._under_way) * _PUT_OFF_NS, _LONGEST_PUT_OFF_NS)

    def _work(self, now_ns: int) -> None:
        until_ns = now_ns + _TURN_NS
        while now_ns < until_ns:
            if self._to_do:
                link = next(iter(self._to_do))
                del self._to_do[link]
                self._put_off.pop(link, None)
            elif now_ns >= self._put_off_until_ns():
                link = next(iter(self._put_off))
                del self._put_off[link]
            else:
                return
            attempt = link.attempt
            if attempt is not None:
                attempt.advance()
                self._settle(attempt)
            elif isinstance(link, Connection):
                self._network.look_after(link)
            now_ns = time.monotonic_ns()

    def _settle(self, attempt: Attempt) -> None:
        if attempt.end_ns is not None and attempt in self._under_way:
            self._under_way.remove(attempt)
            heappush(self._free_ns, attempt.end_ns)

    def _check(self, now_ns: int) -> None:
        if self._is_stopped():
            for attempt in self._waiting:
                attempt.drop()
            self._waiting.clear()
            for attempt in self._under_way:
                attempt.fail("stopped", "stopped before its answer was whole")
        for attempt in list(self._under_way):
            attempt.check(now_ns)
            self._settle(attempt)
