"""The other clients and tools, run by the interpreter of an environment that has them."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.probe_fidelity.errors import Seen

CLIENTS = Path(__file__).with_name("clients")
TIMEOUT_S = 300


@dataclass(frozen=True)
class Load:
    """What a client has to send, and where."""

    url: str  # base URL that ends in /v1
    ca_file: Path | None
    concurrency: int
    requests: int
    ramp_s: float


@dataclass(frozen=True)
class Peers:
    """The clients that one interpreter has."""

    python: Path

    def installed(self) -> list[str]:
        """Return the names of those that can be run."""
        return [name for name, (package, _) in _RUNS.items() if self._has(package)]

    def measure(self, name: str, load: Load) -> list[Seen]:
        """Run a client to its end; raises ``subprocess.SubprocessError`` when it fails."""
        _, run = _RUNS[name]
        with TemporaryDirectory(prefix="fidelity-") as folder:
            return list(run(self.python, load, Path(folder)))

    def _has(self, package: str) -> bool:
        command = [str(self.python), "-c", f"import {package}"]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _script(name: str) -> Callable[[Path, Load, Path], Iterator[Seen]]:
    def run(python: Path, load: Load, folder: Path) -> Iterator[Seen]:
        command = [python, CLIENTS / f"{name}.py", "--url", load.url]
        command += ["--concurrency", load.concurrency, "--requests", load.requests]
        command += ["--ramp-s", load.ramp_s]
        if load.ca_file is not None:
            command += ["--ca", load.ca_file]
        for line in _output_of(command, load, folder).splitlines():
            record = json.loads(line)
            yield Seen(record["generation_id"], record["start_ns"], tuple(record["chunk_ns"]))

    return run


def _guidellm(python: Path, load: Load, folder: Path) -> Iterator[Seen]:
    """guidellm keeps a request's start, and its first and last token."""
    prompts = folder / "prompts.jsonl"
    prompts.write_text('{"prompt": "Explain the tradeoffs of quantization."}\n' * load.requests)
    root = load.url.removesuffix("/v1")
    command = [python.with_name("guidellm"), "run", "--disable-console"]
    command += ["--backend", f"kind=openai_http,target={root},model=mock,validate_backend=false"]
    command += ["--profile", f"kind=concurrent,streams={load.concurrency}"]
    command += ["--constraint", f"kind=max_requests,count={load.requests}"]
    command += ["--data", f"kind=json_file,path={prompts}"]
    command += ["--output", f"kind=json,path={folder / 'report.json'}"]
    _output_of(command, load, folder)
    report = json.loads((folder / "report.json").read_text())
    for request in report["benchmarks"][0]["requests"]["successful"]:
        timings = request["info"]["timings"]
        times = [timings["first_token_iteration"], timings["last_token_iteration"]]
        start_ns = round(request["request_start_time"] * 1e9)
        first_ns = start_ns + round(request["time_to_first_token_ms"] * 1e6)
        last_ns = first_ns + round((times[1] - times[0]) * 1e9)
        yield Seen(request["response_id"], start_ns, (first_ns, last_ns))


def _aiperf(python: Path, load: Load, folder: Path) -> Iterator[Seen]:
    """aiperf keeps every chunk; its tokenizer, which counts prompts only, is a stand-in."""
    _output_of([python, CLIENTS / "stand_in_tokenizer.py", folder / "hub"], load, folder)
    command = [python.with_name("aiperf"), "profile", "-m", "mock", "--endpoint-type", "chat"]
    command += ["-u", load.url.removesuffix("/v1"), "--streaming", "--use-server-token-count"]
    command += ["--concurrency", load.concurrency, "--request-count", load.requests]
    command += ["--tokenizer", "stand-in/characters", "--synthetic-input-tokens-mean", "16"]
    command += ["--export-level", "raw", "--artifact-dir", folder, "--ui", "none"]
    _output_of(command, load, folder)
    for line in (folder / "profile_export_raw.jsonl").read_text().splitlines():
        record = json.loads(line)
        chunks: list[int] = []
        name = ""
        for answer in record["responses"]:
            for packet in answer["packets"]:
                if packet["name"] == "data" and packet["value"].startswith("{"):
                    chunk: dict[str, Any] = json.loads(packet["value"])
                    name = chunk["id"]
                    if chunk["choices"] and chunk["choices"][0]["delta"].get("content"):
                        chunks.append(answer["perf_ns"])
        yield Seen(name, record["start_perf_ns"], tuple(chunks))


def _output_of(command: list[object], load: Load, folder: Path) -> str:
    # No tool may look for models or tokenizers on the network.
    offline = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "HF_HOME": str(folder / "hub")}
    trusted = {} if load.ca_file is None else {"SSL_CERT_FILE": str(load.ca_file)}
    done = subprocess.run(
        [str(part) for part in command],
        check=True,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        cwd=folder,
        env=os.environ | offline | trusted,
    )
    return done.stdout


# Name: the package that must be there, and how it is run.
_RUNS: dict[str, tuple[str, Callable[[Path, Load, Path], Iterator[Seen]]]] = {
    "openai SDK, threads": ("openai", _script("openai_threads")),
    "httpx": ("httpx", _script("httpx_lines")),
    "aiohttp + uvloop": ("aiohttp, uvloop", _script("aiohttp_any")),
    "guidellm": ("guidellm", _guidellm),
    "aiperf": ("aiperf", _aiperf),
}
