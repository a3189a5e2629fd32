"""The list of downloads."""

from __future__ import annotations

import re

from html_tables import cells

from app.components import (
    file_list,
)


def test_each_table_links_to_its_files_and_columns() -> None:
    entry = {"bytes": 1234, "sha256": "ab" * 32, "rows": 7}
    files = {
        "price_history.parquet": entry,
        "price_history.csv.gz": entry,
        "schema/price_history.json": entry,
        "models/a/b.json": entry,
    }

    table = file_list.mart_files(files)

    assert cells(table)[0][:2] == ["price_history", "7"]
    assert re.findall(r'href="([^"]+)"', table) == [
        "/data/price_history.parquet",
        "/data/price_history.csv.gz",
        "/data/schema/price_history.json",
    ]
    assert file_list.listed_files(files) == [
        "price_history.csv.gz",
        "price_history.parquet",
        "schema/price_history.json",
    ]
