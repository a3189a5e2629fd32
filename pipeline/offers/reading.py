"""Reads the file of offers: a CSV, one row per plan and pattern of models.

    provider       who sells it, as the provider table writes the name
    plan           what the plan is called
    usd_per_month  its price, US dollars a month
    model_pattern  the models it includes: a model id, with * for any text (meta-llama/*)
    url            page on which the price stands, http or https; may be empty
    source         where the price was read, in words
    as_of          day on which it was read, YYYY-MM-DD

The bundled file holds only what can be cited; ``TOKENTAPE_OFFERS_FILE`` names another one, which
takes its place.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator

BUNDLED = Path(__file__).with_name("offers.csv")
MOST_ROWS = 10_000

_Text = Annotated[str, Field(min_length=1, max_length=200)]
_Price = Annotated[Decimal, Field(ge=0, le=1_000_000, max_digits=13, decimal_places=6)]


class OffersError(Exception):
    """The file of offers cannot be used. One line: which file and line, what is wrong."""


class Offer(BaseModel):
    """A row of the file; ``usd_per_month`` is exact."""

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)

    provider: _Text
    plan: _Text
    usd_per_month: _Price
    model_pattern: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:+@~/*-]{1,200}$")]
    url: Annotated[str | None, BeforeValidator(lambda text: text or None)] = None
    source: _Text
    as_of: date

    @field_validator("url")
    @classmethod
    def _web_address(cls, url: str | None) -> str | None:
        if url is None:
            return None
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.netloc:
            raise ValueError("must be an http:// or https:// address, or empty")
        return url


COLUMNS = tuple(Offer.model_fields)


def read_offers(path: Path) -> list[Offer]:
    """Return the rows of the file; raises ``OffersError`` at the first that cannot be used."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            return list(_offers(path, csv.reader(lines, strict=True)))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise OffersError(
            f"cannot read the offers in {path}: {error}; name a CSV in TOKENTAPE_OFFERS_FILE"
        ) from None


def _offers(path: Path, rows: Iterator[list[str]]) -> Iterator[Offer]:
    header = tuple(name.strip() for name in next(rows, []))
    if header != COLUMNS:
        raise OffersError(f"{path}: the first line must be {','.join(COLUMNS)}")
    known: dict[tuple[str, str, str], int] = {}
    # The header is line 1; blank lines are skipped.
    for line, row in enumerate(rows, start=2):
        if not any(row):
            continue
        offer = _offer(path, line, row)
        key = (offer.provider, offer.plan, offer.model_pattern)
        if key in known:
            raise OffersError(f"{path}: line {line} repeats line {known[key]}; keep one of them")
        known[key] = line
        if len(known) > MOST_ROWS:
            raise OffersError(f"{path}: more than {MOST_ROWS:,} offers; keep those that matter")
        yield offer


def _offer(path: Path, line: int, row: list[str]) -> Offer:
    if len(row) != len(COLUMNS):
        raise OffersError(
            f"{path}: line {line} has {len(row)} cells, not {len(COLUMNS)}; "
            "put a text with commas in double quotes"
        )
    try:
        return Offer.model_validate(dict(zip(COLUMNS, row, strict=True)))
    except ValidationError as error:
        first = error.errors()[0]
        name, problem = str(first["loc"][0]), str(first["msg"]).removeprefix("Value error, ")
        raise OffersError(f"{path}: line {line}: {name} {first['input']!r}: {problem}") from None
