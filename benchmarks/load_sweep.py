"""What it costs to bring a day's sweep into history, beside DuckDB alone on the same answers.

- The baseline is what one would write by hand: ``read_json`` of the sweep's answers as plain lines
  of JSON, and an insert of all that is in them. Aim: at most 3 times that.
- The floor reads fourteen columns of the endpoints, with types declared beforehand, and nothing
  else.

Neither checks a checksum, keeps a price exact, holds a record against a contract, or knows which
models did not answer.
"""

from __future__ import annotations

import argparse
import gzip
import tempfile
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

from benchmarks.timing import median_s, print_table
from pipeline.duck import Database, quoted
from pipeline.landing import Answer, LandedSweep, Landing
from pipeline.market import read_market
from pipeline.progress import Progress
from pipeline.sandbox.market import Market
from pipeline.sandbox.recording import Recording
from pipeline.sandbox.server import SandboxServer
from pipeline.settings import Settings
from pipeline.sources.sweeping import land_sweep
from pipeline.steps import utc_now
from pipeline.warehouse import open_warehouse

AIM = 3.0
RECORDINGS = Path(__file__).resolve().parents[2] / "shared" / "recordings" / "openrouter"
TABLES = ("endpoints", "models", "providers")
BARE = {
    "endpoints": "select data.id as model_id, unnest(data.endpoints, recursive := true) "
    "from read_json('PATH')",
    "models": "select unnest(data, recursive := true) "
    "from read_json('PATH', maximum_object_size = 100000000)",
    "providers": "select unnest(data, recursive := true) from read_json('PATH')",
}
DECLARED = """
    select data.id as model_id, unnest(data.endpoints, recursive := true)
    from read_json('PATH', format = 'newline_delimited', columns = {
        'data': 'STRUCT(id VARCHAR, endpoints STRUCT(provider_name VARCHAR, tag VARCHAR,
            quantization VARCHAR, context_length BIGINT, max_completion_tokens BIGINT,
            status INTEGER, pricing STRUCT(prompt VARCHAR, completion VARCHAR,
                input_cache_read VARCHAR, input_cache_write VARCHAR, discount DOUBLE),
            uptime_last_5m DOUBLE, uptime_last_30m DOUBLE, uptime_last_1d DOUBLE)[])'
    })
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


def write_plain_lines(answers: Iterable[Answer], folder: Path) -> None:
    """Write the bodies as gzipped lines of JSON, a file for each kind of answer."""
    with ExitStack() as stack:
        files = {
            table: stack.enter_context(gzip.open(folder / f"{table}.jsonl.gz", "wb"))
            for table in TABLES
        }
        for answer in answers:
            if answer.subject is not None:
                kind = "endpoints"
            else:
                kind = answer.request.removeprefix("/").partition("?")[0]
            files[kind].write(answer.body.replace(b"\n", b" ") + b"\n")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    repeats = parser.parse_args().repeats
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        title, sweep, settings = landed_sweep(folder)
        write_plain_lines(Landing(settings.landing_dir).answers(sweep), folder)
        bare = Database.open_file(folder / "bare.duckdb", memory_limit="1GB", threads=2)
        reads = {
            table: query.replace("PATH", quoted(str(folder / f"{table}.jsonl.gz")))
            for table, query in {**BARE, "declared": DECLARED}.items()
        }
        reads["declared"] = reads["declared"].replace("declared.jsonl", "endpoints.jsonl")
        for table, query in reads.items():
            bare.execute(f"create table {table} as {query}")
        endpoints = bare.value("select count(*) from endpoints")

        def insert(*tables: str) -> None:
            for table in tables:
                bare.execute(f"insert into {table} {reads[table]}")

        bare_s = median_s(lambda: insert(*TABLES), repeats=repeats)
        floor_s = median_s(lambda: insert("declared"), repeats=repeats)
        bare.close()

        landing = Landing(settings.landing_dir)
        with open_warehouse(settings) as warehouse:

            def load() -> None:
                warehouse.database.execute("delete from raw.sweeps")
                manifest = sweep.manifest
                batch = read_market(manifest, landing.answers(sweep), manifest.answers_sha256)
                assert warehouse.load(batch)

            load_s = median_s(load, repeats=repeats)
        rows = [
            [what, f"{seconds * 1000:.0f}", f"{seconds / bare_s:.2f}"]
            for what, seconds in (
                ("bare DuckDB: read_json + insert", bare_s),
                ("read, check and load a sweep", load_s),
                ("floor: some declared columns of the endpoints", floor_s),
            )
        ]
        print_table(
            f"a sweep into history: {title}, {endpoints} endpoints (aim: ratio <= {AIM:g})",
            ["what", "ms", "ratio"],
            rows,
        )


if __name__ == "__main__":
    main()
