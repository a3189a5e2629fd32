"""How scores, their scales, sources and evidence are put into words."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from app.components import formatting
from app.components.cards import badge
from app.components.markup import Markup, element, external_link, joined

EVIDENCE = {
    "direct": "measured on this model",
    "variant": "measured on another checkpoint or setting of the model",
    "base_model": "measured on the model that it was made from",
    "self_reported": "stated by its publisher without a method",
    "user": "imported, without a word on how it was measured",
}

Row = Mapping[str, Any]


def metric_label(metric: str) -> str:
    """Write a metric for a reader: ``elo.models.code`` is "Elo, models, code"."""
    text = metric.replace("_", " ").replace(".", ", ")
    return text[:1].upper() + text[1:]


def score_text(score: Decimal) -> str:
    """Write a score exactly, without trailing zeros."""
    plain = f"{score:,f}"
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def points_text(points: Decimal | None) -> str:
    """Write points per dollar: whole from 100 on, else with three digits."""
    if points is None:
        return formatting.MISSING
    return f"{points:,.0f}" if points >= 100 else formatting.three_digits(float(points))


def scale_text(row: Row) -> str:
    """Say on which scale a row of ``marts.model_scores`` is."""
    low, high = row["scale_min"], row["scale_max"]
    if low is not None and high is not None:
        return f"from {score_text(low)} to {score_text(high)}"
    return "no ends" if row["has_zero"] else "no zero, no ends"


def evidence_badge(evidence: str) -> Markup | None:
    """Return a label for evidence that is less than direct."""
    if evidence == "direct":
        return None
    return badge(evidence.replace("_", " "), "warn", title=EVIDENCE.get(evidence))


def citation(row: Row) -> Markup:
    """Return what has to stand below scores of the source of a ``marts.model_scores`` row."""
    text = row["citation"] or f"Source: {row['source_title']}."
    licence = row["licence"]
    return element(
        "p",
        joined([text, " "]),
        external_link("Where it stands", row["source_url"]) if row["source_url"] else None,
        f" Licence: {licence}." if licence else None,
        class_="tt-notes",
    )
