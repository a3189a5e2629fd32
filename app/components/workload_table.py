"""What a workload costs at each endpoint of a model, and the prices that this rests on."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from app.components import formatting
from app.components.cards import badge
from app.components.markup import Markup, element, joined
from app.components.table import Column, Row, table
from app.components.workload_money import money_cells
from pipeline.workload.costs import BandCost
from pipeline.workload.quotes import Quote, basis_of, prices_of
from pipeline.workload.shape import Workload

_COLUMNS = (
    Column("Provider", is_title=True),
    Column(
        "Request",
        "$",
        help="What one request costs, on average over the chosen hours: estimated from listed "
        "prices.",
        kind="number",
    ),
    Column(
        "Month",
        "$",
        help="What all requests of a month cost, spread evenly over the chosen hours.",
        kind="number",
    ),
    Column(
        "Against the cheapest",
        help="The month as a multiple of the cheapest one that costs something and is served by "
        "default.",
        card_label="Multiple",
        kind="number",
    ),
    Column(
        "Prices used",
        "$/M",
        help="Token prices in force for this prompt length in these hours, and why these.",
    ),
    Column("Notes", help="What the cost rests on, and why an endpoint may not do."),
)


def workload_table(quotes: Sequence[Quote], workload: Workload) -> Markup:
    """Return the table, in the order of ``quotes``."""
    offered = [quote for quote in quotes if quote.is_offered]
    cheapest = _cheapest(offered)
    requests = money_cells([quote.request for quote in quotes])
    months = money_cells([quote.month for quote in quotes])
    rows = []
    for quote, request, month in zip(quotes, requests, months, strict=True):
        cells = [
            endpoint_name(quote.record, quote is cheapest),
            request,
            month,
            _multiple(quote, cheapest),
            _basis(quote.parts, workload),
            _notes(quote),
        ]
        rows.append(Row(cells, css_class=None if quote.is_offered else "tt-stale"))
    return table(
        _COLUMNS,
        rows,
        caption="Cost of the workload at each provider",
        css_class="tt-cards tt-workload",
    )


def endpoint_name(record: dict[str, Any] | Any, is_cheapest: bool = False) -> Markup:
    """Return an endpoint's provider and tag, with its badges."""
    twin = f" #{record['endpoint_ordinal']}" if record["endpoint_ordinal"] > 1 else ""
    tier = record["tier"]
    return joined(
        [
            element("span", record["provider_name"], class_="tt-name"),
            badge("cheapest", "good") if is_cheapest else None,
            badge(tier) if tier != "standard" else None,
            badge("stale", "warn", title="Not in the last sweep") if record["is_stale"] else None,
            element("small", record["tag"] + twin),
        ]
    )


def _cheapest(offered: Sequence[Quote]) -> Quote | None:
    """Return the offer that the others are held against: of the standard tier, and for money."""
    paid = [quote for quote in offered if quote.month.usd and quote.record["tier"] == "standard"]
    return min(paid, key=lambda quote: quote.month.usd or Decimal(0), default=None)


def _multiple(quote: Quote, cheapest: Quote | None) -> str:
    if not quote.is_offered or not quote.month.usd or cheapest is None or not cheapest.month.usd:
        return formatting.MISSING
    return f"{float(quote.month.usd / cheapest.month.usd):.3g}\u00d7"


def _basis(parts: Sequence[BandCost], workload: Workload) -> Markup:
    lines: dict[str, None] = {}
    for part in parts:
        prices = prices_of(part)
        used = [("input", "in"), ("output", "out")]
        used += [("cache read", "cached")] if workload.cached_share else []
        used += [("cache write", "written")] if workload.written_share else []
        texts = formatting.price_texts([prices[name] for name, _ in used])
        said = ", ".join(f"{text} {word}" for text, (_, word) in zip(texts, used, strict=True))
        lines[f"{said}|{basis_of(part)}"] = None
    return joined(
        item
        for line in lines
        for item in (
            element("span", line.partition("|")[0], class_="tt-line"),
            element("small", line.partition("|")[2]),
        )
    )


def _notes(quote: Quote) -> Markup:
    said = [*quote.limits, *quote.notes]
    if quote.month.lacks:
        said.insert(0, quote.month.lacks)
    if quote.record["is_stale"]:
        said.insert(0, f"last seen {formatting.day_text(quote.record['last_seen_utc'])}")
    return joined(element("span", text, class_="tt-line") for text in said)
