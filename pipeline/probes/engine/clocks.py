"""The clocks: monotonic time, its offset to UTC, and the kernel's stamp on what a socket receives.

The kernel stamps with CLOCK_REALTIME. Every other time of the engine is CLOCK_MONOTONIC.
"""

from __future__ import annotations

import socket
import struct
import sys
import time

_HAS_KERNEL_STAMPS = sys.platform == "linux"
# SO_TIMESTAMPNS, which the socket module does not name; so on all ports but parisc and sparc.
_SO_TIMESTAMPNS = 35
_TIMESPEC = struct.Struct("@ll")
ANCILLARY_BYTES = socket.CMSG_SPACE(_TIMESPEC.size) if _HAS_KERNEL_STAMPS else 0
# The scheduler may cut a reading in two, so the tightest of several counts.
_READINGS = 5


def offset_to_utc_ns() -> int:
    """Return what turns ``time.monotonic_ns()`` into nanoseconds of the Unix epoch."""
    tightest, offset = None, 0
    for _ in range(_READINGS):
        before = time.monotonic_ns()
        utc = time.time_ns()
        width = time.monotonic_ns() - before
        if tightest is None or width < tightest:
            tightest, offset = width, utc - before - width // 2
    return offset


def ask_for_stamps(receiver: socket.socket) -> None:
    """Let the kernel stamp what ``receiver`` receives, where it can."""
    if _HAS_KERNEL_STAMPS:
        receiver.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)


def stamp_utc_ns(ancillary: list[tuple[int, int, bytes]]) -> int:
    """Return the kernel's stamp that came with a ``recvmsg``, 0 when none did."""
    if not ancillary:
        return 0
    seconds, nanoseconds = _TIMESPEC.unpack_from(ancillary[0][2])
    return int(seconds * 1_000_000_000 + nanoseconds)


def stamping_socket() -> socket.socket:
    """Return a socket that keeps the kernel stamping as long as it is open.

    The kernel begins to stamp a moment after the first socket asked for it, so without this one
    the first packets of a connection would come unstamped.
    """
    keeper = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    ask_for_stamps(keeper)
    return keeper
