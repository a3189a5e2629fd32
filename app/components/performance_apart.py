"""What stands apart from the warm figures: cold starts, and what a cached prefix saves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from app.components import formatting
from app.components.markup import Markup, element, joined
from app.components.percentiles import interval
from app.components.performance_lines import Who, who_of
from app.components.table import Column, Row, table


def cold_starts(summary: pl.DataFrame) -> Markup | None:
    """Return the cold starts in rows of ``marts.probe_summary`` of one window, with ``label``.

    Beside each stands the warm TTFT of the same target. None when there was no cold start.
    """
    cold = summary.filter(pl.col("phase") == "cold_start", pl.col("n") > 0).sort("label")
    if cold.is_empty():
        return None
    warm = _lowest_load(summary.filter(prompt_set="short_chat", phase="measure"))
    return table(
        [
            Column("Provider", is_title=True),
            Column("n", help="Requests: one a run at most.", kind="number"),
            Column(
                "Set-up",
                "ms p50",
                help="Looking up the name, connecting and TLS: before the request goes out.",
                kind="number",
            ),
            Column(
                "Cold TTFT",
                "ms p50",
                help="After the set-up.",
                kind="number",
                card_label="Cold ms p50",
            ),
            Column(
                "Warm TTFT",
                "ms p50",
                help="Short chat, lowest concurrency.",
                kind="number",
                card_label="Warm ms p50",
            ),
        ],
        [
            Row(
                [
                    element("span", record["label"], class_="tt-name"),
                    formatting.count_text(record["n"]),
                    formatting.ms_text(record["connect_p50_ms"]),
                    _median(record),
                    formatting.ms_text(warm.get(who_of(record), {}).get("ttft_p50_ms")),
                ]
            )
            for record in cold.to_dicts()
        ],
        caption="Cold starts",
        css_class="tt-cards",
    )


def cached_prefixes(summary: pl.DataFrame) -> Markup | None:
    """Return what cached prefixes saved, at the lowest concurrency; None when not measured."""
    pairs = _lowest_load(
        summary.filter(pl.col("cached_prefix_saving_ms").is_not_null()).sort("label")
    )
    if not pairs:
        return None
    return table(
        [
            Column("Provider", is_title=True),
            Column("n", help="First requests of a pair that were answered.", kind="number"),
            Column(
                "First TTFT",
                "ms p50",
                help="Of the first request of a pair.",
                kind="number",
                card_label="First ms p50",
            ),
            Column(
                "Saved",
                "ms p50",
                help="TTFT of the first request of a pair minus that of the second, with the same "
                "prefix; below zero, the second one was slower.",
                kind="number",
            ),
        ],
        [
            Row(
                [
                    element("span", record["label"], class_="tt-name"),
                    formatting.count_text(record["n"]),
                    _median(record),
                    _saving(record),
                ]
            )
            for record in pairs.values()
        ],
        caption="Saved by a cached prefix",
        css_class="tt-cards",
    )


def _lowest_load(rows: pl.DataFrame) -> Mapping[Who, dict[str, Any]]:
    """Return of each target the row of its closed loop with the fewest streams."""
    closed = rows.filter(loop="closed").sort("concurrency", descending=True, maintain_order=True)
    lowest = {who_of(record): record for record in closed.to_dicts()}
    return dict(sorted(lowest.items(), key=lambda item: item[1]["label"]))


def _median(record: dict[str, Any]) -> Markup:
    return joined(
        [
            formatting.ms_text(record["ttft_p50_ms"]),
            interval(record["ttft_p50_low_ms"], record["ttft_p50_high_ms"]),
        ]
    )


def _saving(record: dict[str, Any]) -> Markup:
    saving, first = record["cached_prefix_saving_ms"], record["ttft_p50_ms"]
    sign = "\u2212" if saving < 0 else ""
    share = formatting.change_text(-100 * saving / first) if first else None
    return joined(
        [sign + formatting.ms_text(abs(saving)), element("small", share) if share else None]
    )
