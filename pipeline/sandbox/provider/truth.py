"""What was truly sent and when: the record of a request, as a line of JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from pipeline.sandbox.provider.events import Kind

TOKEN_KINDS: frozenset[Kind] = frozenset({"reasoning", "content"})


@dataclass
class TrueRequest:
    """A request as the server saw it; times are CLOCK_MONOTONIC in ns.

    ``arrived_ns`` is the kernel's stamp of the request's last segment (``stamp_source`` says if it
    had to be ours), ``accepted_ns`` when the connection was accepted, ``closed_ns`` when the
    answer was over. Each of ``events`` is stamped right before the call that sent its last byte.
    ``is_whole`` is false when the connection broke before the answer was over. ``nth`` counts the
    requests of a connection from 1. Of the key only ``has_key`` is noted.
    """

    seq: int
    connection: int
    nth: int
    accepted_ns: int
    arrived_ns: int
    stamp_source: Literal["kernel", "user"]
    status: int | None = None
    generation_id: str | None = None
    events: list[tuple[Kind, int]] = field(default_factory=list)
    closed_ns: int | None = None
    is_whole: bool = False
    model: str | None = None
    pin: str | None = None
    has_key: bool = False
    accept_encoding: str | None = None
    prompt_head: str = ""
    max_tokens: int | None = None

    def sent_ns(self, *kinds: Kind) -> list[int]:
        """Return when events of these kinds were sent, in order."""
        return [sent_ns for kind, sent_ns in self.events if kind in kinds]

    @property
    def token_ns(self) -> list[int]:
        """When chunks with generated text were sent."""
        return [sent_ns for kind, sent_ns in self.events if kind in TOKEN_KINDS]

    def to_line(self) -> bytes:
        """Return one line of JSON."""
        return json.dumps(asdict(self), separators=(",", ":")).encode("ascii") + b"\n"

    @classmethod
    def from_line(cls, line: bytes) -> TrueRequest:
        """Return what ``to_line`` wrote."""
        record: dict[str, Any] = json.loads(line)
        record["events"] = [(kind, sent_ns) for kind, sent_ns in record["events"]]
        return cls(**record)
