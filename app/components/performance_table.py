"""Our figures of a model's targets in one table: how sure each is, and how far to be trusted."""

from __future__ import annotations

from typing import Any

import polars as pl

from app.components import formatting
from app.components.cards import badge
from app.components.markup import Markup, element, joined
from app.components.percentiles import interval, percentile
from app.components.performance_choices import Metric
from app.components.table import Column, Row, table

_COLUMNS = (
    Column("Provider", is_title=True),
    Column(
        "n",
        "of",
        help="Requests behind the figures, and all that were planned, warm-ups left out.",
        card_label="n",
        kind="number",
    ),
    Column(
        "Success",
        "rate-limited",
        help="Share of requests answered in full, and of those put off with HTTP 429. Failed "
        "requests enter no other figure.",
        card_label="Success",
        kind="number",
    ),
    Column(
        "TTFT",
        "ms p50",
        help="From sending to the first token, of the answer or of its reasoning; beneath, the "
        "95 % interval of the median.",
        kind="number",
    ),
    Column("TTFT", "ms p95", help="The same, 95th percentile; from 59 requests on.", kind="number"),
    Column(
        "TTFT", "ms p99", help="The same, 99th percentile; from 299 requests on.", kind="number"
    ),
    Column(
        "Decode",
        "tok/s p50, p5",
        help="Tokens a second from the first to the last one; the smaller figure is the slow "
        "tail, the 5th percentile. Not comparable with OpenRouter's tok/s.",
        card_label="Decode tok/s",
        kind="number",
    ),
    Column(
        "End-to-end",
        "tok/s p50",
        help="Tokens a second from sending to the last one: what OpenRouter reports as throughput.",
        card_label="E2E tok/s",
        kind="number",
    ),
    Column(
        "Together",
        "tok/s",
        help="Throughput of all streams together while all are busy.",
        kind="number",
    ),
    Column(
        "Paid",
        "$/M out",
        help="What the requests cost, prompts included, per million output tokens.",
        kind="number",
    ),
    Column(
        "Set-up",
        "ms p50",
        help="Name lookup, connection and TLS of new connections; in no TTFT.",
        kind="number",
    ),
    Column("Tok/chunk", help="Tokens in each chunk of the stream.", kind="number"),
    Column(
        "Our error",
        "ms p99",
        help="TTFT error of the instrument, measured before each run against a server whose true "
        "times are known. Trusted up to 1 ms or 2 % of the median TTFT, whichever is more.",
        card_label="Error ms p99",
        kind="number",
    ),
)
_BEFORE_ANSWER = 6
_ANSWER = Column(
    "Answer TTFT",
    "ms p50",
    help="From sending to the first token of the answer.",
    card_label="Answer ms",
    kind="number",
)


def performance_table(rows: pl.DataFrame, metric: Metric) -> Markup:
    """Return one row for each row of ``marts.probe_summary`` (with ``label``), best first.

    ``metric`` decides what is best. The answer's TTFT has a column only where it differs.
    """
    ordered = rows.sort(
        metric.median_column, "label", descending=[metric.is_speed, False], nulls_last=True
    )
    thinks = not rows.filter(pl.col("answer_ttft_p50_ms") != pl.col("ttft_p50_ms")).is_empty()
    columns = list(_COLUMNS)
    if thinks:
        columns.insert(_BEFORE_ANSWER, _ANSWER)
    return table(
        columns,
        [Row(_cells(record, thinks=thinks)) for record in ordered.to_dicts()],
        caption="Performance, measured by us",
        css_class="tt-cards tt-performance",
    )


def untrusted_notes(rows: pl.DataFrame) -> Markup | None:
    """Say of each row that is not to be trusted why; None when all are."""
    reasons = [
        f"{record['label']} is untrusted: {why}."
        for record in rows.sort("label").to_dicts()
        if (why := untrusted_because(record))
    ]
    if not reasons:
        return None
    return element("div", *(element("p", reason) for reason in reasons), class_="tt-notes")


def untrusted_because(record: dict[str, Any]) -> str | None:
    """Say why the figures of a row are not to be trusted; None when they are."""
    if record["is_trusted"]:
        return None
    error = record["self_check_ttft_error_p99_ms"]
    if error is None:
        return "the instrument was not checked"
    return f"the instrument's own TTFT error was {formatting.three_digits(error)} ms at p99"


def _cells(record: dict[str, Any], *, thinks: bool) -> list[str]:
    n = record["n"]
    cells = [
        _provider(record),
        _figure(formatting.count_text(n), f"of {record['requests']:,}"),
        _figure(formatting.share_text(record["ok_pct"]), _rate_limited(record)),
        joined(
            [
                formatting.ms_text(record["ttft_p50_ms"]),
                interval(record["ttft_p50_low_ms"], record["ttft_p50_high_ms"]),
            ]
        ),
        percentile("p95", record["ttft_p95_ms"], n),
        percentile("p99", record["ttft_p99_ms"], n),
        joined(
            [
                formatting.rate_text(record["decode_tokens_per_s_p50"]),
                element("small", "p5 ", percentile("p5", record["decode_tokens_per_s_p05"], n)),
            ]
        ),
        formatting.rate_text(record["e2e_tokens_per_s_p50"]),
        formatting.rate_text(record["aggregate_tokens_per_s"]),
        formatting.three_digits(_number(record["output_usd_per_mtok_paid"])),
        formatting.ms_text(record["connect_p50_ms"]),
        formatting.three_digits(record["tokens_per_chunk"]),
        formatting.three_digits(record["self_check_ttft_error_p99_ms"]),
    ]
    if thinks:
        cells.insert(_BEFORE_ANSWER, formatting.ms_text(record["answer_ttft_p50_ms"]))
    return cells


def _provider(record: dict[str, Any]) -> Markup:
    marks = []
    if why := untrusted_because(record):
        marks.append(badge("untrusted", "warn", title=why.capitalize()))
    if record["cached_prompt_pct"]:
        share = formatting.share_text(record["cached_prompt_pct"])
        title = f"{share} of the requests read cached prompt tokens: their TTFT is too short"
        marks.append(badge("cached prompts", "warn", title=title))
    where = [record["target"], f"from {record['region']}" if record["region"] else None]
    return joined(
        [
            element("span", record["label"], class_="tt-name"),
            *marks,
            element("small", " \u00b7 ".join(text for text in where if text)),
        ]
    )


def _rate_limited(record: dict[str, Any]) -> str | None:
    percent = record["rate_limited_pct"]
    return f"{formatting.share_text(percent)} limited" if percent else None


def _figure(text: str, beneath: str | None) -> Markup:
    return joined([text, element("small", beneath) if beneath else None])


def _number(value: Any) -> float | None:
    return None if value is None else float(value)
