"""What a request costs by the hour of the UTC day, where endpoints have a timetable of prices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

import polars as pl

from app.components.markup import Markup, element
from app.components.workload_money import money_texts
from pipeline.workload.bands import clock_text
from pipeline.workload.conditions import DAYS
from pipeline.workload.costs import BandCost, band_costs
from pipeline.workload.quotes import Quote
from pipeline.workload.shape import ALL_DAYS, ALL_HOURS, Workload

_LEAST_MINUTES = 120  # of a piece that its amount fits into; a shorter one tells it when pointed at


def timed(quotes: Sequence[Quote]) -> list[Quote]:
    """Return the quotes of endpoints whose prices depend on the time."""
    return [
        quote
        for quote in quotes
        if quote.is_offered and (quote.tariff.has_clock or quote.tariff.has_days)
    ]


def price_strips(quotes: Sequence[Quote], workload: Workload) -> Markup:
    """Return a strip of the day for each of ``timed`` quotes; dearer hours are darker."""
    strips = [
        _strip(_name(quote, parts[0]), parts)
        for quote in quotes
        for parts in _days(quote, workload)
    ]
    hours = element("span", *(element("i", f"{hour:02}") for hour in (0, 6, 12, 18, 24)))
    axis = element("div", element("b", "UTC"), hours, class_="tt-strip tt-strip-axis")
    return element("div", *strips, axis, class_="tt-strips")


def strip_table(quotes: Sequence[Quote], workload: Workload) -> pl.DataFrame:
    """Return the strips as a table: Provider, From, To (UTC), $ a request."""
    rows = [
        (_name(quote, part), clock_text(part.band.start), clock_text(part.band.end), text)
        for quote in quotes
        for parts in _days(quote, workload)
        for part, text in zip(parts, money_texts([p.cost.usd for p in parts]), strict=True)
    ]
    columns = ["Provider", "From (UTC)", "To (UTC)", "$ a request"]
    return pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String), orient="row")


def _days(quote: Quote, workload: Workload) -> list[list[BandCost]]:
    """Cut the whole day, or each day of the week where they differ."""
    parts = band_costs(quote.tariff, replace(workload, hours=ALL_HOURS, weekdays=ALL_DAYS))
    days = sorted({part.band.weekday for part in parts})
    return [[part for part in parts if part.band.weekday == day] for day in days]


def _name(quote: Quote, part: BandCost) -> str:
    day = f", {DAYS[part.band.weekday].capitalize()}" if quote.tariff.has_days else ""
    return f"{quote.record['provider_name']}{day}"


def _strip(name: str, parts: Sequence[BandCost]) -> Markup:
    texts = money_texts([part.cost.usd for part in parts])
    dearest = max((part.cost.usd or Decimal(0) for part in parts), default=Decimal(0))
    pieces = [
        element(
            "i",
            element("b", f"${text}") if part.band.minutes >= _LEAST_MINUTES else None,
            style=f"flex-grow: {part.band.minutes}",
            class_=_tone(part.cost.usd, dearest),
            title=f"{clock_text(part.band.start)} to {clock_text(part.band.end)} UTC: "
            f"${text} a request",
        )
        for part, text in zip(parts, texts, strict=True)
    ]
    return element("div", element("b", name), element("span", *pieces), class_="tt-strip")


def _tone(usd: Decimal | None, dearest: Decimal) -> str:
    if usd is None:
        return "tt-hour-unknown"
    return "tt-hour-high" if usd == dearest else "tt-hour-low"
