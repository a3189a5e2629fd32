"""The engine over real sockets: framing, connections, deadlines, and what it never lets out."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from probe_engine import HEADERS, request, run, sample_of, samples_of, truth_of
from processes import is_running

from pipeline.probes.engine_process import EngineError, EngineProcess
from pipeline.probes.exchange import Batch, Deadlines, Exchange
from pipeline.sandbox.provider.process import ProviderProcess
from pipeline.sandbox.provider.script import Script

FAST = Script(ttft_ms=(5, 5), gap_ms=2, jitter=0, tokens=6)
KEY = "sk-canary-5f1c"


@pytest.fixture(scope="module", params=[False, True], ids=["plain", "TLS"])
def provider(request: pytest.FixtureRequest) -> Iterator[ProviderProcess]:
    with ProviderProcess(FAST, is_tls=request.param) as process:
        yield process


@pytest.fixture(autouse=True)
def as_usual(provider: ProviderProcess) -> None:
    provider.set_script(FAST)


def play(provider: ProviderProcess, *quirks: str, **changes: object) -> None:
    provider.set_script(FAST.model_copy(update={"quirks": quirks, **changes}))


def one(provider: ProviderProcess, **changes: object) -> Exchange:
    with EngineProcess() as engine:
        return engine.run(Batch((request(provider, **changes),), concurrency=1)).exchanges[0]


def test_the_body_is_as_it_came_and_every_piece_of_it_has_a_stamp(
    provider: ProviderProcess,
) -> None:
    exchange = one(provider)
    assert exchange.body.endswith(b"data: [DONE]\n\n")
    assert sum(length for _, length in exchange.pieces) == len(exchange.body)
    stamps = [arrived_ns for arrived_ns, _ in exchange.pieces]
    assert all(before <= after for before, after in pairwise(stamps))
    assert exchange.sent_ns is not None
    assert exchange.sent_ns < (exchange.first_byte_ns or 0) <= stamps[0]
    assert exchange.end_ns is not None
    assert stamps[-1] <= exchange.end_ns


@pytest.mark.skipif(sys.platform != "linux", reason="stamps of the kernel are Linux's")
def test_arrivals_are_stamped_by_the_kernel(provider: ProviderProcess) -> None:
    exchange = one(provider)
    assert exchange.stamp_source == "kernel"
    assert exchange.read_lag_max_ms is not None


def test_times_agree_with_the_servers_log(provider: ProviderProcess) -> None:
    provider.truth()
    samples = samples_of(run(provider, 8, 2))
    truth = truth_of(provider)
    for sample in samples:
        true = truth[sample.generation_id]
        assert sample.sent_ns is not None
        assert sample.sent_ns <= true.arrived_ns
        assert len(sample.chunk_ns) == len(true.token_ns)
        # An arrival is never before its sending; 0.1 ms for the offset between two clocks.
        for got, sent in zip(sample.chunk_ns, true.token_ns, strict=True):
            assert got > sent - 100_000


@pytest.mark.parametrize(
    "quirk",
    ["split=3", "blocks=2", "close_framing", "slow_headers=0.05", "padding=3000", "crlf"],
)
def test_however_the_bytes_travel_the_answer_is_the_same(
    provider: ProviderProcess, quirk: str
) -> None:
    play(provider, quirk)
    sample = sample_of(one(provider))
    assert (sample.outcome, len(sample.chunk_ns), sample.completion_tokens) == ("ok", 6, 6)


@pytest.mark.parametrize("quirk", ["cut=3", "reset=3"])
def test_a_stream_that_breaks_keeps_what_had_come(provider: ProviderProcess, quirk: str) -> None:
    play(provider, quirk)
    exchange = one(provider)
    assert exchange.fault is not None
    assert exchange.fault.kind == "cut"
    sample = sample_of(exchange)
    assert sample.outcome == "truncated"
    assert sample.first_token_ns is not None


def test_bytes_that_keep_coming_do_not_move_the_deadline(
    provider: ProviderProcess,
) -> None:
    play(provider, "comments=20", gap_ms=60.0, tokens=1000)
    exchange = one(provider, deadlines=Deadlines(connect_s=5, idle_s=5, total_s=0.5))
    assert exchange.fault is not None
    assert exchange.fault.kind == "timeout"
    assert sample_of(exchange).outcome == "timeout"
    assert exchange.pieces


def test_silence_is_a_timeout_of_its_own(provider: ProviderProcess) -> None:
    play(provider, ttft_ms=(30_000.0, 30_000.0))
    exchange = one(provider, deadlines=Deadlines(connect_s=5, idle_s=0.3, total_s=20))
    assert exchange.fault is not None
    assert exchange.fault.kind == "timeout"
    assert sample_of(exchange).first_token_ns is None


def test_nobody_listening_is_told_and_nothing_was_sent(provider: ProviderProcess) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1/chat/completions"
        exchange = one(provider, url=url)
    assert exchange.fault is not None
    assert exchange.fault.kind == "connect"
    assert exchange.sent_ns is None
    assert sample_of(exchange).outcome == "http_error"


def test_a_host_without_an_address_is_told(provider: ProviderProcess) -> None:
    exchange = one(provider, url="http://no-such-host.invalid/v1/chat/completions")
    assert exchange.fault is not None
    assert exchange.fault.kind == "connect"


def test_a_certificate_that_nobody_vouches_for_is_refused(provider: ProviderProcess) -> None:
    if provider.ca_file is None:
        pytest.skip("there is no certificate without TLS")
    exchange = one(provider, ca_file=None)
    assert exchange.fault is not None
    assert exchange.fault.kind == "connect"
    assert exchange.sent_ns is None


def test_a_connection_that_the_server_closed_meanwhile_is_not_used_again(
    provider: ProviderProcess,
) -> None:
    play(provider, "idle_close=1")
    with EngineProcess() as engine:
        batches = [Batch((request(provider, n),), concurrency=1) for n in range(2)]
        first = engine.run(batches[0]).exchanges[0]
        _until(lambda: len(provider.truth()) >= 1)
        threading.Event().wait(0.3)  # the server closes within this time
        second = engine.run(batches[1]).exchanges[0]
    assert (first.fault, second.fault) == (None, None)
    assert (first.is_new_connection, second.is_new_connection) == (True, True)


def test_new_connections_are_opened_where_they_are_asked_for(provider: ProviderProcess) -> None:
    exchanges = run(provider, 3, uses_new_connections=True).exchanges
    assert [each.is_new_connection for each in exchanges] == [True] * 3
    assert all(each.connect_ms is not None for each in exchanges)


def test_open_loop_requests_go_out_when_they_are_due(provider: ProviderProcess) -> None:
    due_s = (0.0, 0.1, 0.2)
    batch = Batch(tuple(request(provider, n, due_s=s) for n, s in enumerate(due_s)), concurrency=3)
    with EngineProcess() as engine:
        exchanges = engine.run(batch).exchanges
    begun_ns = exchanges[0].scheduled_ns
    scheduled_s = [(each.scheduled_ns - begun_ns) / 1e9 for each in exchanges]
    assert scheduled_s == pytest.approx(due_s, abs=0.001)
    assert all((each.sent_ns or 0) >= each.scheduled_ns for each in exchanges)


def test_only_harmless_headers_leave_the_engine(provider: ProviderProcess) -> None:
    headers = one(provider).headers
    assert headers is not None
    assert headers["server"] == "tokentape-sandbox"
    assert not {"set-cookie", "authorization"} & headers.keys()


def test_a_key_is_on_no_command_line_and_in_no_environment(provider: ProviderProcess) -> None:
    headers = HEADERS | {"Authorization": f"Bearer {KEY}"}
    provider.truth()
    with EngineProcess() as engine:
        exchange = engine.run(Batch((request(provider, headers=headers),), 1)).exchanges[0]
        process = Path(f"/proc/{engine._process.pid}")
        if process.exists():
            shown = (process / "cmdline").read_bytes() + (process / "environ").read_bytes()
            assert KEY.encode() not in shown
    assert provider.truth()[-1].has_key
    assert KEY not in str(exchange.to_record())


def test_a_stop_ends_the_batch_with_what_has_come(provider: ProviderProcess) -> None:
    batch = Batch(tuple(request(provider, n) for n in range(3)), concurrency=1)
    with EngineProcess() as engine:
        engine.run(batch)  # it is up by then, however busy the machine is
        play(provider, gap_ms=50.0, tokens=1000)
        timer = threading.Timer(1.0, engine.stop)
        timer.start()
        exchanges = engine.run(batch).exchanges
        timer.join()
        later = engine.run(batch).exchanges
    assert [each.fault.kind for each in exchanges if each.fault] == ["stopped"] * 3
    assert exchanges[0].pieces
    assert [each.sent_ns for each in (*exchanges[1:], *later)] == [None] * 5


def test_an_engine_that_dies_is_an_error_of_one_line(provider: ProviderProcess) -> None:
    with EngineProcess() as engine:
        engine._process.kill()
        engine._process.wait()
        with pytest.raises(EngineError, match="ended by itself"):
            engine.run(Batch((request(provider),), concurrency=1))


def test_the_engine_ends_with_its_parent() -> None:
    code = (
        "from pipeline.probes.engine_process import EngineProcess\n"
        "engine = EngineProcess().__enter__()\n"
        "print(engine._process.pid, flush=True)\n"
        "input()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdout is not None
        engine = int(parent.stdout.readline())
        parent.kill()
    _until(lambda: not is_running(engine))


def test_the_engine_loads_nothing_that_it_does_not_need() -> None:
    code = "import sys, pipeline.probes.engine.__main__; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    loaded = set(done.stdout.split())
    heavy = {"dagster", "duckdb", "polars", "pandas", "pydantic", "requests", "click", "asyncio"}
    assert not heavy & loaded
    assert "h11" in loaded


def _until(holds: Callable[[], bool]) -> None:
    for _ in range(200):
        if holds():
            return
        threading.Event().wait(0.05)
    raise AssertionError("it did not happen within ten seconds")
