"""What became of the requests: answered, failed by kind, or not counted against anybody."""

from __future__ import annotations

from typing import Any

import polars as pl

from app.components import formatting
from app.components.markup import Markup, element
from app.components.table import Column, Row, table

# Column of marts.probe_summary: head, what it means, and the tone of its part of the bar.
_KINDS = {
    "n_rate_limited": ("Rate-limited", "HTTP 429, or an error 429 in the stream", "warn"),
    "n_overloaded": ("Overloaded", "HTTP 503 or 529, or such an error in the stream", "warn"),
    "n_timeout": ("Timed out", "No connection, no byte or no end in time", "bad"),
    "n_http_error": ("HTTP error", "Any other status than 2xx, or no connection", "bad"),
    "n_stream_error": ("Stream error", "An error in the stream, or no readable stream", "bad"),
    "n_truncated": ("Cut off", "Ended without an end, or without a token", "bad"),
    "n_wrong_provider": ("Wrong provider", "Served by another than the pinned one", "bad"),
}
_OUR_OWN = {
    "n_refused_config": ("Not sent", "Refused by us, as the configuration cannot be sent", "ours"),
    "n_cancelled_budget": ("Budget", "Cancelled by us, as the budget was spent", "ours"),
}
_LATE = Column(
    "Late probe",
    help="Answered or not, they enter no figure: the probe itself was too late in their batch.",
    kind="number",
)


def failure_table(rows: pl.DataFrame) -> Markup:
    """Return requests by outcome, a row of ``marts.probe_summary`` (with ``label``) each.

    Kinds that never occurred have no column.
    """
    kinds = {
        column: what for column, what in (_KINDS | _OUR_OWN).items() if (rows[column] > 0).any()
    }
    is_late = (rows["n_probe_overloaded"] > 0).any()
    records = rows.sort("label").to_dicts()
    return table(
        [
            Column("Provider", is_title=True),
            Column("Requests", help="Planned in this window, warm-ups left out.", kind="number"),
            Column("Outcomes", help="Answered, put off, failed, and not sent by us."),
            Column("Answered", kind="number"),
            *(Column(head, help=meaning, kind="number") for head, meaning, _ in kinds.values()),
            *([_LATE] if is_late else []),
        ],
        [
            Row(
                [
                    element("span", record["label"], class_="tt-name"),
                    formatting.count_text(record["requests"]),
                    _bar(record),
                    formatting.count_text(_answered(record)),
                    *(formatting.count_text(record[column]) for column in kinds),
                    *([formatting.count_text(record["n_probe_overloaded"])] if is_late else []),
                ]
            )
            for record in records
        ],
        caption="Requests by outcome",
        css_class="tt-cards tt-failures",
    )


def _answered(record: dict[str, Any]) -> int:
    counted: int = record["requests"] - sum(record[column] for column in _KINDS | _OUR_OWN)
    return counted


def _bar(record: dict[str, Any]) -> Markup:
    """Return the outcomes as a stacked bar; the numbers beside it say the same."""
    parts = {"good": _answered(record)}
    for column, (_, _, tone) in (_KINDS | _OUR_OWN).items():
        parts[tone] = parts.get(tone, 0) + record[column]
    total = record["requests"] or 1
    bars = (
        element("i", class_=f"tt-part-{tone}", style=f"width: {100 * part / total:.2f}%")
        for tone, part in parts.items()
        if part
    )
    return element("span", *bars, class_="tt-bar", aria_hidden="true")
