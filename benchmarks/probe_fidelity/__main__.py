"""How true the probe's times are, beside other clients and tools.

``python -m benchmarks.probe_fidelity [--short] [--peers PYTHON]``. The sandbox provider streams by
a seeded script and logs when it truly sent each chunk; every client measures the same load, and its
TTFT and gaps are held against that log. TTFT counts from the arrival of the request at the server,
so a client's own delay before it sends is an error, as it is for its user.

A virtual machine's processor is taken from it now and then. The last column says for what share of
the time it was; a cell that lost more than a hundredth is measured again, a few times at most.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.probe_fidelity import ours
from benchmarks.probe_fidelity.errors import Errors, errors_of, percentile
from benchmarks.probe_fidelity.peers import Load, Peers
from benchmarks.timing import print_table
from pipeline.probes.engine import lag
from pipeline.sandbox.provider.process import ProviderProcess
from pipeline.sandbox.provider.script import Script

OURS = "tokentape"
TOKENS = 64
RAMP_S = 1.0
REQUESTS = {1: 16, 16: 128, 64: 384, 256: 1280}
HEADER = ["client", "streams", "tok/s each", "wire", "connection", "n", "missed"]
HEADER += ["TTFT p50 ms", "p99 ms", "max ms", "gap p50 ms", "p99 ms", "tok/s p99 %", "stolen %"]
MOST_STOLEN_SHARE = 0.01
MOST_TRIES = 4


@dataclass(frozen=True)
class Cell:
    """One load: streams, the mean gap between their chunks, and what goes on beside them."""

    streams: int
    gap_ms: float
    is_tls: bool
    busy_neighbours: int = 0

    @property
    def wire(self) -> str:
        """Return how it is told in the table."""
        wire = "TLS" if self.is_tls else "plain"
        return f"{wire}, {self.busy_neighbours} busy neighbours" if self.busy_neighbours else wire


FULL = [
    *(Cell(streams, 10.0, is_tls) for is_tls in (False, True) for streams in (1, 16, 64, 256)),
    *(Cell(streams, 2.0, is_tls) for is_tls in (False, True) for streams in (1, 16, 64)),
    Cell(16, 10.0, True, busy_neighbours=2),
]
SHORT = [Cell(1, 10.0, True), Cell(16, 10.0, True)]


def main() -> None:
    """Measure every cell with every client that is there."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--short", action="store_true", help="two cells, fewer requests")
    parser.add_argument(
        "--peers", type=Path, help="python of an environment with openai, httpx, guidellm ..."
    )
    parser.add_argument("--streams", type=int, nargs="+", help="only cells with so many streams")
    options = parser.parse_args()
    peers = Peers(options.peers.absolute()) if options.peers else None
    clients = [OURS, *(peers.installed() if peers else ())]
    cells = [
        cell
        for cell in (SHORT if options.short else FULL)
        if options.streams is None or cell.streams in options.streams
    ]
    rows = []
    for cell in cells:
        for client in clients:
            requests = REQUESTS[cell.streams] // (4 if options.short else 1)
            for _ in range(1 if options.short else MOST_TRIES):
                before = lag.Load.now()
                measured = _measure(cell, client, peers, requests)
                stolen = lag.report(before, lag.Load.now(), (), ()).steal_share or 0.0
                if stolen <= MOST_STOLEN_SHARE:
                    break
            rows += [[*row, f"{stolen * 100:.1f}"] for row in measured]
            print(".", end="", file=sys.stderr, flush=True)
    print_table("probe fidelity: errors against the server's own log", HEADER, rows)


def _measure(cell: Cell, client: str, peers: Peers | None, requests: int) -> list[list[str]]:
    script = Script(ttft_ms=(100.0, 300.0), gap_ms=cell.gap_ms, jitter=0.5, tokens=TOKENS)
    with ProviderProcess(script, is_tls=cell.is_tls) as server, _neighbours(cell.busy_neighbours):
        load = Load(server.base_url, server.ca_file, cell.streams, requests, RAMP_S)
        try:
            if client == OURS or peers is None:
                seen = ours.measure(load)
            else:
                seen = peers.measure(client, load)
        except subprocess.SubprocessError as error:
            return [
                [
                    client,
                    str(cell.streams),
                    f"{1000 / cell.gap_ms:g}",
                    cell.wire,
                    f"failed: {error}"[:60],
                ]
                + [""] * (len(HEADER) - 6)
            ]
        found = errors_of(seen, server.truth())
    return [_row(cell, client, kind, errors) for kind, errors in found.items() if errors.requests]


def _row(cell: Cell, client: str, kind: str, errors: Errors) -> list[str]:
    return [
        client,
        str(cell.streams),
        f"{1000 / cell.gap_ms:g}",
        cell.wire,
        kind,
        str(errors.requests),
        str(errors.missing),
        f"{percentile(errors.ttft_ms, 0.5):.2f}",
        f"{percentile(errors.ttft_ms, 0.99):.2f}",
        f"{percentile(errors.ttft_ms, 1):.2f}",
        f"{percentile(errors.gap_ms, 0.5):.3f}",
        f"{percentile(errors.gap_ms, 0.99):.2f}",
        f"{percentile(errors.rate_pct, 0.99):.2f}",
    ]


@contextmanager
def _neighbours(count: int) -> Iterator[None]:
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


if __name__ == "__main__":
    main()
