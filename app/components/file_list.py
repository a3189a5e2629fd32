"""The files of a snapshot and code that reads them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.components import formatting
from app.components.markup import Markup, element
from app.components.table import Column, Row, table

# What a reader wants first, and what it holds.
CONTENTS = {
    "tokentape.duckdb": "All tables in one DuckDB file",
    "provider_table": "Endpoints now: prices, uptime, speed",
    "market_table": "Models now: cheapest price, providers",
    "price_history": "Prices of every endpoint since the first sweep",
    "price_changes": "What became cheaper, dearer, new or gone",
    "uptime_history": "Uptime and speed by sweep, last 90 days",
    "probe_summary": "What our probes measured, over 24 h, 72 h and 14 days",
    "performance_history": "What every run of probes measured",
    "probe_samples": "Single requests of our probes, last 14 days",
    "model_facts": "Every model ever listed",
    "sweep_log": "Sweeps and their coverage",
    "data_health": "Checks of the data",
    "flag_log": "Surprising records of the last sweep",
    "quarantine_log": "Records refused, last 90 days",
    "models.json": "Models now, as JSON",
}
FORMATS = {".parquet": "Parquet", ".csv.gz": "CSV", ".json": "JSON", ".duckdb": "DuckDB"}
DATA_URL = "/data"


def mart_files(files: Mapping[str, Any]) -> Markup:
    """Return a line per table with a link per format; ``files`` as in ``manifest.json``."""
    rows = [_row(name, files) for name in _names(files)]
    return table(
        [
            Column("Table", is_title=True),
            Column("Rows", kind="number"),
            Column("Holds"),
            Column("Download"),
        ],
        rows,
        caption="Tables of the snapshot",
        css_class="tt-cards tt-wide-cells",
    )


def listed_files(files: Mapping[str, Any]) -> list[str]:
    """Return the paths of all files but those of single models, in order."""
    return sorted(path for path in files if not path.startswith("models/"))


def file_table(files: Mapping[str, Any], paths: list[str]) -> Markup:
    """Return one line per file: path, rows, size, and the start of its sha256."""
    rows = [
        Row(
            [
                element("a", path, href=f"{DATA_URL}/{path}", download=True),
                formatting.count_text(files[path].get("rows")),
                formatting.bytes_text(files[path]["bytes"]),
                element("code", files[path]["sha256"][:12], title=files[path]["sha256"]),
            ]
        )
        for path in paths
    ]
    return table(
        [
            Column("File", is_title=True),
            Column("Rows", kind="number"),
            Column("Size", kind="number"),
            Column("sha256", kind="number"),
        ],
        rows,
        caption="Files of the snapshot",
    )


def snippets(base_url: str, model_id: str) -> dict[str, tuple[str, str]]:
    """Return examples by name: (language, code) that reads the files under ``base_url``."""
    data = f"{base_url}{DATA_URL}"
    return {
        "curl": (
            "bash",
            f"curl -O {data}/provider_table.parquet\ncurl {data}/models/{model_id}.json",
        ),
        "Python": (
            "python",
            "import polars as pl\n\n"
            f'prices = pl.read_parquet("{data}/provider_table.parquet")\n'
            'print(prices.filter(pl.col("is_cheapest_input")).select(\n'
            '    "model_id", "provider_name", "input_usd_per_mtok", "output_usd_per_mtok"\n'
            "))",
        ),
        "DuckDB": (
            "sql",
            "-- curl -O " + f"{data}/tokentape.duckdb, then: duckdb tokentape.duckdb\n"
            "select provider_name, input_usd_per_mtok, valid_from_utc, valid_to_utc\n"
            "from price_history\n"
            f"where model_id = '{model_id}'\n"
            "order by valid_from_utc;",
        ),
    }


def _names(files: Mapping[str, Any]) -> list[str]:
    marts = {path.removesuffix(".parquet") for path in files if _is_mart(path)}
    plain = {path for path in ("tokentape.duckdb", "models.json") if path in files}
    known = [name for name in CONTENTS if name in marts | plain]
    return known + sorted(marts - set(known))


def _is_mart(path: str) -> bool:
    return path.endswith(".parquet") and "/" not in path


def _row(name: str, files: Mapping[str, Any]) -> Row:
    paths = [name] if name in files else [f"{name}.parquet", f"{name}.csv.gz"]
    links = [_download(path, files[path]) for path in paths if path in files]
    columns = f"schema/{name}.json"
    if columns in files:
        links.append(element("a", "Columns", href=f"{DATA_URL}/{columns}", target="_blank"))
    rows = files[paths[0]].get("rows")
    return Row(
        [
            element("span", name, class_="tt-name"),
            formatting.count_text(rows),
            CONTENTS.get(name, ""),
            element("div", *links, class_="tt-downloads"),
        ]
    )


def _download(path: str, file: Mapping[str, Any]) -> Markup:
    kind = next(name for suffix, name in FORMATS.items() if path.endswith(suffix))
    return element(
        "a",
        kind,
        element("small", formatting.bytes_text(file["bytes"])),
        href=f"{DATA_URL}/{path}",
        download=True,
        title=f"{path}, sha256 {file['sha256']}",
    )
