"""A sample: one request as the statistics see it, read from its transcript."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal

from pipeline.probes.exchange import StampSource
from pipeline.probes.transcript import Loop, Phase

Outcome = Literal[
    "ok",
    "rate_limited",
    "overloaded",
    "timeout",
    "http_error",
    "stream_error",
    "truncated",
    "wrong_provider",
    "refused_config",
    "cancelled_budget",
]
TokenSource = Literal["usage", "x_groq", "chunks"]


@dataclass(frozen=True)
class Sample:
    """One request; times are CLOCK_MONOTONIC in ns, None where they never came.

    ``chunk_ns`` and ``chunk_bytes`` have one entry for each chunk that carried generated text
    (answer, reasoning or tool call): its arrival and the UTF-8 length of its text.
    ``coalesced_chunks`` counts those that came in one read with a chunk before them, and so share
    its stamp. ``completion_tokens`` always includes ``reasoning_tokens``, also where the provider
    counts them apart; ``token_source`` is None when no token came. ``cost_usd`` is what the
    provider reported. ``is_buffered`` says that the stream came in blocks, ``is_reasoning_hidden``
    that tokens were spent which the stream did not show: neither has a decode speed.
    """

    run_id: str
    request_id: str
    target: str
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
    outcome: Outcome
    reason: str | None
    http_status: int | None
    finish_reason: str | None
    is_done_seen: bool
    served_by: str | None
    served_model: str | None
    generation_id: str | None
    retry_after_s: float | None
    rate_limit_json: str
    content_encoding: str | None
    stamp_source: StampSource | None
    is_new_connection: bool | None
    peer: str | None
    dns_ms: float | None
    connect_ms: float | None
    tls_ms: float | None
    scheduled_ns: int | None
    connected_ns: int | None
    tls_done_ns: int | None
    sent_ns: int | None
    first_byte_ns: int | None
    first_event_ns: int | None
    first_reasoning_ns: int | None
    first_token_ns: int | None
    first_answer_ns: int | None
    last_token_ns: int | None
    end_ns: int | None
    chunk_ns: tuple[int, ...]
    chunk_bytes: tuple[int, ...]
    events: int
    coalesced_chunks: int
    is_buffered: bool
    is_reasoning_hidden: bool
    prompt_tokens: int | None
    completion_tokens: int | None
    reasoning_tokens: int | None
    cached_tokens: int | None
    token_source: TokenSource | None
    usage_json: str | None
    server_timing_json: str | None
    cost_usd: Decimal | None
    scheduled_at_utc: datetime
    sent_at_utc: datetime | None

    def to_record(self) -> dict[str, Any]:
        """Return a JSON object: instants as ISO text, the cost as a number."""
        record = asdict(self)
        record["cost_usd"] = None if self.cost_usd is None else float(self.cost_usd)
        record["scheduled_at_utc"] = self.scheduled_at_utc.isoformat()
        record["sent_at_utc"] = None if self.sent_at_utc is None else self.sent_at_utc.isoformat()
        return record
