"""Tables of the Health page: checks, sweeps, quarantine and flags."""

from __future__ import annotations

from typing import Any

import polars as pl

from app.components import formatting
from app.components.cards import badge
from app.components.markup import Markup, element, joined
from app.components.table import Column, Row, table

_TONES = {
    "ok": "good",
    "complete": "good",
    "warn": "warn",
    "partial": "warn",
    "error": "bad",
    "failed": "bad",
}
_WORST_FIRST = ("error", "warn", "ok")


def checks(health: pl.DataFrame) -> Markup:
    """Return ``marts.data_health``, worst first."""
    records = sorted(
        health.to_dicts(), key=lambda record: (_rank(record["status"]), record["check_name"])
    )
    return table(
        [
            Column("Check", is_title=True),
            Column("Status"),
            Column("Value", kind="number"),
            Column("Meaning"),
        ],
        [
            Row(
                [
                    element("span", record["check_name"].replace("_", " "), class_="tt-name"),
                    _status(record["status"]),
                    _text(record["value"]),
                    _text(record["detail"]),
                ]
            )
            for record in records
        ],
        caption="Checks of the data",
        css_class="tt-cards tt-wide-cells",
    )


def value_of(health: pl.DataFrame, check_name: str) -> str:
    """Return the value of one check of ``marts.data_health``."""
    found = health.filter(pl.col("check_name") == check_name)["value"].to_list()
    return _text(found[0] if found else None)


def sweeps(log: pl.DataFrame) -> Markup:
    """Return ``marts.sweep_log``, newest first."""
    records = log.sort("started_at_utc", descending=True).to_dicts()
    numbers = ("endpoints", "providers", "quarantined", "flagged")
    return table(
        [
            Column("Started", is_title=True),
            Column("Status"),
            Column("Models answered", kind="number"),
            *(Column(name.capitalize(), kind="number") for name in numbers),
            Column("Took", kind="number"),
        ],
        [
            Row(
                [
                    element(
                        "span",
                        formatting.moment_text(record["started_at_utc"]),
                        title=record["sweep_id"],
                    ),
                    _sweep_status(record),
                    f"{record['models_answered']:,} of {record['models_expected']:,}",
                    *(formatting.count_text(record[name]) for name in numbers),
                    formatting.duration_text(record["duration_s"]),
                ]
            )
            for record in records
        ],
        caption="Sweeps",
        css_class="tt-cards",
    )


def quarantine(log: pl.DataFrame) -> Markup:
    """Return ``marts.quarantine_log``, newest first."""
    return _record_log(log.sort("observed_at_utc", descending=True), "reason", "Quarantine")


def flags(log: pl.DataFrame) -> Markup:
    """Return ``marts.flag_log`` by rule."""
    return _record_log(log.sort("rule", "row_key"), "detail", "Flags")


def _record_log(log: pl.DataFrame, detail: str, caption: str) -> Markup:
    return table(
        [Column("Record", is_title=True), Column("Seen"), Column("Rule"), Column("Why")],
        [
            Row(
                [
                    joined([record["row_key"], element("small", record["table_name"])]),
                    formatting.day_text(record["observed_at_utc"]),
                    record["rule"].replace("_", " "),
                    record[detail],
                ]
            )
            for record in log.iter_rows(named=True)
        ],
        caption=caption,
        css_class="tt-cards tt-wide-cells",
    )


def _status(status: str) -> Markup:
    return badge(status, _TONES.get(status, "plain"))


def _sweep_status(record: dict[str, Any]) -> Markup:
    marks = [_status(record["status"])]
    if record["is_interrupted"]:
        marks.append(badge("interrupted", "warn"))
    return joined(marks)


def _rank(status: str) -> int:
    return _WORST_FIRST.index(status) if status in _WORST_FIRST else len(_WORST_FIRST)


def _text(value: Any) -> str:
    return formatting.MISSING if value is None else str(value)
