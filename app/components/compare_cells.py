"""Cells of the comparison: figures of one row together, so that no difference is rounded away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from app.components import formatting
from app.components.markup import Markup, element, joined
from app.components.workload_money import money_cells
from pipeline.workload.costs import Cost
from pipeline.workload.quotes import Quote

Record = Mapping[str, Any]


def prices(amounts: Sequence[Decimal | None], whose: Sequence[str]) -> list[Markup | str]:
    """Write a row of prices, USD per million tokens, each with whose it is."""
    texts = formatting.price_texts(amounts)
    return [
        with_whose("free" if amount == 0 else text, name) if amount is not None else ""
        for amount, text, name in zip(amounts, texts, whose, strict=True)
    ]


def costs(quotes: Sequence[Quote | None], whose: Sequence[str]) -> dict[str, list[Markup | str]]:
    """Write the rows ``request`` and ``month``."""
    unknown = Cost(None, "no endpoint takes such a request at a stated price")
    rows = {
        "request": [quote.request if quote else unknown for quote in quotes],
        "month": [quote.month if quote else unknown for quote in quotes],
    }
    return {
        key: [with_whose(cell, name) for cell, name in zip(money_cells(row), whose, strict=True)]
        for key, row in rows.items()
    }


def figure(text: str, whose: str = "") -> Markup | str:
    """Write a figure and whose it is; a missing one is no cell."""
    return "" if text == formatting.MISSING else with_whose(text, whose)


def with_whose(text: str, whose: str) -> Markup:
    """Write ``whose`` in small beneath a figure."""
    return joined([text, element("small", whose) if whose else None])
