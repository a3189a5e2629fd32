"""The columns of the provider table; each says whose figure it holds and what that means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from app.components.table import Column

T = TypeVar("T")

COLUMNS = (
    Column("Provider", sort_key="provider", is_title=True),
    Column("Type", help="How the model is sold: by token through an API, and in which tier."),
    Column(
        "Input",
        "$/M",
        help="Listed price of a million prompt tokens, discount taken off.",
        kind="number",
        sort_key="input",
    ),
    Column(
        "Output",
        "$/M",
        help="Listed price of a million completion tokens, discount taken off.",
        kind="number",
        sort_key="output",
    ),
    Column(
        "Cache",
        "$/M",
        help="Listed price of a million prompt tokens read from the cache of this endpoint.",
        kind="number",
        sort_key="cache",
    ),
    Column(
        "Tok/s",
        "p50",
        help="Output tokens a second over the whole request, wait for the first token included: "
        "reported by OpenRouter, 30 minutes. Not comparable with our decode speed.",
        kind="number",
        sort_key="speed",
    ),
    Column(
        "Latency",
        "ms p50",
        help="Time to the first token: reported by OpenRouter, 30 minutes.",
        kind="number",
        sort_key="latency",
    ),
    Column(
        "Uptime",
        "1 day",
        help="Share of requests answered, rate limits left out: reported by OpenRouter, one day.",
        kind="number",
        sort_key="uptime",
    ),
    Column(
        "Context",
        "tokens",
        help="Longest prompt and answer together that this endpoint takes.",
        kind="number",
        sort_key="context",
    ),
    Column(
        "Quantization",
        help="Number format of the weights as the provider states it.",
        sort_key="quantization",
    ),
    Column("Value", help="Badges, and the input price as a multiple of the cheapest one."),
)
_BEFORE_PROBES = 7  # columns; ours stand beside what OpenRouter reports of the same kind
OUR_COLUMNS = (
    Column(
        "Our TTFT",
        "ms p50, p95",
        help="Time to the first token: measured by us, short chat at the lowest concurrency, "
        "72 hours. The smaller figure is the 95th percentile.",
        kind="number",
        sort_key="our_ttft",
        card_label="Our TTFT ms",
    ),
    Column(
        "Our tok/s",
        "decode p50, p5",
        help="Output tokens a second after the first one (decode): measured by us. The smaller "
        "figure is the slow tail, the 5th percentile. Not comparable with OpenRouter's tok/s, "
        "which contain the wait for the first token.",
        kind="number",
        sort_key="our_speed",
        card_label="Our tok/s",
    ),
    Column(
        "Our n",
        "newest",
        help="Requests behind our figures, and how old the newest one is.",
        kind="number",
        sort_key="our_n",
        card_label="Our n",
    ),
)


def with_ours(columns: Sequence[T], ours: Sequence[T]) -> tuple[T, ...]:
    """Put our own columns, or the cells of a row for them, into place."""
    return (*columns[:_BEFORE_PROBES], *ours, *columns[_BEFORE_PROBES:])
