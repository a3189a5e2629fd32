"""A transcript: what was asked of whom and what came back; the raw record of a probe."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, Literal

from pipeline.probes.exchange import Exchange

Phase = Literal["warm_up", "measure", "cold_start"]
Loop = Literal["closed", "open"]
# Why a planned request was never sent.
NotSent = Literal["refused_config", "cancelled_budget"]


@dataclass(frozen=True)
class Ask:
    """What was asked: everything about a request that is decided before it is sent.

    ``model_id`` is the model under which the figures are shown, ``requested_model`` the id in the
    request. ``tag`` is the pinned endpoint at OpenRouter and ``provider_name`` who must serve it;
    both None for a provider that is asked directly. ``batch`` counts the batches of a run from 1;
    requests of one batch ran together. ``turn`` counts from 1 within a sequence that
    belongs together (a cached-prefix pair), ``pair_id`` names the sequence.
    """

    request_id: str
    target: str
    base_url: str
    model_id: str
    requested_model: str
    provider_name: str | None
    tag: str | None
    region: str | None
    prompt_set: str
    prompt_sha256: str
    pair_id: str | None
    turn: int
    phase: Phase
    loop: Loop
    concurrency: int
    offered_rate_per_s: float | None
    round: int
    batch: int
    max_tokens: int
    temperature: float | None
    scheduled_at_utc: str


@dataclass(frozen=True)
class Transcript:
    """A request of a run; ``exchange`` is None exactly when ``not_sent`` says why."""

    run_id: str
    ask: Ask
    exchange: Exchange | None
    not_sent: NotSent | None = None
    not_sent_reason: str | None = None

    def to_line(self) -> bytes:
        """Return one line of JSON."""
        record: dict[str, Any] = {
            "run_id": self.run_id,
            "ask": asdict(self.ask),
            "exchange": None if self.exchange is None else self.exchange.to_record(),
            "not_sent": self.not_sent,
            "not_sent_reason": self.not_sent_reason,
        }
        return json.dumps(record, separators=(",", ":")).encode("ascii") + b"\n"

    @classmethod
    def from_line(cls, line: bytes) -> Transcript:
        """Return what ``to_line`` wrote; ``ValueError`` for a torn line."""
        return cls.from_record(json.loads(line))

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Transcript:
        """Return the transcript of a parsed line."""
        exchange = record["exchange"]
        return cls(
            run_id=record["run_id"],
            ask=Ask(**record["ask"]),
            exchange=None if exchange is None else Exchange.from_record(exchange),
            not_sent=record["not_sent"],
            not_sent_reason=record["not_sent_reason"],
        )
