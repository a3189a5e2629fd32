"""The columns of the provider table; each says whose figure it holds and what that means."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from app.components.table import Column

PRICES, TABLE, PROBES = "prices", "the-provider-table", "probes"


@dataclass(frozen=True)
class ProviderColumn:
    """A column under its ``key``, a word of the URL; ``method`` is its place in the Methodology.

    ``is_usual``: shown until the reader chooses. ``is_ours``: measured by us, and on offer only
    where something was measured.
    """

    key: str
    column: Column
    method: str
    is_usual: bool = True
    is_ours: bool = False


NAME = Column(
    "Provider",
    help="Who answers, and the routing tag of the endpoint; opens what else is known of it.",
    sort_key="provider",
    is_title=True,
)

COLUMNS = (
    ProviderColumn(
        "type",
        Column("Type", help="How the model is sold: by token through an API, and in which tier."),
        TABLE,
    ),
    ProviderColumn(
        "input",
        Column(
            "Input",
            "$/M",
            help="Listed price of a million prompt tokens, discount taken off.",
            kind="number",
            sort_key="input",
        ),
        PRICES,
    ),
    ProviderColumn(
        "output",
        Column(
            "Output",
            "$/M",
            help="Listed price of a million completion tokens, discount taken off.",
            kind="number",
            sort_key="output",
        ),
        PRICES,
    ),
    ProviderColumn(
        "cache",
        Column(
            "Cache",
            "$/M",
            help="Listed price of a million prompt tokens read from the cache of this endpoint.",
            kind="number",
            sort_key="cache",
        ),
        PRICES,
    ),
    ProviderColumn(
        "cache_write",
        Column(
            "Cache write",
            "$/M",
            help="Listed price of a million prompt tokens written to the cache of this endpoint.",
            kind="number",
            sort_key="cache_write",
        ),
        PRICES,
        is_usual=False,
    ),
    ProviderColumn(
        "discount",
        Column(
            "Discount",
            "% off",
            help="Share that OpenRouter has taken off the provider's list price; "
            "a negative one is a markup.",
            kind="number",
            sort_key="discount",
        ),
        PRICES,
        is_usual=False,
    ),
    ProviderColumn(
        "speed",
        Column(
            "Tok/s",
            "p50",
            help="Output tokens a second over the whole request, wait for the first token "
            "included: reported by OpenRouter, 30 minutes. Not comparable with our decode speed.",
            kind="number",
            sort_key="speed",
        ),
        TABLE,
    ),
    ProviderColumn(
        "latency",
        Column(
            "Latency",
            "ms p50",
            help="Time to the first token: reported by OpenRouter, 30 minutes.",
            kind="number",
            sort_key="latency",
        ),
        TABLE,
    ),
    ProviderColumn(
        "our_ttft",
        Column(
            "Our TTFT",
            "ms p50, p95",
            help="Time to the first token: measured by us, short chat at the lowest concurrency, "
            "72 hours. The smaller figure is the 95th percentile.",
            kind="number",
            sort_key="our_ttft",
            card_label="Our TTFT ms",
        ),
        PROBES,
        is_ours=True,
    ),
    ProviderColumn(
        "our_speed",
        Column(
            "Our tok/s",
            "decode p50, p5",
            help="Output tokens a second after the first one (decode): measured by us. The "
            "smaller figure is the slow tail, the 5th percentile. Not comparable with "
            "OpenRouter's tok/s, which contain the wait for the first token.",
            kind="number",
            sort_key="our_speed",
            card_label="Our tok/s",
        ),
        PROBES,
        is_ours=True,
    ),
    ProviderColumn(
        "our_n",
        Column(
            "Our n",
            "% ok, newest",
            help="Requests behind our figures, the share answered in full, and how old the "
            "newest one is.",
            kind="number",
            sort_key="our_n",
            card_label="Our n",
        ),
        PROBES,
        is_ours=True,
    ),
    ProviderColumn(
        "uptime",
        Column(
            "Uptime",
            "1 day",
            help="Share of requests answered, rate limits left out: reported by OpenRouter, "
            "one day.",
            kind="number",
            sort_key="uptime",
        ),
        TABLE,
    ),
    ProviderColumn(
        "context",
        Column(
            "Context",
            "tokens",
            help="Longest prompt and answer together that this endpoint takes.",
            kind="number",
            sort_key="context",
        ),
        TABLE,
    ),
    ProviderColumn(
        "max_output",
        Column(
            "Max output",
            "tokens",
            help="Longest answer that this endpoint gives.",
            kind="number",
            sort_key="max_output",
            card_label="Max out",
        ),
        TABLE,
    ),
    ProviderColumn(
        "quantization",
        Column(
            "Quant.",
            help="Quantization: number format of the weights as the provider states it.",
            sort_key="quantization",
        ),
        TABLE,
    ),
    ProviderColumn(
        "headquarters",
        Column(
            "Based in",
            help="Country of the provider's headquarters, ISO 3166: as OpenRouter lists it.",
            sort_key="headquarters",
        ),
        TABLE,
        is_usual=False,
    ),
    ProviderColumn(
        "datacenters",
        Column(
            "Runs in",
            help="Countries of its data centres, ISO 3166: as OpenRouter lists them.",
        ),
        TABLE,
        is_usual=False,
    ),
    ProviderColumn(
        "policy",
        Column(
            "Data policy",
            help="The provider's own privacy policy and terms; no public list says who keeps or "
            "trains on prompts.",
        ),
        TABLE,
        is_usual=False,
    ),
    ProviderColumn(
        "value",
        Column(
            "Value",
            help="Badges, and the input price as a multiple of the cheapest one; "
            "of a subscription its price a month.",
        ),
        TABLE,
    ),
)


def columns_on_offer(*, has_probes: bool) -> dict[str, ProviderColumn]:
    """Return the columns by key, in order; ours only where something was measured."""
    return {column.key: column for column in COLUMNS if has_probes or not column.is_ours}


def usual_keys(columns: Collection[ProviderColumn]) -> tuple[str, ...]:
    """Return the keys of those that are shown until the reader chooses."""
    return tuple(column.key for column in columns if column.is_usual)
