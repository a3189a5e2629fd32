"""What goes through the pipe between the engine and its parent: lengths and JSON."""

from __future__ import annotations

import base64
import json
import socket
import struct
from dataclasses import asdict
from typing import Any

from pipeline.probes.exchange import (
    Batch,
    BatchResult,
    Deadlines,
    EngineReport,
    EngineRequest,
    Exchange,
)

_LENGTH = struct.Struct("!Q")
_MOST_AT_ONCE = 1 << 20


def write_frame(channel: socket.socket, record: dict[str, Any]) -> None:
    """Send one JSON object; raises ``OSError`` when nobody reads it."""
    data = json.dumps(record, separators=(",", ":")).encode("ascii")
    channel.sendall(_LENGTH.pack(len(data)))
    channel.sendall(data)


def read_frame(channel: socket.socket) -> dict[str, Any] | None:
    """Wait for the next JSON object; None when the other side is gone."""
    header = _read(channel, _LENGTH.size)
    data = None if header is None else _read(channel, _LENGTH.unpack(header)[0])
    if data is None:
        return None
    record: dict[str, Any] = json.loads(data)
    return record


def batch_to_record(batch: Batch) -> dict[str, Any]:
    """Return a JSON object; it holds the keys, so it goes nowhere but to the engine."""
    record = asdict(batch)
    for request in record["requests"]:
        request["body"] = base64.b64encode(request["body"]).decode("ascii")
    return record


def batch_from_record(record: dict[str, Any]) -> Batch:
    """Return what ``batch_to_record`` wrote."""
    requests = []
    for values in record["requests"]:
        deadlines = Deadlines(**values.pop("deadlines"))
        body = base64.b64decode(values.pop("body"))
        requests.append(EngineRequest(body=body, deadlines=deadlines, **values))
    return Batch(**record | {"requests": tuple(requests)})


def result_to_record(result: BatchResult) -> dict[str, Any]:
    """Return a JSON object."""
    return {
        "exchanges": [exchange.to_record() for exchange in result.exchanges],
        "report": asdict(result.report),
    }


def result_from_record(record: dict[str, Any]) -> BatchResult:
    """Return what ``result_to_record`` wrote."""
    exchanges = tuple(Exchange.from_record(exchange) for exchange in record["exchanges"])
    return BatchResult(exchanges, EngineReport(**record["report"]))


def _read(channel: socket.socket, size: int) -> bytes | None:
    data = bytearray()
    while len(data) < size:
        part = channel.recv(min(size - len(data), _MOST_AT_ONCE))
        if not part:
            return None
        data += part
    return bytes(data)
