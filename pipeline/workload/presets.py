"""Traffic shapes: what kind of use asks for what, as a start that every reader can change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Order = Literal["ttft", "answer", "cost"]


@dataclass(frozen=True)
class Shape:
    """A kind of traffic: its usual requests, its usual limits, and what it is ranked by.

    ``requests`` are ``in`` and ``out`` tokens, ``requests`` a month and ``cached`` percent.
    ``prompt_sets`` are those of our probes that are like it, the closest first. ``order`` is
    "ttft" (median, ms), "answer" (time of a whole answer, ms) or "cost" (USD a month).
    """

    label: str
    about: str
    requests: Mapping[str, int]
    max_ttft_p95_ms: int
    min_tokens_per_s: int
    min_uptime_pct: float
    prompt_sets: tuple[str, ...]
    order: Order


# A limit of 0 asks for nothing.
SHAPES = {
    "chat": Shape(
        label="Interactive chat",
        about="Someone reads along: the first word must come soon, and the rest as fast as one "
        "reads. Ranked by time to the first token.",
        requests={"in": 1000, "out": 300, "requests": 100_000, "cached": 30},
        max_ttft_p95_ms=2000,
        min_tokens_per_s=20,
        min_uptime_pct=99.0,
        prompt_sets=("short_chat", "1k_in_1k_out"),
        order="ttft",
    ),
    "batch": Shape(
        label="Batch",
        about="Nobody waits: what counts is the bill. Ranked by cost.",
        requests={"in": 2000, "out": 500, "requests": 1_000_000, "cached": 0},
        max_ttft_p95_ms=0,
        min_tokens_per_s=0,
        min_uptime_pct=95.0,
        prompt_sets=("1k_in_1k_out", "short_chat"),
        order="cost",
    ),
    "long": Shape(
        label="Long context",
        about="Whole documents go in: they must fit, price tiers by length apply, and reading "
        "them takes the time. Ranked by cost.",
        requests={"in": 60_000, "out": 1000, "requests": 10_000, "cached": 50},
        max_ttft_p95_ms=15_000,
        min_tokens_per_s=20,
        min_uptime_pct=98.0,
        prompt_sets=("10k_in",),
        order="cost",
    ),
    "agents": Shape(
        label="Agents",
        about="Many steps, each waits for the last one, most of the prompt is the same again. "
        "Ranked by the time of a whole answer.",
        requests={"in": 20_000, "out": 500, "requests": 200_000, "cached": 80},
        max_ttft_p95_ms=3000,
        min_tokens_per_s=40,
        min_uptime_pct=99.5,
        prompt_sets=("10k_in", "1k_in_1k_out", "short_chat"),
        order="answer",
    ),
}
