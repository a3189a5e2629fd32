"""What the daily build costs on a short and on a long past; aim: within 1.5 times."""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

from benchmarks.synthetic_history import LAST_DAY, add_days, fill
from benchmarks.timing import print_table
from pipeline.building import build_all
from pipeline.duck import Database
from pipeline.settings import Settings
from pipeline.sql_models import SqlModel, load_sql_models
from pipeline.warehouse import open_warehouse

AIM = 1.5


class GrowingHistory:
    """A warehouse with ``days`` days of history, which grows by a day a build."""

    def __init__(self, database: Database, models: Sequence[SqlModel], days: int) -> None:
        self._database = database
        self._models = models
        self._last_day = LAST_DAY
        fill(database, models, days)

    def build_one_more_day(self) -> float:
        """Add a day to the raw tables and return how long the build took, seconds."""
        self._last_day += timedelta(days=1)
        add_days(self._database, self._last_day, self._last_day)
        started = time.perf_counter()
        build_all(self._database, self._models)
        return time.perf_counter() - started


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--days", type=int, nargs=2, default=[30, 3650])
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    models = load_sql_models()
    with ExitStack() as stack:
        histories = {}
        for days in options.days:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            warehouse = stack.enter_context(open_warehouse(Settings(data_dir=folder)))
            histories[days] = GrowingHistory(warehouse.database, models, days)
        seconds: dict[int, list[float]] = {days: [] for days in histories}
        # In turns, so that a busy neighbour disturbs both alike; the first round warms up.
        for repeat in range(options.repeats + 1):
            for days, history in histories.items():
                took = history.build_one_more_day()
                if repeat:
                    seconds[days].append(took)
    medians = {days: statistics.median(each) for days, each in seconds.items()}
    base_s = medians[options.days[0]]
    rows = [[f"{days:,}", f"{s:.3f}", f"{s / base_s:.2f}"] for days, s in medians.items()]
    print_table(f"daily build (aim: ratio <= {AIM})", ["days of history", "s", "ratio"], rows)


if __name__ == "__main__":
    main()
