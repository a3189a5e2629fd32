"""Models related to one: of the same family, then of about the same size."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from decimal import ROUND_UP, Decimal
from typing import Any

import polars as pl

from app.components import formatting
from app.components.cards import badge
from app.components.markup import Markup, element, joined, model_link
from app.components.model_facts import NOT_STATED, SIZE_CLASSES, parameters_text
from app.components.table import Column, Row, table
from pipeline.hardware.quants import gguf_files, shown_billions

SHOWN = 6
# Neighbours by size have at most twice, at least half the parameters.
NEIGHBOUR_FACTOR = 2
NOMINAL_BITS = Decimal("4.5")
BYTES_PER_GB = 10**9

COLUMNS = (
    Column("Model", is_title=True),
    Column("Parameters", kind="number", help="Total, and those that work on a token."),
    Column("Class", help="By total parameters: edge, consumer, enthusiast, premier."),
    Column(
        "Memory",
        "GB, at least",
        help="Weights alone, of the smallest file known; about, at 4.5 bits a weight, if none is.",
        kind="number",
    ),
    Column(
        "Input", "$/M", help="Cheapest input price of a standard, current endpoint.", kind="number"
    ),
    Column("Released", kind="number"),
)

Model = Mapping[str, Any]


def related(model: Model, market: pl.DataFrame) -> list[dict[str, Any]]:
    """Choose from ``Snapshot.model_sizes`` what is related to a row of ``marts.model_facts``.

    First the family, which shares author and first word of the name, nearest in size first; then
    models of others that are nearest in size. Variants of a model are left to its own page.
    """
    own_id = _plain_id(model["model_id"])
    others = [each for each in market.to_dicts() if each["model_id"] != own_id]
    family = [each for each in others if _family(each["model_id"]) == _family(own_id)]
    neighbours = [
        each
        for each in others
        if each not in family
        and (distance := _distance(model, each)) is not None
        and distance <= math.log(NEIGHBOUR_FACTOR)
    ]
    return [*_nearest(model, family), *_nearest(model, neighbours)][:SHOWN]


def related_models(models: Iterable[Model]) -> Markup:
    """Return the table of related models, in the order given."""
    records = list(models)
    prices = formatting.price_texts([each["cheapest_input_usd_per_mtok"] for each in records])
    shown = formatting.aligned(
        ["free" if each["is_free"] else price for each, price in zip(records, prices, strict=True)]
    )
    rows = [
        Row(
            [
                joined(
                    [
                        model_link(each["model_name"], each["model_id"]),
                        element("small", each["model_id"]),
                    ]
                ),
                parameters_text(each) or NOT_STATED,
                _class(each),
                _memory(each),
                shown[index],
                formatting.day_text(each["created_utc"]),
            ]
        )
        for index, each in enumerate(records)
    ]
    return table(COLUMNS, rows, caption="Related models", css_class="tt-cards")


def least_memory_gb(model: Model) -> tuple[Decimal, bool] | None:
    """Return the GB of the smallest weights, and whether a known file says so; None if nobody does.

    Without a file it is 4.5 bits for each parameter, of as many as are shown: 8.0 billion are
    4.5 GB.
    """
    sizes = [file.size_bytes for file in gguf_files(model.get("gguf_files_json")).values()]
    if sizes:
        return Decimal(min(sizes)) / BYTES_PER_GB, True
    total = model.get("params_total_b")
    return None if total is None else (shown_billions(total) * NOMINAL_BITS / 8, False)


def _nearest(model: Model, others: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Order by likeness of size, newest first among equals; those of unknown size come last."""

    def place(other: dict[str, Any]) -> tuple[float, float, str]:
        distance = _distance(model, other)
        created = other["created_utc"]
        return (
            math.inf if distance is None else round(distance, 6),
            -created.timestamp() if created else 0.0,
            other["model_id"],
        )

    return sorted(others, key=place)


def _distance(model: Model, other: Model) -> float | None:
    sizes = [each.get("params_total_b") for each in (model, other)]
    if not all(sizes):
        return None
    return abs(math.log(float(sizes[0]) / float(sizes[1])))  # type: ignore[arg-type]


def _plain_id(model_id: str) -> str:
    return model_id.partition(":")[0]


def _family(model_id: str) -> tuple[str, str]:
    author, _, slug = _plain_id(model_id).partition("/")
    word = re.match(r"[a-z]+", slug.lower())
    return author, word[0] if word else slug


def _class(model: Model) -> Markup | str:
    size_class = model.get("size_class")
    if size_class is None:
        return formatting.MISSING
    return badge(size_class, title=SIZE_CLASSES[size_class])


def _memory(model: Model) -> Markup | str:
    found = least_memory_gb(model)
    if found is None:
        return formatting.MISSING
    gb, is_known = found
    text = f"{gb.quantize(Decimal('0.1'), ROUND_UP):,}"
    basis = "size of the smallest file" if is_known else "at 4.5 bits a weight"
    return element("span", text if is_known else f"~{text}", title=basis)
