"""Faults that users of other tools reported, each with the right value: what a client does.

A real engine measures the sandbox provider, whose log says what truly happened.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator

import pytest
from probe_engine import request, run, sample_of, samples_of, truth_of
from probe_samples import sample

from pipeline.probes.engine_process import EngineProcess
from pipeline.probes.exchange import Batch
from pipeline.probes.metrics import metrics_of
from pipeline.probes.statistics import summarise
from pipeline.probes.throughput import steady_window
from pipeline.probes.trust import is_overloaded
from pipeline.sandbox.provider.process import ProviderProcess
from pipeline.sandbox.provider.script import Script

FAST = Script(ttft_ms=(5, 5), gap_ms=1, jitter=0, tokens=4)


@pytest.fixture(scope="module")
def provider() -> Iterator[ProviderProcess]:
    with ProviderProcess(FAST) as process:
        yield process


def play(provider: ProviderProcess, script: Script) -> None:
    provider.truth()  # what earlier tests left
    provider.set_script(script)


def with_quirks(*quirks: str) -> Script:
    return FAST.model_copy(update={"quirks": quirks})


def test_fault_21_the_clients_own_delay_is_told_as_the_servers(provider: ProviderProcess) -> None:
    """llm-d-benchmark #261: our own lag is measured, and too much of it refuses the figures."""
    play(provider, FAST)
    report = run(provider, 4, 2).report
    assert report.send_lag_p99_ms is not None
    assert report.read_lag_p99_ms is not None
    assert is_overloaded(send_lag_p99_ms=21.0, median_ttft_ms=400.0)
    assert not is_overloaded(send_lag_p99_ms=19.0, median_ttft_ms=400.0)


def test_fault_22_streams_beyond_a_pool_of_100_wait_for_a_connection(
    provider: ProviderProcess,
) -> None:
    """gpustack PR #2324: aiohttp's default limit; here all 120 are under way at once."""
    play(provider, FAST.model_copy(update={"ttft_ms": (1500.0, 1500.0)}))
    result = run(provider, 120, 120)
    truth = list(truth_of(provider).values())
    assert len({true.connection for true in truth}) == 120
    assert max(true.arrived_ns for true in truth) < min(true.closed_ns or 0 for true in truth)
    assert {sample.outcome for sample in samples_of(result)} == {"ok"}


def test_fault_23_the_cost_of_many_streams_lands_in_the_ttft(provider: ProviderProcess) -> None:
    """encode/httpx #3215: seconds at 64 streams. Ours is held against the provider's own log."""
    play(provider, FAST.model_copy(update={"ttft_ms": (50.0, 100.0), "gap_ms": 5.0}))
    samples = samples_of(run(provider, 192, 64, ramp_s=0.3))
    truth = truth_of(provider)
    errors_ms = []
    for each in samples:
        true, ttft_ms = truth[each.generation_id], metrics_of(each).ttft_ms
        assert ttft_ms is not None
        errors_ms.append(abs(ttft_ms - (true.token_ns[0] - true.arrived_ns) / 1e6))
    assert statistics.median(errors_ms) < 1


def test_fault_24_a_connection_is_dropped_after_done_because_the_body_is_not_read_out(
    provider: ProviderProcess,
) -> None:
    """openai-python #3440: every request paid TCP and TLS; one stream needs one connection."""
    play(provider, FAST)
    samples = samples_of(run(provider, 5))
    truth = truth_of(provider)
    assert [each.is_new_connection for each in samples] == [True, False, False, False, False]
    assert [truth[each.generation_id].nth for each in samples] == [1, 2, 3, 4, 5]
    assert len({true.connection for true in truth.values()}) == 1


def test_fault_25_a_session_per_request_puts_connecting_into_the_ttft(
    provider: ProviderProcess,
) -> None:
    """FastDeploy PR #8114: connections outlive a batch, and connecting is told apart."""
    play(provider, FAST)
    with EngineProcess() as engine:
        first, second = (
            engine.run(Batch((request(provider, n),), concurrency=1)).exchanges[0] for n in range(2)
        )
    assert (first.is_new_connection, second.is_new_connection) == (True, False)
    assert first.connect_ms is not None
    assert (second.dns_ms, second.connect_ms, second.tls_ms) == (None, None, None)
    metrics = metrics_of(sample_of(first))
    assert metrics.ttft_ms is not None
    assert metrics.cold_ttft_ms == pytest.approx(
        metrics.ttft_ms + (first.dns_ms or 0) + first.connect_ms
    )


