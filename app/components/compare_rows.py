"""The rows of the comparison: each figure by name, whose it is, and what it means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from app.components.markup import Markup


@dataclass(frozen=True)
class Compared:
    """One column of the comparison: its name, and its cells by row."""

    name: str
    cells: Mapping[str, Markup | str] = field(default_factory=dict)


@dataclass(frozen=True)
class Figure:
    """A row: its name, unit and one-sentence explanation."""

    label: str
    unit: str = ""
    help: str = ""


# By key, in the order of the page. A row that no column fills is left out.
FIGURES = {
    "page": Figure("Page"),
    "developer": Figure("Developer"),
    "released": Figure("Released"),
    "weights": Figure("Weights"),
    "modalities": Figure("Takes"),
    "based": Figure("Based in", help="Country of the provider's headquarters."),
    "tier": Figure("Tier"),
    "quantization": Figure("Quantization", help="As the provider states it."),
    "context": Figure("Context", "tokens", "Longest prompt and answer together."),
    "max_output": Figure("Longest answer", "tokens"),
    "providers": Figure("Providers", help="That serve the model now, and their endpoints."),
    "input": Figure("Input", "$/M", "Listed; for a model at its cheapest endpoint."),
    "output": Figure("Output", "$/M", "Listed; for a model at the same endpoint."),
    "cache": Figure("Cache read", "$/M", "Listed."),
    "like": Figure(
        "Input, like for like",
        "$/M",
        "Cheapest endpoint of the standard tier with an uptime of 95 % or more over a day, room "
        "for the request, and for open weights 8 bits or more as stated.",
    ),
    "spark": Figure("Input price, 90 days", "$/M", "For a model the lowest of its endpoints."),
    "request": Figure("Your request", "$", "Estimated from listed prices for the workload above."),
    "month": Figure("Your month", "$", "The same for all requests of a month."),
    "uptime": Figure("Uptime, 1 day", help="Reported by OpenRouter; for a model the best."),
    "ttft": Figure("TTFT, OpenRouter's", "ms p50", "Reported by OpenRouter, 30 minutes."),
    "speed": Figure(
        "Tok/s, OpenRouter's",
        "p50",
        "Over the whole request, reported by OpenRouter; not comparable with our decode speed.",
    ),
    "our_ttft": Figure("TTFT, ours", "ms p50", "Measured by us, short chat, 72 hours."),
    "our_speed": Figure(
        "Tok/s, ours", "decode p50", "Measured by us after the first token, short chat, 72 hours."
    ),
}
