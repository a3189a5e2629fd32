"""The ranking of endpoints for some needs, each with its reasons."""

from __future__ import annotations

from collections.abc import Sequence

from app.components import formatting
from app.components.cards import badge
from app.components.markup import Markup, element, external_link, joined
from app.components.table import Column, Row, table
from app.components.workload_money import money_cells
from app.components.workload_table import endpoint_name
from pipeline.workload.choosing import Choice, Judged, latency_ms
from pipeline.workload.evidence import SOURCES, Source
from pipeline.workload.presets import Order
from pipeline.workload.verdicts import Needs

LATENCY = {"ttft": "TTFT", "cost": "TTFT", "answer": "Whole answer"}


def ranking(choice: Choice, needs: Needs, order: Order, source: Source) -> Markup:
    """Return who meets the needs, best first, then who is not known to."""
    shown = [*choice.met, *choice.open]
    costs = money_cells([judged.candidate.quote.month for judged in shown])
    rows = [
        Row(
            [
                formatting.count_text(place) if judged.outcome == "met" else "",
                joined([endpoint_name(judged.candidate.record), _open_badge(judged)]),
                cost,
                formatting.ms_text(latency_ms(judged.candidate, needs, order, source)),
                _lines([verdict.text for verdict in judged.of("met") if verdict.text]),
                _lines(_but(judged)),
            ],
            css_class=None if judged.outcome == "met" else "tt-stale",
        )
        for place, (judged, cost) in enumerate(zip(shown, costs, strict=True), start=1)
    ]
    return table(
        _columns(order, source),
        rows,
        caption="Providers that may serve this, best first",
        css_class="tt-cards tt-ranking",
    )


def ruled_out(choice: Choice) -> Markup:
    """Return who does not meet the needs, and every reason."""
    rows = [
        Row(
            [
                endpoint_name(judged.candidate.record),
                _lines([verdict.criterion for verdict in judged.of("missed")]),
                _lines([verdict.text for verdict in judged.of("missed")]),
            ]
        )
        for judged in choice.missed
    ]
    columns = (Column("Provider", is_title=True), Column("Misses"), Column("By"))
    return table(columns, rows, caption="Ruled out", css_class="tt-cards tt-ruled-out")


def counts(choice: Choice) -> Markup:
    """Say how many are ruled out, and how many by each criterion."""
    parts = [
        element("p", formatting.plural(len(choice.met), "endpoint"), " known to meet everything."),
        element("p", f"{len(choice.open)} not known to: a figure is missing.")
        if choice.open
        else None,
        element(
            "p",
            f"{len(choice.missed)} ruled out: ",
            ", ".join(f"{name} {count}" for name, count in choice.missed_counts.items()),
            "; one can miss several.",
        )
        if choice.missed
        else None,
    ]
    return element("div", *parts, class_="tt-notes", role="status")


def privacy_links(choice: Choice) -> Markup | None:
    """Link the privacy policies, which alone say whether prompts are used for training."""
    policies = {
        judged.candidate.record["provider_name"]: judged.candidate.record.get("privacy_policy_url")
        for judged in (*choice.met, *choice.open)
    }
    links = [external_link(name, url) for name, url in policies.items() if url]
    if not links:
        return None
    return element(
        "p",
        "Whether a provider trains on prompts is in no list that is read here, so nobody is ranked "
        "by it; their privacy policies say: ",
        *(part for link in links for part in (link, " ")),
        class_="tt-notes",
    )


def _columns(order: Order, source: Source) -> Sequence[Column]:
    return (
        Column("#", kind="number", card_label="Rank"),
        Column("Provider", is_title=True),
        Column("Month", "$", help="Estimated from listed prices for this workload.", kind="number"),
        Column(
            LATENCY[order],
            f"ms p50, {'ours' if source == 'ours' else 'OpenRouter'}",
            help=f"Median, {SOURCES[source]}; endpoints without one follow those with one.",
            card_label=f"{LATENCY[order]} ms",
            kind="number",
        ),
        Column("Because", help="The figure by which each limit is met, and whose it is."),
        Column("But", help="Limits that no figure shows to be met or missed, and what to know."),
    )


def _but(judged: Judged) -> list[str]:
    return [verdict.text for verdict in judged.of("open")] + list(judged.candidate.quote.notes)


def _open_badge(judged: Judged) -> Markup | None:
    return badge("not known to", "warn") if judged.outcome == "open" else None


def _lines(texts: Sequence[str]) -> Markup:
    return joined(element("span", text, class_="tt-line") for text in texts)
