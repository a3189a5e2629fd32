"""The self-check: how far the engine's times are from the truth, on this machine and right now."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import TracebackType
from typing import Self

from pipeline.probes.exchange import Batch, Deadlines, Engine, EngineRequest, Exchange
from pipeline.probes.quantiles import quantile
from pipeline.probes.records import SelfCheck
from pipeline.probes.streams import read_stream
from pipeline.sandbox.provider.process import ProviderError, ProviderProcess
from pipeline.sandbox.provider.script import Script
from pipeline.sandbox.provider.truth import TrueRequest

TOKENS_PER_S = 100.0
SECONDS = 2.0
# Enough requests that one of them is not all there is to say.
_FEWEST_REQUESTS = 16
_FEWEST_PER_STREAM = 2
_TTFT_MS = (20.0, 60.0)
_DEADLINES = Deadlines(connect_s=10, idle_s=10, total_s=60)


# By id of the generation.
Truth = Mapping[str | None, TrueRequest]


class SelfCheckError(Exception):
    """The self-check found nothing out. One line."""


@dataclass(frozen=True)
class Errors:
    """How far the times of one answer are from the truth, absolute."""

    ttft_ms: float
    gaps_ms: tuple[float, ...]


class InstrumentCheck:
    """Checks ``engine`` against a sandbox provider that runs while the context lasts.

    Raises ``SelfCheckError``, and what the engine raises.
    """

    def __init__(self, engine: Engine, *, is_tls: bool) -> None:
        self._engine = engine
        self._is_tls = is_tls
        self._provider = ProviderProcess(is_tls=is_tls)

    def __enter__(self) -> Self:
        try:
            self._provider.__enter__()
        except ProviderError as problem:
            raise SelfCheckError(str(problem)) from None
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._provider.__exit__(kind, value, traceback)

    def check(
        self, concurrency: int, *, tokens_per_s: float = TOKENS_PER_S, seconds: float = SECONDS
    ) -> SelfCheck:
        """Play about ``seconds`` over warm connections, so many streams with so many tokens/s."""
        try:
            exchanges, truth = self._measure(concurrency, tokens_per_s, seconds)
        except ProviderError as problem:
            raise SelfCheckError(str(problem)) from None
        errors = [errors_of(exchange, truth) for exchange in exchanges]
        ttft_ms = [error.ttft_ms for error in errors]
        gaps_ms = [gap for error in errors for gap in error.gaps_ms]
        return SelfCheck(
            concurrency=concurrency,
            tokens_per_s=tokens_per_s,
            is_tls=self._is_tls,
            requests=len(errors),
            seconds=round(_span_s(exchanges), 3),
            ttft_error_p50_ms=_quantile(ttft_ms, 0.5),
            ttft_error_p99_ms=_quantile(ttft_ms, 0.99),
            gap_error_p50_ms=_quantile(gaps_ms, 0.5),
            gap_error_p99_ms=_quantile(gaps_ms, 0.99),
            stamp_source="user" if "user" in {one.stamp_source for one in exchanges} else "kernel",
        )

    def _measure(
        self, concurrency: int, tokens_per_s: float, seconds: float
    ) -> tuple[Sequence[Exchange], Truth]:
        per_stream = max(_FEWEST_PER_STREAM, math.ceil(_FEWEST_REQUESTS / concurrency))
        request_s = seconds / per_stream
        tokens = max(2, round((request_s - sum(_TTFT_MS) / 2000) * tokens_per_s))
        self._provider.set_script(
            Script(ttft_ms=_TTFT_MS, gap_ms=1000 / tokens_per_s, tokens=tokens)
        )
        self._play(concurrency, concurrency, max_tokens=1)  # opens the connections
        requests = concurrency * per_stream
        exchanges = self._play(requests, concurrency, max_tokens=tokens, ramp_s=request_s / 2)
        return exchanges, {true.generation_id: true for true in self._provider.truth()}

    def _play(
        self, requests: int, concurrency: int, *, max_tokens: int, ramp_s: float = 0.0
    ) -> tuple[Exchange, ...]:
        provider = self._provider
        body = {
            "model": "self-check",
            "messages": [{"role": "user", "content": "Say something."}],
            "stream": True,
            "max_tokens": max_tokens,
        }
        batch = Batch(
            tuple(
                EngineRequest(
                    request_id=str(number),
                    url=f"{provider.base_url}/chat/completions",
                    headers={"Content-Type": "application/json", "Accept-Encoding": "identity"},
                    body=json.dumps(body).encode("ascii"),
                    deadlines=_DEADLINES,
                    ca_file=None if provider.ca_file is None else str(provider.ca_file),
                )
                for number in range(requests)
            ),
            concurrency,
            ramp_s,
        )
        return self._engine.run(batch).exchanges


def errors_of(exchange: Exchange, truth: Truth) -> Errors:
    """Compare an answer with the record of its generation; raises ``SelfCheckError``."""
    if exchange.fault is not None:
        raise SelfCheckError(f"a request failed: {exchange.fault.text}")
    stream = read_stream(exchange)
    true = truth.get(stream.generation_id)
    seen, sent = stream.chunk_ns, true.token_ns if true else []
    if true is None or exchange.sent_ns is None or not sent or len(seen) != len(sent):
        raise SelfCheckError(f"of the {len(sent)} chunks of an answer {len(seen)} were seen")
    ttft_ns = (seen[0] - exchange.sent_ns) - (sent[0] - true.arrived_ns)
    gaps_ns = (one - other for one, other in zip(_gaps(seen), _gaps(sent), strict=True))
    return Errors(abs(ttft_ns) / 1e6, tuple(abs(gap_ns) / 1e6 for gap_ns in gaps_ns))


def _gaps(times_ns: Sequence[int]) -> Iterator[int]:
    return (after - before for before, after in pairwise(times_ns))


def _span_s(exchanges: Sequence[Exchange]) -> float:
    begun = min(exchange.scheduled_ns for exchange in exchanges)
    return (max(exchange.end_ns or begun for exchange in exchanges) - begun) / 1e9


def _quantile(values: Sequence[float], q: float) -> float:
    found = quantile(values, q)
    assert found is not None  # noqa: S101 - every answer has two chunks at least
    return round(found, 6)
