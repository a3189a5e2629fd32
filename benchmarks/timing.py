"""How benchmarks measure: a warm-up, then medians, beside each other in one run."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable


def median_s(work: Callable[[], object], *, repeats: int = 5) -> float:
    """Return the median wall time of ``work`` in seconds, after one call that is not counted."""
    work()
    seconds = []
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds)


def print_table(title: str, header: list[str], rows: list[list[str]]) -> None:
    """Print an aligned table with the machine's load, which limits how far figures carry."""
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    print(f"\n{title}  (load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores)")
    for row in [header, ["-" * width for width in widths], *rows]:
        print(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        )
