"""The addresses of hosts. ``getaddrinfo`` blocks, so it runs before a batch, never within one."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Collection
from queue import Empty, SimpleQueue
from threading import Thread
from typing import NamedTuple

from pipeline.probes.engine.dial import Address
from pipeline.probes.exchange import Fault

_LOOK_FOR_STOP_S = 0.05


class Lookup(NamedTuple):
    """What is known of a host: its addresses and how long it took to learn them, or a fault."""

    addresses: tuple[Address, ...] = ()
    dns_ms: float | None = None
    fault: Fault | None = None


def look_up(
    hosts: Collection[tuple[str, int]], longest_s: float, is_stopped: Callable[[], bool]
) -> dict[tuple[str, int], Lookup]:
    """Look up all (host, port) side by side, for ``longest_s`` at most."""
    found: SimpleQueue[tuple[tuple[str, int], Lookup]] = SimpleQueue()
    for host in hosts:
        # A daemon, because nothing can end a lookup that hangs.
        Thread(target=lambda host=host: found.put((host, _look_up(host))), daemon=True).start()
    late = Fault("timeout", f"its address was not found within {longest_s:g} s")
    lookups = dict.fromkeys(hosts, Lookup(fault=late))
    missing, deadline = len(hosts), time.monotonic() + longest_s
    while missing and not is_stopped() and time.monotonic() < deadline:
        try:
            host, lookup = found.get(timeout=_LOOK_FOR_STOP_S)
        except Empty:
            continue
        lookups[host] = lookup
        missing -= 1
    return lookups


def _look_up(host: tuple[str, int]) -> Lookup:
    began_ns = time.monotonic_ns()
    try:
        infos = socket.getaddrinfo(*host, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no host name"
        return Lookup(fault=Fault("connect", f"its address was not found: {reason}"))
    dns_ms = (time.monotonic_ns() - began_ns) / 1e6
    return Lookup(tuple(Address(info[0], info[4]) for info in infos), dns_ms)