def test_fault_27_a_hidden_retry_turns_a_503_into_a_slow_success(
    provider: ProviderProcess,
) -> None:
    """gpustack #1677: a 503 is one row, and the provider saw one request."""
    play(provider, with_quirks("status=503,first=1"))
    samples = samples_of(run(provider, 2))
    assert [each.outcome for each in samples] == ["overloaded", "ok"]
    assert [true.status for true in provider.truth()] == [503, 200]


def test_fault_28_waiting_out_a_limit_hides_slow_requests(provider: ProviderProcess) -> None:
    """azure-openai-benchmark #20: a 429 is an outcome with its Retry-After, not a latency."""
    play(provider, with_quirks("rate_limited=7,first=1"))
    (found,) = samples_of(run(provider, 1))
    assert (found.outcome, found.retry_after_s) == ("rate_limited", 7.0)
    assert metrics_of(found).ttft_ms is None
    assert len(provider.truth()) == 1


def test_fault_32_the_wait_for_the_clients_own_semaphore_is_left_out(
    provider: ProviderProcess,
) -> None:
    """vllm #54101: 500 ms were told where 1.9 s passed since the request was due."""
    play(provider, FAST.model_copy(update={"ttft_ms": (200.0, 200.0)}))
    batch = Batch(tuple(request(provider, n, due_s=0.0) for n in range(3)), concurrency=1)
    with EngineProcess() as engine:
        exchanges = engine.run(batch).exchanges
    assert len({each.scheduled_ns for each in exchanges}) == 1
    waits_ms = sorted(((each.sent_ns or 0) - each.scheduled_ns) / 1e6 for each in exchanges)
    # One at a time: the second goes out after the first answer, of 200 ms at least.
    assert waits_ms[1] > 200
    assert waits_ms[2] > 400


def test_fault_33_the_burst_at_the_start_is_inside_the_measured_window(
    provider: ProviderProcess,
) -> None:
    """evalscope #1627: streams start one by one, and the window opens when all have a token."""
    play(provider, FAST.model_copy(update={"ttft_ms": (450.0, 450.0)}))
    exchanges = run(provider, 4, 4, ramp_s=0.4).exchanges
    starts_ms = sorted((each.scheduled_ns - exchanges[0].scheduled_ns) / 1e6 for each in exchanges)
    assert starts_ms == pytest.approx([0, 100, 200, 300], abs=5)
    ms = 1_000_000
    # Two streams, 100 ms apart, a token each 100 ms: the second has its first token at 300 ms, the
    # first ends at 500 ms. Of the eight tokens, two and two come between.
    early = sample(concurrency=2)
    late = sample(concurrency=2, request_id="r2", **_later(100 * ms))
    assert steady_window([early, late]) == pytest.approx((4.0, 0.2))


def test_fault_34_a_body_without_chunks_is_held_back_by_the_reader(
    provider: ProviderProcess,
) -> None:
    """psf/requests #2433: lines came one event late, or all at the end."""
    play(provider, with_quirks("close_framing").model_copy(update={"gap_ms": 40.0}))
    (found,) = samples_of(run(provider, 1))
    sent = truth_of(provider)[found.generation_id].token_ns
    assert found.outcome == "ok"
    assert len(found.chunk_ns) == len(sent) == 4
    for got, true in zip(found.chunk_ns, sent, strict=True):
        assert abs(got - true) < 20_000_000  # half a gap: nothing waited for the next event


def test_fault_35_a_compressed_stream_comes_in_blocks(provider: ProviderProcess) -> None:
    """opencodex PR #115: identity is asked for; gzip that comes all the same is read and named."""
    play(provider, with_quirks("gzip_always"))
    (found,) = samples_of(run(provider, 1))
    (true,) = provider.truth()
    assert true.accept_encoding == "identity"
    assert (found.outcome, found.content_encoding, len(found.chunk_ns)) == ("ok", "gzip", 4)


def test_the_summary_of_a_real_batch_counts_all_of_it(provider: ProviderProcess) -> None:
    play(provider, with_quirks("status=500,first=1"))
    (summary,) = summarise(samples_of(run(provider, 3)))
    told = summary.to_record()
    assert (told["requests"], told["n"], told["n_http_error"]) == (3, 2, 1)


def _later(by_ns: int) -> dict[str, object]:
    base = sample()
    names = ("scheduled_ns", "sent_ns", "first_byte_ns", "first_event_ns", "first_token_ns")
    names += ("first_answer_ns", "last_token_ns", "end_ns")
    moved: dict[str, object] = {name: getattr(base, name) + by_ns for name in names}
    return moved | {"chunk_ns": tuple(at_ns + by_ns for at_ns in base.chunk_ns)}
