"""Our engine as a client of the benchmark."""

from __future__ import annotations

import json

from benchmarks.probe_fidelity.clients.common import BODY
from benchmarks.probe_fidelity.errors import Seen
from benchmarks.probe_fidelity.peers import Load
from pipeline.probes.engine_process import EngineProcess
from pipeline.probes.exchange import Batch, Deadlines, EngineRequest, Exchange
from pipeline.probes.reading import read_sample
from pipeline.probes.transcript import Ask, Transcript

DEADLINES = Deadlines(connect_s=10, idle_s=60, total_s=120)
HEADERS = {"Content-Type": "application/json", "Accept-Encoding": "identity"}


def measure(load: Load) -> list[Seen]:
    """Send the requests; as in a run, a first batch opens the connections."""
    requests = tuple(
        EngineRequest(
            request_id=str(number),
            url=f"{load.url}/chat/completions",
            headers=HEADERS,
            body=json.dumps(BODY).encode(),
            deadlines=DEADLINES,
            ca_file=None if load.ca_file is None else str(load.ca_file),
        )
        for number in range(load.requests)
    )
    parts = (requests[: load.concurrency], requests[load.concurrency :])
    with EngineProcess() as engine:
        results = [engine.run(Batch(part, load.concurrency, load.ramp_s)) for part in parts]
    exchanges = [exchange for result in results for exchange in result.exchanges]
    return [seen for exchange in exchanges if (seen := _seen(exchange, load))]


def _seen(exchange: Exchange, load: Load) -> Seen | None:
    ask = Ask(
        request_id=exchange.request_id,
        target="sandbox",
        base_url=load.url,
        model_id="mock",
        requested_model="mock",
        provider_name=None,
        tag=None,
        region=None,
        prompt_set="short_chat",
        prompt_sha256="",
        pair_id=None,
        turn=1,
        phase="measure",
        loop="closed",
        concurrency=load.concurrency,
        offered_rate_per_s=None,
        round=1,
        batch=1,
        max_tokens=BODY["max_tokens"],
        temperature=None,
        scheduled_at_utc="2026-01-01T00:00:00+00:00",
    )
    sample = read_sample(Transcript("benchmark", ask, exchange))
    if sample.generation_id is None or sample.sent_ns is None:
        return None
    return Seen(sample.generation_id, sample.sent_ns, sample.chunk_ns)
