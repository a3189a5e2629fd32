"""Amounts of money as text: to the cent, and finer where a cent would hide something."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal

from app.components import formatting
from app.components.cards import badge
from app.components.markup import Markup, element
from pipeline.workload.costs import Cost
from pipeline.workload.tariff import EXACT

CENT_DECIMALS = 2
_MOST_DECIMALS = 18


def money_texts(amounts: Sequence[Decimal | None]) -> list[str]:
    """Write amounts in USD, rounded half up to the cent.

    Amounts that differ get as many decimals as set them apart, and one below a cent as many as
    show two digits of it. None is ``MISSING``; 0 is "free".
    """
    decimals = {amount: _decimals(amount) for amount in amounts if amount is not None}
    texts = {amount: _money(amount, count) for amount, count in decimals.items()}
    while clashes := _clashes(texts, decimals):
        for amount in clashes:
            decimals[amount] += 1
            texts[amount] = _money(amount, decimals[amount])
    return [formatting.MISSING if amount is None else texts[amount] for amount in amounts]


def money_cells(costs: Sequence[Cost]) -> list[Markup]:
    """Return cells of costs: the amount with its exact value as a tooltip, or what it lacks."""
    shown = formatting.aligned(money_texts([cost.usd for cost in costs]))
    return [_cell(text, cost) for text, cost in zip(shown, costs, strict=True)]


def _cell(text: str, cost: Cost) -> Markup:
    if cost.usd is None:
        return badge("not known", "warn", title=cost.lacks)
    if cost.is_free:
        return element("span", text)
    shown = cost.usd.quantize(Decimal(1).scaleb(-_MOST_DECIMALS), ROUND_HALF_UP, EXACT)
    return element("span", text, title=f"{formatting.exact(shown)} USD")


def _clashes(texts: dict[Decimal, str], decimals: dict[Decimal, int]) -> list[Decimal]:
    shared = {text for text, count in Counter(texts.values()).items() if count > 1}
    return [
        amount
        for amount, text in texts.items()
        if text in shared and decimals[amount] < _MOST_DECIMALS
    ]


def _decimals(amount: Decimal) -> int:
    return max(CENT_DECIMALS, 1 - amount.adjusted()) if 0 < amount < 1 else CENT_DECIMALS


def _money(amount: Decimal, decimals: int) -> str:
    if amount == 0:
        return "free"
    rounded = amount.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP, EXACT)
    return f"{rounded:,f}"
