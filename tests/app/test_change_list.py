"""The change log in words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import polars as pl
import pytest
from html_tables import cells

from app.components import (
    change_list,
)

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def change(
    kind: str, field: str, old: str | None, new: str | None, **values: Any
) -> dict[str, Any]:
    return {
        "endpoint_id": "e1",
        "model_id": "acme/tiny",
        "provider_name": "Groq",
        "tag": "groq",
        "endpoint_ordinal": 1,
        "kind": kind,
        "field": field,
        "old_value": old,
        "new_value": new,
        "change_pct": None,
        "last_seen_old_utc": NOW - timedelta(days=2),
        "first_seen_new_utc": NOW - timedelta(days=1),
    } | values


@pytest.mark.parametrize(
    ("record", "sentence"),
    [
        (
            change("cheaper", "input_usd_per_mtok", "0.152", "0.149", change_pct=-1.9737),
            "input 0.152 \u2192 0.149 (\u22122.0%)",
        ),
        (change("new", "presence", None, "groq"), "newly listed"),
        (
            change("context", "context_length", "131072", "16384"),
            "context length 131,072 \u2192 16,384",
        ),
        (change("quantization", "quantization", "bf16", "fp8"), "quantization bf16 \u2192 fp8"),
        (change("discount", "discount", "0", "0.25"), "discount 0% \u2192 25%"),
        (
            change("price_stated", "cache_read_usd_per_mtok", None, "0.025"),
            "cache read 0.025, no price before",
        ),
        (
            change("price_withdrawn", "cache_read_usd_per_mtok", "0.025", None),
            "cache read has no price now, 0.025 before",
        ),
        (change("tiers", "overrides_json", "[]", '[{"x": 1}]' * 9), "overrides changed"),
    ],
)
def test_a_change_is_told_in_words(record: dict[str, Any], sentence: str) -> None:
    assert change_list.change_sentence(record) == sentence


def test_fields_that_changed_together_share_a_line_newest_first() -> None:
    changes = pl.DataFrame(
        [
            change("gone", "presence", "groq", None, first_seen_new_utc=NOW - timedelta(days=5)),
            change("cheaper", "output_usd_per_mtok", "0.2", "0.1"),
            change("cheaper", "input_usd_per_mtok", "0.1", "0.05"),
        ]
    )

    rows = cells(change_list.change_list(changes, NOW, names_model=True))

    assert [row[1] for row in rows] == ["24 hours ago", "5 days ago"]
    assert " ".join(rows[0][2].split()) == (
        "\u25bc cheaper input 0.10 \u2192 0.05 output 0.20 \u2192 0.10"
    )


def test_a_cut_of_input_and_output_counts_as_one() -> None:
    changes = pl.DataFrame(
        [
            change("cheaper", "output_usd_per_mtok", "0.2", "0.1"),
            change("cheaper", "input_usd_per_mtok", "0.1", "0.05"),
            change("dearer", "input_usd_per_mtok", "1", "2", endpoint_id="e2"),
            change(
                "cheaper", "input_usd_per_mtok", "1", "0", first_seen_new_utc=NOW - timedelta(40)
            ),
        ]
    )

    assert change_list.counts(changes, NOW - timedelta(days=30)) == {"cheaper": 1, "dearer": 1}
