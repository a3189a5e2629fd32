"""What the engine is told to send and what it saw, as plain records; standard library only.

Times are nanoseconds of CLOCK_MONOTONIC (``time.monotonic_ns``), durations milliseconds.
"""

from __future__ import annotations

import base64
from dataclasses import asdict, dataclass
from typing import Any, Literal, Protocol

StampSource = Literal["kernel", "user"]
# How an exchange can break: a name could not be looked up or connected to, a deadline passed, the
# peer cut the connection, what came was no HTTP, or we were told to stop.
FaultKind = Literal["connect", "timeout", "cut", "protocol", "stopped"]


@dataclass(frozen=True)
class Deadlines:
    """How long a request may take: to connect, between two bytes, in all."""

    connect_s: float
    idle_s: float
    total_s: float


@dataclass(frozen=True)
class EngineRequest:
    """One request to send, exactly once.

    ``due_s`` is the moment to send it, in seconds from the start of the batch (open loop); None
    sends it as soon as a stream is free (closed loop). ``headers`` hold the key, so a request is
    never written anywhere.
    """

    request_id: str
    url: str
    headers: dict[str, str]
    body: bytes
    deadlines: Deadlines
    ca_file: str | None = None
    due_s: float | None = None


@dataclass(frozen=True)
class Batch:
    """Requests that run together, at most ``concurrency`` at a time.

    In a closed loop the streams start evenly over ``ramp_s``. ``uses_new_connections`` closes
    each connection after its request; otherwise connections stay open for later batches.
    """

    requests: tuple[EngineRequest, ...]
    concurrency: int
    ramp_s: float = 0.0
    uses_new_connections: bool = False


@dataclass(frozen=True)
class Fault:
    """Why an exchange ended before its answer was whole; ``text`` is one line without secrets."""

    kind: FaultKind
    text: str


@dataclass(frozen=True)
class Exchange:
    """One request and its answer, raw and complete.

    ``scheduled_ns`` is when it was due (closed loop: when its stream became free), ``sent_ns`` is
    taken right before the call that handed the last byte of the request to the kernel. The body is
    as it came, transfer coding undone and content coding not; ``pieces`` are ``(arrived_ns,
    length)`` of its parts, in order, one for each read from the socket. ``first_byte_ns`` is of
    the answer's head, ``end_ns`` of the end of the body or of the fault. Times that never came are
    None. ``offset_to_utc_ns`` turns every time into nanoseconds of the Unix epoch.
    """

    request_id: str
    scheduled_ns: int
    offset_to_utc_ns: int
    is_new_connection: bool | None = None
    peer: str | None = None
    dns_ms: float | None = None
    connect_ms: float | None = None
    tls_ms: float | None = None
    connected_ns: int | None = None
    tls_done_ns: int | None = None
    sent_ns: int | None = None
    first_byte_ns: int | None = None
    end_ns: int | None = None
    http_status: int | None = None
    headers: dict[str, str] | None = None
    pieces: tuple[tuple[int, int], ...] = ()
    body: bytes = b""
    stamp_source: StampSource | None = None
    read_lag_max_ms: float | None = None
    fault: Fault | None = None

    def to_record(self) -> dict[str, Any]:
        """Return a JSON object; a body that is not UTF-8 goes in as base64."""
        record = asdict(self)
        record["pieces"] = _as_steps(self.pieces)
        del record["body"]
        try:
            record["body"] = self.body.decode("utf-8")
        except UnicodeDecodeError:
            record["body_base64"] = base64.b64encode(self.body).decode("ascii")
        return record

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Exchange:
        """Return what ``to_record`` wrote."""
        values = dict(record)
        packed = values.pop("body_base64", None)
        values["body"] = (
            values["body"].encode("utf-8") if packed is None else base64.b64decode(packed)
        )
        values["pieces"] = _from_steps(values["pieces"])
        if values["fault"] is not None:
            values["fault"] = Fault(**values["fault"])
        return cls(**values)


@dataclass(frozen=True)
class EngineReport:
    """How well the engine kept up in a batch; None where there is nothing to tell.

    ``send_lag_p99_ms`` is how late requests went out after they were due, ``read_lag_p99_ms`` how
    long bytes lay in the kernel before they were read, ``busy_share`` the engine's share of a
    core, ``machine_busy_share`` the share of all cores that were not idle, ``steal_share`` what
    the hypervisor took.
    """

    send_lag_p99_ms: float | None
    read_lag_p99_ms: float | None
    busy_share: float
    machine_busy_share: float | None
    steal_share: float | None


@dataclass(frozen=True)
class BatchResult:
    """The exchanges of a batch, one per request and in the order of its requests."""

    exchanges: tuple[Exchange, ...]
    report: EngineReport


class Engine(Protocol):
    """Sends batches, one after the other."""

    def run(self, batch: Batch) -> BatchResult:
        """Send ``batch`` and return what came."""

    def stop(self) -> None:
        """Make ``run`` end soon, from another thread."""


def _as_steps(pieces: tuple[tuple[int, int], ...]) -> list[list[int]]:
    """Return ``[length, ns since the piece before]`` a piece: short numbers compress well."""
    steps, before = [], 0
    for arrived_ns, length in pieces:
        steps.append([length, arrived_ns - before])
        before = arrived_ns
    return steps


def _from_steps(steps: list[list[int]]) -> tuple[tuple[int, int], ...]:
    pieces, arrived_ns = [], 0
    for length, step in steps:
        arrived_ns += step
        pieces.append((arrived_ns, length))
    return tuple(pieces)
