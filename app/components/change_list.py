"""The change log: what became cheaper, dearer, new or gone, one line per endpoint and moment."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any

import polars as pl

from app.components import formatting
from app.components.cards import badge
from app.components.markup import Markup, element, joined, model_link
from app.components.table import Column, Row, table

# Kind of change -> tone of its badge. Cheaper is good for who pays.
TONES = {"cheaper": "good", "dearer": "bad", "new": "accent", "back": "accent", "gone": "warn"}
# What a reader may ask for; an empty tuple is everything.
KINDS = {
    "all": (),
    "cheaper": ("cheaper",),
    "dearer": ("dearer",),
    "listings": ("new", "gone", "back"),
}
_ARROWS = {"cheaper": "▼ ", "dearer": "▲ "}
_SENTENCES = {"new": "newly listed", "gone": "no longer listed", "back": "listed again"}
_FIRST_FIELDS = ("input_usd_per_mtok", "output_usd_per_mtok")
_PRICE_SUFFIX = "_usd_per_mtok"
ROWS_PER_LINE = 8  # looked at for a line shown; hardly ever do more fields change together
_LONGEST_VALUE = 40  # JSON of tiers and the like is named, not shown


def change_list(
    changes: pl.DataFrame, now: datetime, *, names_model: bool, lines: int = 100
) -> Markup:
    """Return rows of ``marts.price_changes``, newest first, as a list of at most ``lines``.

    Fields that changed together at one endpoint share a line, headed by the link to the model
    (``names_model``) or by the provider.
    """
    newest = changes.sort("first_seen_new_utc", descending=True).head(lines * ROWS_PER_LINE)
    columns = [
        Column("Model" if names_model else "Provider", is_title=True),
        Column("Seen", help="When it was first seen; it happened after the sweep before."),
        Column("Change"),
    ]
    return table(
        columns,
        [_row(group, now, names_model=names_model) for group in grouped(newest)[:lines]],
        caption="Changes of prices and listings",
        css_class="tt-cards tt-wide-cells",
    )


def grouped(changes: pl.DataFrame) -> list[list[dict[str, Any]]]:
    """Put the rows that one endpoint changed at one moment, in one direction, together."""
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    newest_first = changes.sort(
        ["first_seen_new_utc", "model_id", "provider_name", "tag"],
        descending=[True, False, False, False],
    )
    for record in newest_first.iter_rows(named=True):
        key = (record["first_seen_new_utc"], record["endpoint_id"], record["kind"])
        groups.setdefault(key, []).append(record)
    return [sorted(group, key=_place) for group in groups.values()]


def of_kinds(changes: pl.DataFrame, name: str) -> pl.DataFrame:
    """Keep the changes of one of ``KINDS``."""
    kinds = KINDS[name]
    return changes.filter(pl.col("kind").is_in(kinds)) if kinds else changes


def counts(changes: pl.DataFrame, since: datetime) -> dict[str, int]:
    """Count endpoints' changes by kind since a moment; one endpoint and moment counts once."""
    recent = changes.filter(pl.col("first_seen_new_utc") >= since)
    events = recent.unique(["endpoint_id", "kind", "first_seen_new_utc"])
    return dict(events.group_by("kind").len().iter_rows())


def change_sentence(record: dict[str, Any]) -> str:
    """Say what one row of ``marts.price_changes`` changed."""
    kind = record["kind"]
    if kind in _SENTENCES:
        return _SENTENCES[kind]
    field = str(record["field"]).removesuffix(_PRICE_SUFFIX).removesuffix("_json")
    name = field.replace("_", " ")
    old, new = _values(record)
    if max(len(old), len(new)) > _LONGEST_VALUE:
        return f"{name} changed"
    if kind == "price_stated":
        return f"{name} {new}, no price before"
    if kind == "price_withdrawn":
        return f"{name} has no price now, {old} before"
    share = formatting.change_text(record["change_pct"])
    return f"{name} {old} \u2192 {new}" + (f" ({share})" if share else "")


def _values(record: dict[str, Any]) -> tuple[str, str]:
    old, new = record["old_value"], record["new_value"]
    field = str(record["field"])
    if field.endswith(_PRICE_SUFFIX):
        before, after = formatting.price_texts([_decimal(old), _decimal(new)])
        return before, after
    return _value(field, old), _value(field, new)


def _value(field: str, text: str | None) -> str:
    number = _decimal(text)
    if number is None:
        return text or formatting.MISSING
    if field == "discount":
        return f"{float(number * 100):.6g}%"
    return f"{number:,f}"


def _decimal(text: str | None) -> Decimal | None:
    try:
        return None if text is None else Decimal(text)
    except InvalidOperation:
        return None


def _row(group: Sequence[dict[str, Any]], now: datetime, *, names_model: bool) -> Row:
    first = group[0]
    kind = first["kind"]
    sentences = [element("span", change_sentence(record), class_="tt-change") for record in group]
    seen = first["first_seen_new_utc"]
    interval = (
        f"Last seen as before {formatting.moment_text(first['last_seen_old_utc'])}, "
        f"first seen so {formatting.moment_text(seen)}"
    )
    when = element(
        "time", formatting.age_text(seen, now), datetime=seen.isoformat(), title=interval
    )
    name = _ARROWS.get(kind, "") + kind.replace("_", " ")
    change = joined([badge(name, TONES.get(kind, "plain")), *sentences])
    return Row([_who(first, names_model=names_model), when, change])


def _place(record: dict[str, Any]) -> tuple[int, str]:
    field = str(record["field"])
    return (_FIRST_FIELDS.index(field) if field in _FIRST_FIELDS else len(_FIRST_FIELDS), field)


def _who(record: dict[str, Any], *, names_model: bool) -> Markup:
    if names_model:
        at = f"{record['provider_name']} \u00b7 {record['tag']}"
        return joined([model_link(record["model_id"], record["model_id"]), element("small", at)])
    name = element("span", record["provider_name"], class_="tt-name")
    return joined([name, element("small", record["tag"])])
