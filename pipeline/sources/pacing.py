"""When the next request may start: a steady rate, and pauses that hold for all threads."""

from __future__ import annotations

import threading
import time


class Clock:
    """Monotonic seconds, and waits that ``stop`` cuts short."""

    def __init__(self) -> None:
        self._stopped = threading.Event()

    def monotonic(self) -> float:
        """Return the seconds since some fixed instant."""
        return time.monotonic()

    def wait(self, seconds: float) -> bool:
        """Wait; True when ``stop`` was called before or meanwhile."""
        return self._stopped.wait(max(seconds, 0.0))

    def stop(self) -> None:
        """End all waits, now and later."""
        self._stopped.set()


class Pace:
    """Hands out start times, ``requests_per_s`` at most, none of them within a pause."""

    def __init__(self, requests_per_s: float) -> None:
        self._interval_s = 1.0 / requests_per_s
        self._next_start = float("-inf")
        self._paused_until = float("-inf")
        self._lock = threading.Lock()

    def reserve(self, now: float) -> float:
        """Take the next free start time at or after ``now``, in seconds of the same clock.

        Ask for a new one when a pause came up before it was reached.
        """
        with self._lock:
            start = max(now, self._next_start, self._paused_until)
            self._next_start = start + self._interval_s
            return start

    def pause_until(self, instant: float) -> None:
        """Let nothing start before ``instant``; a shorter pause does not cut a longer one."""
        with self._lock:
            self._paused_until = max(self._paused_until, instant)

    def pause_left(self, now: float) -> float:
        """Return for how many seconds from ``now`` nothing may start."""
        with self._lock:
            return max(self._paused_until - now, 0.0)
