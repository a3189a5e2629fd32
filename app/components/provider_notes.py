"""How to read the provider table: what kind of number stands where, and what each column means."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from app.components.markup import Markup, element, joined, page_link
from app.components.provider_columns import ProviderColumn

_OUR_FIGURES = (
    "Our TTFT and tok/s are measured by us: short chat at the lowest concurrency, 72 hours. "
    "Our tok/s is the decode speed, after the first token; OpenRouter's is over the whole request, "
    "so the two are not comparable."
)
_NO_FIGURES = joined(
    [
        "No figures of our own: measure with ",
        element("code", "tokentape probe"),
        ", or name a file of probes in TOKENTAPE_PROBES_FILE to have them run on schedule.",
    ]
)


def has_probes(endpoints: pl.DataFrame) -> bool:
    """Whether we have measured any of the endpoints."""
    return not endpoints.filter(pl.col("probe_n") > 0).is_empty()


def lacks_performance(endpoints: pl.DataFrame) -> bool:
    """Whether no endpoint has throughput or latency: OpenRouter shows them with a key only."""
    columns = ("reported_tokens_per_s_p50", "reported_ttft_p50_ms")
    return all(endpoints[column].null_count() == endpoints.height for column in columns)


def reading_notes(endpoints: pl.DataFrame) -> Markup:
    """Say what kind of number each column holds, and why some are empty."""
    notes: list[str] = [
        "Prices are listed by the providers on OpenRouter; confirm them on the provider's own "
        "pages before committing. Links to them stand in the row that a provider's name opens, "
        "and are neither sponsored nor affiliated.",
        "Uptime (one day), tokens per second and latency (30 minutes) are reported by OpenRouter "
        "from its own traffic.",
        "Default order: throughput among endpoints with 95% uptime or more, then latency, then "
        "input and output price; subscriptions last, with $/mo in the Value column. Flex, "
        "priority and batch tiers and stale rows never count as cheapest.",
        "Which providers keep prompts or train on them no public list says: read their privacy "
        "policy.",
    ]
    if lacks_performance(endpoints):
        notes.insert(
            2,
            "Tokens per second and latency are empty because OpenRouter shows them only to "
            "requests with an API key; set OPENROUTER_API_KEY to fill them.",
        )
    notes.append(_OUR_FIGURES if has_probes(endpoints) else _NO_FIGURES)
    return element("div", *(element("p", note) for note in notes), class_="tt-notes")


def column_glossary(columns: Iterable[ProviderColumn]) -> Markup:
    """Explain each column in a sentence, with a link to its method; shown by ``live``."""
    entries = (
        element(
            "div",
            element("dt", f"{shown.column.label} {shown.column.unit}".strip()),
            element(
                "dd",
                shown.column.help,
                " ",
                page_link("Methodology", f"methodology#{shown.method}"),
            ),
        )
        for shown in columns
    )
    return element(
        "details",
        element("summary", "What each column means"),
        element("dl", *entries),
        class_="tt-glossary",
        data_row="glossary",
    )
