"""From a planned batch to what is asked: ids, nonces, and the requests for the engine."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import count

from pipeline.probes.config import ProbeConfig
from pipeline.probes.exchange import Batch, Deadlines, Exchange
from pipeline.probes.planning import PlannedBatch
from pipeline.probes.prompts import with_nonce
from pipeline.probes.requests import request_of
from pipeline.probes.standing import Standing
from pipeline.probes.transcript import Ask

LONGEST_RAMP_S = 1.0


class Asker:
    """Asks for one run; ``keys`` and ``provider_names`` are by name of the target.

    ``environ`` fills the placeholders of addresses.
    """

    def __init__(
        self,
        config: ProbeConfig,
        *,
        run_id: str,
        keys: Mapping[str, str | None],
        environ: Mapping[str, str],
        provider_names: Mapping[str, str | None],
        region: str | None,
        clock: Callable[[], datetime],
    ) -> None:
        self._config = config
        self._run_id = run_id
        self._keys = keys
        self._environ = environ
        self._provider_names = provider_names
        self._region = region
        self._clock = clock
        self._numbers = count(1)

    def asks_of(self, batch: PlannedBatch, number: int) -> list[Ask]:
        """Return the asks of ``batch``, the run's batch ``number``; never the same ids twice."""
        target = batch.target
        scheduled_at_utc = self._clock().isoformat()
        return [
            Ask(
                request_id=f"{self._run_id}-{next(self._numbers):05d}",
                target=target.name,
                base_url=target.base_url,
                model_id=target.model_id,
                requested_model=target.model,
                provider_name=target.provider_name or self._provider_names.get(target.name),
                tag=target.tag,
                region=target.region or self._region,
                prompt_set=batch.prompt_set,
                prompt_sha256=request.prompt.sha256,
                pair_id=request.pair_id,
                turn=request.turn,
                phase=batch.phase,
                loop=batch.loop,
                concurrency=batch.concurrency,
                offered_rate_per_s=batch.offered_rate_per_s,
                round=batch.round,
                batch=number,
                max_tokens=request.prompt.max_tokens,
                temperature=self._config.temperature,
                scheduled_at_utc=scheduled_at_utc,
            )
            for request in batch.requests
        ]

    def engine_batch(self, batch: PlannedBatch, asks: Sequence[Ask], standing: Standing) -> Batch:
        """Return what the engine is to send for ``asks``; raises ``ProbeConfigError``."""
        config = self._config
        deadlines = Deadlines(config.connect_timeout_s, config.idle_timeout_s, config.timeout_s)
        due_s = batch.due_s or (None,) * len(asks)
        url = batch.target.completions_url(self._environ)
        return Batch(
            requests=tuple(
                request_of(
                    ask,
                    (
                        with_nonce(planned.prompt, self._nonce(ask))
                        if planned.has_nonce
                        else planned.prompt
                    ).messages,
                    batch.target,
                    url=url,
                    key=self._keys.get(batch.target.name),
                    deadlines=deadlines,
                    asks_for_usage=standing.asks_for_usage,
                    due_s=due,
                )
                for ask, planned, due in zip(asks, batch.requests, due_s, strict=True)
            ),
            concurrency=batch.concurrency,
            ramp_s=self._ramp_s(batch, standing),
            uses_new_connections=batch.uses_new_connections,
        )

    def without_key(self, exchange: Exchange, target: str) -> Exchange:
        """Return ``exchange`` with the key struck out, should the answer quote it."""
        key = self._keys.get(target)
        if not key or key.encode() not in exchange.body:
            return exchange
        # As long as the key: the pieces of the body keep their lengths.
        return replace(exchange, body=exchange.body.replace(key.encode(), b"*" * len(key)))

    def _nonce(self, ask: Ask) -> str:
        """Return 12 hex digits, new in every run; the requests of a pair share them."""
        name = f"{self._run_id}/{ask.pair_id or ask.request_id}"
        return hashlib.sha256(name.encode()).hexdigest()[:12]

    def _ramp_s(self, batch: PlannedBatch, standing: Standing) -> float:
        if batch.loop == "open" or batch.concurrency == 1:
            return 0.0
        if batch.phase == "warm_up":
            # Each stream is to open its connection; the first would take a late one's request.
            return 0.0
        if self._config.ramp_s is not None:
            return self._config.ramp_s
        latency_s = standing.mean_latency_s
        return LONGEST_RAMP_S if latency_s is None else min(LONGEST_RAMP_S, latency_s)
