"""What the model page asks of the snapshot, on ten years of history; aim: under 50 ms together."""

from __future__ import annotations

import argparse
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from app.snapshot import open_snapshot
from benchmarks.synthetic_history import fill
from benchmarks.timing import median_s, print_table
from pipeline.building import build_all
from pipeline.duck import Database
from pipeline.publishing import publish
from pipeline.settings import Settings
from pipeline.sql_models import load_sql_models
from pipeline.warehouse import open_warehouse

AIM_MS = 50
MODEL = "author-7/model-7"


def main() -> None:
    """Measure and print; the floor is a scan of the same rows of the Parquet files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--days", type=int, default=3650)
    parser.add_argument("--repeats", type=int, default=9)
    options = parser.parse_args()
    models = load_sql_models()
    with tempfile.TemporaryDirectory() as name:
        settings = Settings(data_dir=Path(name))
        with open_warehouse(settings) as warehouse:
            fill(warehouse.database, models, options.days)
            build_all(warehouse.database, models)
            started = time.perf_counter()
            published = publish(
                warehouse.database,
                settings.published_dir,
                market="live",
                now=datetime.now(UTC),
                keep=1,
            )
            publish_s = time.perf_counter() - started
        snapshot = open_snapshot(settings.published_dir)
        assert snapshot is not None
        questions = {
            "facts": lambda: snapshot.model_facts(MODEL),
            "provider table": lambda: snapshot.provider_table(MODEL),
            "price history": lambda: snapshot.price_history(MODEL),
            "price changes": lambda: snapshot.price_changes(MODEL, 50),
        }
        seconds = {what: median_s(ask, repeats=options.repeats) for what, ask in questions.items()}
        total_s = sum(seconds.values())
        parquet = Database.in_memory()
        folder = published.path
        floor_s = median_s(
            lambda: [
                parquet.rows(f"from '{folder}/{mart}.parquet' where model_id = '{MODEL}'")
                for mart in ("model_facts", "provider_table", "price_history", "price_changes")
            ],
            repeats=options.repeats,
        )
    rows = [[what, f"{value * 1000:.1f}", ""] for what, value in seconds.items()]
    rows.append(["together", f"{total_s * 1000:.1f}", f"{total_s / floor_s:.2f}"])
    rows.append(["the same rows from Parquet", f"{floor_s * 1000:.1f}", "1.00"])
    print_table(
        f"model page on {options.days:,} days (aim: together < {AIM_MS} ms; "
        f"first publication took {publish_s:.1f} s)",
        ["query", "ms", "ratio"],
        rows,
    )


if __name__ == "__main__":
    main()
