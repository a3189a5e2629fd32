"""What the daily build costs on a short and on a long past; aim: within 1.5 times."""

from __future__ import annotations

import argparse
import tempfile
from datetime import timedelta
from pathlib import Path

from benchmarks.synthetic_history import LAST_DAY, add_days, fill
from benchmarks.timing import median_s, print_table
from pipeline.building import build_all
from pipeline.settings import Settings
from pipeline.sql_models import load_sql_models
from pipeline.warehouse import open_warehouse

AIM = 1.5


def build_s(days: int, repeats: int) -> float:
    """Return the median seconds of a build after one more day on a past of ``days`` days."""
    models = load_sql_models()
    with (
        tempfile.TemporaryDirectory() as folder,
        open_warehouse(Settings(data_dir=Path(folder))) as warehouse,
    ):
        fill(warehouse.database, models, days)
        next_day = LAST_DAY

        def one_more_day() -> None:
            nonlocal next_day
            next_day += timedelta(days=1)
            add_days(warehouse.database, next_day, next_day)
            build_all(warehouse.database, models)

        return median_s(one_more_day, repeats=repeats)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--days", type=int, nargs=2, default=[30, 3650])
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    short, long = options.days
    base_s = build_s(short, options.repeats)
    rows = [[f"{short:,}", f"{base_s:.3f}", "1.00"]]
    long_s = build_s(long, options.repeats)
    rows.append([f"{long:,}", f"{long_s:.3f}", f"{long_s / base_s:.2f}"])
    print_table(f"daily build (aim: ratio <= {AIM})", ["days of history", "s", "ratio"], rows)


if __name__ == "__main__":
    main()
