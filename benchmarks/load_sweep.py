"""What it costs to bring a day's sweep into history, beside the least that DuckDB needs for it.

The floor reads the same landing file with ``read_json``, unnests the endpoints and inserts them:
no checksum, no exact prices, no contract, no coverage, no quarantine. Aim: at most 3 times that.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from benchmarks.timing import median_s, print_table
from pipeline.duck import Database, quoted
from pipeline.landing import LandedSweep, Landing
from pipeline.market import read_market
from pipeline.progress import Progress
from pipeline.sandbox.market import Market
from pipeline.sandbox.recording import Recording
from pipeline.sandbox.server import SandboxServer
from pipeline.settings import Settings
from pipeline.steps import utc_now
from pipeline.sources.sweeping import land_sweep
from pipeline.warehouse import open_warehouse

AIM = 3.0
RECORDINGS = Path(__file__).resolve().parents[2] / "shared" / "recordings" / "openrouter"
ENDPOINTS = """
    with answers as (
        select
            regexp_extract(request, '^/models/(.+)/endpoints$', 1) as model_id,
            from_json(body, '{"data": {"endpoints": [{"provider_name": "VARCHAR", "tag": "VARCHAR",
                "quantization": "VARCHAR", "context_length": "BIGINT",
                "max_completion_tokens": "BIGINT", "status": "INTEGER",
                "pricing": {"prompt": "VARCHAR", "completion": "VARCHAR",
                    "input_cache_read": "VARCHAR", "input_cache_write": "VARCHAR",
                    "discount": "DOUBLE"},
                "uptime_last_5m": "DOUBLE", "uptime_last_30m": "DOUBLE",
                "uptime_last_1d": "DOUBLE"}]}}') as answer
        from read_json('PATH', format = 'newline_delimited', columns = {
            'request': 'VARCHAR', 'subject': 'VARCHAR', 'status': 'INTEGER', 'body': 'VARCHAR'
        })
        where subject is not null and status = 200
    )
    select model_id, unnest(answer.data.endpoints, recursive := true) from answers
"""


def landed_sweep(folder: Path) -> tuple[str, LandedSweep, Settings]:
    """Land one sweep: a recorded one where recordings are at hand, else the sandbox's market."""
    source: Market | Recording
    if RECORDINGS.is_dir():
        source, name = Recording.find(RECORDINGS, "2026-05-18T2053"), "recorded 2026-05-18"
    else:
        source, name = Market(), "made-up market"
    with SandboxServer(source) as server:
        settings = Settings(data_dir=folder, openrouter_url=server.url, requests_per_s=1000)
        landing = Landing(settings.landing_dir)
        sweep = land_sweep(settings, landing, now=utc_now, progress=Progress("sweep"))
    return name, sweep, settings


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    repeats = parser.parse_args().repeats
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        title, sweep, settings = landed_sweep(folder)
        query = ENDPOINTS.replace("PATH", quoted(str(sweep.path / "answers.jsonl.gz")))
        floor = Database.open_file(folder / "floor.duckdb", memory_limit="1GB", threads=2)
        floor.execute(f"create table endpoints as {query}")
        endpoints = floor.value("select count(*) from endpoints")
        floor_s = median_s(lambda: floor.execute(f"insert into endpoints {query}"), repeats=repeats)
        floor.close()

        landing = Landing(settings.landing_dir)
        with open_warehouse(settings) as warehouse:

            def load() -> None:
                warehouse.database.execute("delete from raw.sweeps")
                manifest = sweep.manifest
                batch = read_market(manifest, landing.answers(sweep), manifest.answers_sha256)
                assert warehouse.load(batch)

            load_s = median_s(load, repeats=repeats)
        rows = [
            ["DuckDB read_json + insert", f"{floor_s * 1000:.0f}", "1.00"],
            ["read, check and load a sweep", f"{load_s * 1000:.0f}", f"{load_s / floor_s:.2f}"],
        ]
        print_table(
            f"a sweep into history: {title}, {endpoints} endpoints (aim: ratio <= {AIM:g})",
            ["what", "ms", "ratio"],
            rows,
        )


if __name__ == "__main__":
    main()
