"""What our probes measured of servers of one's own: it stands beside the estimates."""

from __future__ import annotations

import polars as pl

from app.components import formatting
from app.components.cards import badge
from app.components.markup import Markup, element, joined
from app.components.table import Column, Row, table

_COLUMNS = (
    Column("Server", is_title=True),
    Column("Prompts"),
    Column("n", help="Requests behind the figures, one at a time.", kind="number"),
    Column(
        "Decode",
        "tok/s p50",
        help="Measured tokens a second from the first to the last one: what the estimates are of.",
        kind="number",
    ),
    Column("TTFT", "ms p50", help="From sending to the first token.", kind="number"),
)


def measured_table(summary: pl.DataFrame) -> Markup | None:
    """Return the rows of ``marts.probe_summary`` of servers that are nobody's in the market.

    That are targets asked directly, under the name of no provider. Of each the longest window
    counts, with one request at a time; None when none was probed.
    """
    own = summary.filter(
        pl.col("provider_name").is_null(),
        pl.col("tag").is_null(),
        pl.col("n") > 0,
        phase="measure",
        loop="closed",
        concurrency=1,
    ).drop_nulls("decode_tokens_per_s_p50")
    if own.is_empty():
        return None
    longest = own.filter(window_hours=own["window_hours"].max()).sort("target", "prompt_set")
    rows = [
        Row(
            [
                joined(
                    [
                        element("span", record["target"], class_="tt-name"),
                        None if record["is_trusted"] else badge("untrusted", "warn"),
                    ]
                ),
                record["prompt_set"],
                formatting.count_text(record["n"]),
                formatting.rate_text(record["decode_tokens_per_s_p50"]),
                formatting.ms_text(record["ttft_p50_ms"]),
            ]
        )
        for record in longest.to_dicts()
    ]
    return table(_COLUMNS, rows, caption="Measured on servers of one's own", css_class="tt-cards")
