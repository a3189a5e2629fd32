"""Rules that hold for models and endpoints alike: prices and counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal

import polars as pl

from pipeline.contracts.rules import Row, Rule
from pipeline.prices import per_million_text, plain_text
from pipeline.raw_tables import PRICE_COLUMNS

# Recorded prices end at 600 USD per million tokens.
_SURPRISING_PRICE = Decimal("0.001")  # 1,000 USD per million tokens
_ABSURD_PRICE = Decimal("0.01")  # 10,000
_MOST_TOKENS = 100_000_000  # fifty times the longest recorded context


def any_of(columns: Iterable[str], is_broken: Callable[[pl.Expr], pl.Expr]) -> pl.Expr:
    """Return an expression that is true where ``is_broken`` is for one of ``columns``."""
    return pl.any_horizontal(is_broken(pl.col(name)).fill_null(False) for name in columns)


def values_of(columns: Iterable[str]) -> Callable[[Row], str]:
    """Return an explanation that lists the values of ``columns``."""
    names = tuple(columns)
    return lambda row: ", ".join(f"{name} {_text(row[name])}" for name in names)


def prices_of(columns: Iterable[str]) -> Callable[[Row], str]:
    """Return an explanation that lists prices in USD per million tokens."""
    names = tuple(columns)
    return lambda row: ", ".join(
        f"{name.removesuffix('_usd_per_token')} {per_million_text(row[name])}" for name in names
    )


def _text(value: object) -> str:
    return plain_text(value) if isinstance(value, Decimal) else repr(value)


def is_blank(column: pl.Expr) -> pl.Expr:
    """Return an expression that is true for a text which is null, empty or only white space."""
    return column.is_null() | (column.str.strip_chars() == "")


_INPUT, _OUTPUT, _CACHE_READ, _ = PRICE_COLUMNS

PRICE_ABSURD = Rule(
    "price_absurd",
    any_of(PRICE_COLUMNS, lambda price: price > _ABSURD_PRICE),
    lambda row: f"above 10,000 USD/M: {prices_of(PRICE_COLUMNS)(row)}",
)

PRICE_RULES = (
    Rule(
        "price_high",
        any_of(PRICE_COLUMNS, lambda price: price > _SURPRISING_PRICE),
        lambda row: f"above 1,000 USD/M: {prices_of(PRICE_COLUMNS)(row)}",
    ),
    Rule(
        "cache_read_above_input",
        pl.col(_CACHE_READ) > pl.col(_INPUT),
        prices_of((_CACHE_READ, _INPUT)),
    ),
    Rule("output_below_input", pl.col(_OUTPUT) < pl.col(_INPUT), prices_of((_OUTPUT, _INPUT))),
)


def tokens_out_of_range(columns: tuple[str, ...]) -> Rule:
    """Return the hard rule that token counts are 0 to 100 million."""
    return Rule(
        "tokens_out_of_range",
        any_of(columns, lambda count: (count < 0) | (count > _MOST_TOKENS)),
        values_of(columns),
    )


CONTEXT_RULES = (
    Rule(
        "context_missing",
        pl.col("context_length").is_null() | (pl.col("context_length") == 0),
        values_of(("context_length",)),
    ),
    Rule(
        "output_limit_above_context",
        (pl.col("max_completion_tokens") > pl.col("context_length"))
        & (pl.col("context_length") > 0),
        values_of(("max_completion_tokens", "context_length")),
    ),
)
