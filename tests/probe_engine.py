"""Requests for the engine, and its answers as samples, for tests."""

from __future__ import annotations

import json
from typing import Any

from probe_transcripts import ASK

from pipeline.probes.engine_process import EngineProcess
from pipeline.probes.exchange import Batch, BatchResult, Deadlines, EngineRequest, Exchange
from pipeline.probes.reading import read_sample
from pipeline.probes.sample import Sample
from pipeline.probes.transcript import Transcript
from pipeline.sandbox.provider.process import ProviderProcess
from pipeline.sandbox.provider.truth import TrueRequest

DEADLINES = Deadlines(connect_s=10, idle_s=30, total_s=60)
HEADERS = {"Content-Type": "application/json", "Accept-Encoding": "identity"}


def request(provider: ProviderProcess, number: int = 0, **changes: Any) -> EngineRequest:
    """Return a request for a short answer of the sandbox provider."""
    body = {
        "model": "sandbox",
        "messages": [{"role": "user", "content": f"{number:012x} Say it."}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": 1000,
    }
    values: dict[str, Any] = {
        "request_id": str(number),
        "url": f"{provider.base_url}/chat/completions",
        "headers": HEADERS,
        "body": json.dumps(body).encode(),
        "deadlines": DEADLINES,
        "ca_file": None if provider.ca_file is None else str(provider.ca_file),
    }
    return EngineRequest(**(values | changes))


def run(provider: ProviderProcess, count: int, concurrency: int = 1, **changes: Any) -> BatchResult:
    """Send ``count`` requests in an engine of their own; ``changes`` are those of the batch."""
    batch = Batch(tuple(request(provider, n) for n in range(count)), concurrency, **changes)
    with EngineProcess() as engine:
        return engine.run(batch)


def sample_of(exchange: Exchange) -> Sample:
    """Return what the statistics see of an exchange."""
    return read_sample(Transcript("run", ASK, exchange))


def samples_of(result: BatchResult) -> list[Sample]:
    """Return the samples of a batch."""
    return [sample_of(exchange) for exchange in result.exchanges]


def truth_of(provider: ProviderProcess) -> dict[str | None, TrueRequest]:
    """Return the provider's log by generation id."""
    return {true.generation_id: true for true in provider.truth()}
