"""Related models: the family first, then neighbours in size; memory, price and date of each."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hand_made_marts import AS_OF, insert, make_marts
from html_tables import cells

from app.components import formatting
from app.components.related_models import least_memory_gb, related, related_models
from app.snapshot import open_snapshot
from pipeline.duck import Database
from pipeline.publishing import publish

LLAMA_8B = {
    "model_id": "meta-llama/llama-3.1-8b-instruct",
    "params_total_b": Decimal("8.030261248"),
}


def model(
    model_id: str, billions: str | None, *, price: str | None = "0.1", year: int = 2024, **more: Any
) -> dict[str, Any]:
    return {
        "model_id": model_id,
        "model_name": model_id.partition("/")[2],
        "params_total_b": None if billions is None else Decimal(billions),
        "params_active_b": None,
        "size_class": None,
        "gguf_files_json": None,
        "created_utc": datetime(year, 9, 25, tzinfo=UTC),
        "cheapest_input_usd_per_mtok": None if price is None else Decimal(price),
        "is_free": False,
    } | more


MARKET = pl.DataFrame(
    [
        model("meta-llama/llama-3.1-8b-instruct", "8.030261248"),
        model("meta-llama/llama-3.2-3b-instruct", "3.2"),
        model("meta-llama/llama-3.3-70b-instruct", "70.6"),
        model("meta-llama/llama-3.1-405b-instruct", "405"),
        model("meta-llama/llama-4-scout", None, year=2025),
        model("qwen/qwen3-8b", "8.2"),
        model("google/gemma-3-12b-it", "12.2"),
        model("mistralai/mistral-small", "24"),
        model("qwen/qwen3-max", None),
    ],
    infer_schema_length=None,
)


def test_the_family_comes_first_nearest_in_size_first_then_others_of_that_size() -> None:
    assert [each["model_id"] for each in related(LLAMA_8B, MARKET)] == [
        "meta-llama/llama-3.2-3b-instruct",
        "meta-llama/llama-3.3-70b-instruct",
        "meta-llama/llama-3.1-405b-instruct",
        "meta-llama/llama-4-scout",
        "qwen/qwen3-8b",
        "google/gemma-3-12b-it",
    ]


def test_a_variant_has_the_relations_of_its_model() -> None:
    free = LLAMA_8B | {"model_id": "meta-llama/llama-3.1-8b-instruct:free"}

    assert related(free, MARKET) == related(LLAMA_8B, MARKET)


def test_without_a_size_only_the_family_is_related() -> None:
    unsized = {"model_id": "qwen/qwen-next", "params_total_b": None}

    found = related(unsized, MARKET)

    assert [each["model_id"] for each in found] == ["qwen/qwen3-8b", "qwen/qwen3-max"]


@pytest.mark.parametrize(
    ("billions", "gb"), [("8.030261248", "4.5"), ("3.2", "1.8"), ("405", "227.8125")]
)
def test_least_memory_is_four_and_a_half_bits_for_each_parameter(billions: str, gb: str) -> None:
    assert least_memory_gb(model("a/b", billions)) == (Decimal(gb), False)


def test_a_known_file_decides_about_memory() -> None:
    files = [
        {"repository": "a/b", "path": "b-Q8_0.gguf", "size_bytes": 8_500_000_000, "quant": "Q8_0"},
        {
            "repository": "a/b",
            "path": "b-Q4_K_M.gguf",
            "size_bytes": 4_920_000_000,
            "quant": "Q4_K_M",
        },
    ]

    found = least_memory_gb(model("a/b", "8", gguf_files_json=json.dumps(files)))

    assert found == (Decimal("4.92"), True)
    assert least_memory_gb(model("a/b", None)) is None


def test_the_table_shows_size_class_memory_price_and_date() -> None:
    rows = cells(
        related_models(
            [
                model("meta-llama/llama-3.2-3b", "3.212", price="0.05", size_class="edge"),
                model("a/free-1b", "1.2", price="0", is_free=True, size_class="edge"),
                model("a/unknown", None, price=None),
            ]
        )
    )

    dash = formatting.MISSING
    shown = [[cell.strip(formatting.FIGURE_SPACE) for cell in row[1:]] for row in rows]
    assert shown == [
        ["3.2B", "edge", "~1.8", "0.05", "2024-09-25"],
        ["1.2B", "edge", "~0.7", "free", "2024-09-25"],
        ["not stated", dash, dash, dash, "2024-09-25"],
    ]


def test_a_name_that_tries_to_be_more_than_text_stays_text() -> None:
    shown = related_models([model("evil/x", "1", model_name="<img src=x onerror=alert(1)>")])

    assert "<img" not in shown


def test_a_snapshot_answers_with_the_models_listed_now(tmp_path: Path) -> None:
    database = Database.in_memory()
    make_marts(database)
    listed = {"model_id": "acme/small", "model_name": "Small", "kind": "standard"}
    insert(database, "model_facts", listed | {"params_total_b": "3.2", "size_class": "edge"})
    insert(
        database,
        "market_table",
        listed | {"cheapest_input_usd_per_mtok": "0.05", "is_free": False},
    )
    publish(database, tmp_path, market="live", now=AS_OF, keep=1)
    database.close()
    snapshot = open_snapshot(tmp_path)
    assert snapshot is not None

    sizes = snapshot.model_sizes()

    # The free variant of a model is left to the page of the model.
    assert sizes["model_id"].to_list() == ["acme/small", "meta-llama/llama-3.1-8b-instruct"]
    small = sizes.row(0, named=True)
    assert (small["params_total_b"], small["cheapest_input_usd_per_mtok"]) == (
        Decimal("3.2"),
        Decimal("0.05"),
    )
