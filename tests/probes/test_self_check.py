"""The self-check: the errors it finds, worked out by hand and against a provider that runs."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from pipeline.probes.engine_process import EngineProcess
from pipeline.probes.exchange import Exchange, Fault
from pipeline.probes.self_check import Errors, InstrumentCheck, SelfCheckError, errors_of
from pipeline.sandbox.provider.truth import TrueRequest

MS = 1_000_000


def exchange(*seen_ms: float, sent_ms: float = 10, fault: Fault | None = None) -> Exchange:
    choices = [{"index": 0, "delta": {"content": "word"}}]
    chunk = json.dumps({"id": "chatcmpl-00000003", "choices": choices})
    event = f"data: {chunk}\n\n".encode()
    return Exchange(
        request_id="1",
        scheduled_ns=0,
        offset_to_utc_ns=0,
        sent_ns=int(sent_ms * MS),
        http_status=200,
        pieces=tuple((int(at_ms * MS), len(event)) for at_ms in seen_ms),
        body=event * len(seen_ms),
        fault=fault,
    )


def truth(*sent_ms: float, arrived_ms: float = 1000) -> dict[str | None, TrueRequest]:
    true = TrueRequest(3, 1, 1, accepted_ns=0, arrived_ns=int(arrived_ms * MS), stamp_source="user")
    true.events += [("role", true.arrived_ns)]
    true.events += [("content", int(at_ms * MS)) for at_ms in sent_ms]
    return {"chatcmpl-00000003": true}


def test_errors_are_differences_of_durations_and_of_no_clocks() -> None:
    # Seen: TTFT 100 ms, gaps 10 and 12. Truth: TTFT 99.7 ms, gaps 10.5 and 10.
    found = errors_of(exchange(110, 120, 132), truth(1099.7, 1110.2, 1120.2))
    assert found == Errors(pytest.approx(0.3), (pytest.approx(0.5), pytest.approx(2.0)))


def test_an_exact_instrument_has_no_error() -> None:
    assert errors_of(exchange(110, 120), truth(1100, 1110)) == Errors(0, (0,))


@pytest.mark.parametrize("sent_ms", [(), (1100,), (1100, 1110, 1120)])
def test_a_chunk_too_few_or_too_many_is_no_measurement(sent_ms: Sequence[float]) -> None:
    with pytest.raises(SelfCheckError, match=f"of the {len(sent_ms)} chunks"):
        errors_of(exchange(110, 120), truth(*sent_ms))


def test_an_answer_that_nobody_sent_is_no_measurement() -> None:
    with pytest.raises(SelfCheckError, match="of the 0 chunks"):
        errors_of(exchange(110, 120), {})


def test_a_request_that_failed_is_no_measurement() -> None:
    broken = exchange(110, fault=Fault("cut", "connection closed by the peer"))
    with pytest.raises(SelfCheckError, match="connection closed by the peer"):
        errors_of(broken, truth(1100))


@pytest.mark.parametrize("is_tls", [False, True])
def test_the_engine_is_checked_at_each_concurrency(is_tls: bool) -> None:
    with EngineProcess() as engine, InstrumentCheck(engine, is_tls=is_tls) as instrument:
        alone = instrument.check(1, seconds=0.5)
        together = instrument.check(8, tokens_per_s=200, seconds=0.5)
    assert (alone.concurrency, alone.requests) == (1, 16)
    assert (together.concurrency, together.requests, together.tokens_per_s) == (8, 16, 200)
    for check in (alone, together):
        assert check.is_tls is is_tls
        assert 0 <= check.ttft_error_p50_ms <= check.ttft_error_p99_ms
        assert 0 <= check.gap_error_p50_ms <= check.gap_error_p99_ms
        # A median that far off would be a wrong clock, not a busy machine.
        assert check.ttft_error_p50_ms < 5
