"""Every recorded sweep through the whole main job: counts, and the seconds of each step.

A recorded sweep is served by the sandbox in a process of its own and swept over HTTP like the real
market. Does nothing where the recordings are not at hand.
"""

from __future__ import annotations

import logging
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.load_sweep import RECORDINGS
from benchmarks.timing import print_table
from pipeline import steps
from pipeline.progress import Progress
from pipeline.settings import Settings
from pipeline.sql_models import load_sql_models
from pipeline.warehouse import open_warehouse


def timed(work: Callable[[], object]) -> str:
    """Return how long ``work`` took, seconds."""
    started = time.perf_counter()
    work()
    return f"{time.perf_counter() - started:.2f}"


def run_one(name: str, folder: Path) -> list[str]:
    """Land, load, build and publish one recorded sweep in a data folder of its own."""
    models = load_sql_models()
    server = subprocess.Popen(
        [
            *(sys.executable, "-m", "pipeline.sandbox", "--port", "0"),
            *("--recording", str(RECORDINGS), "--sweep", name),
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout is not None
        url = next(word for word in server.stdout.readline().split() if word.startswith("http"))
        settings = Settings(data_dir=folder, openrouter_url=url)
        today = steps.utc_now().date()
        seconds = [
            timed(lambda: steps.land(settings, steps.utc_now, Progress("sweep"))),
            timed(lambda: steps.load_landed(settings, today, today)),
            timed(lambda: steps.build(settings, models)),
            timed(lambda: steps.publish(settings, models, steps.utc_now())),
        ]
    finally:
        server.terminate()
        server.wait()
    with open_warehouse(settings) as warehouse:
        counts = warehouse.database.rows(
            "select models_listed, models_answered, models_expected, endpoints, quarantined, "
            "flagged from raw.sweeps"
        )[0]
    listed, answered, expected, *rest = counts
    return [name, str(listed), f"{answered}/{expected}", *(str(count) for count in rest), *seconds]


def main() -> None:
    """Run all recorded sweeps and print the table."""
    logging.disable(logging.WARNING)
    rows = []
    for recording in sorted((RECORDINGS / "mddb-endpoints").glob("endpoints_*.json.gz")):
        name = recording.name.removeprefix("endpoints_").removesuffix(".json.gz")
        with tempfile.TemporaryDirectory() as folder:
            rows.append(run_one(name, Path(folder)))
    if rows:
        print_table(
            "recorded sweeps; a model that failed was recorded with another model's answer",
            [
                *("sweep", "models", "answered", "endpoints", "quarantined", "flagged"),
                *("land s", "load s", "build s", "publish s"),
            ],
            rows,
        )
    else:
        print(f"no recorded sweeps at {RECORDINGS}")


if __name__ == "__main__":
    main()
