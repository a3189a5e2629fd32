"""The ranking by points per dollar: order, ranks, what has no number, and hostile names."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from html_tables import cells

from app.components.score_words import citation, metric_label, points_text, score_text
from app.components.table import Sort
from app.components.value_table import sort_labels, sorted_values, value_table
from pipeline.scores.value import Offer, Valued, valued

NAMES = {
    "a/cheap": "Cheap",
    "a/good": "Good",
    "a/free": "Free",
    "a/none": "None",
    "evil/x": "<script>alert(1)</script>",
}


def score(model_id: str, points: str, **more: Any) -> dict[str, Any]:
    row = {"model_id": model_id, "score": Decimal(points), "has_zero": True, "variant": None}
    return row | {"higher_is_better": True, "evidence": "direct", "as_of": date(2026, 11, 1)} | more


def offer(model_id: str, price: str | None, provider: str = "Acme") -> Offer:
    return Offer(model_id, price and Decimal(price), provider, is_free=price is None)  # type: ignore[arg-type]


OFFERS = {
    "a/cheap": offer("a/cheap", "0.02", "DeepInfra"),
    "a/good": offer("a/good", "2"),
    "a/free": offer("a/free", None),
    "evil/x": offer("evil/x", "1", "<b>x</b>"),
}
SCORES = (
    score("a/none", "99"),
    score("a/good", "90"),
    score("a/free", "70"),
    score("a/cheap", "62"),
)


def ids(values: list[Valued]) -> list[str]:
    return [value.score["model_id"].partition("/")[2] for value in values]


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("-value", ["cheap", "good", "free", "none"]),  # 3100, 45, free, no price
        ("value", ["good", "cheap", "free", "none"]),
        ("-score", ["none", "good", "free", "cheap"]),
        ("price", ["cheap", "good", "free", "none"]),
        ("name", ["cheap", "free", "good", "none"]),
    ],
)
def test_the_order_puts_what_has_no_number_last(sort: str, order: list[str]) -> None:
    assert ids(sorted_values(valued(SCORES, OFFERS), NAMES, Sort(sort))) == order


def test_a_row_says_score_price_provider_and_points() -> None:
    values = sorted_values(valued(SCORES, OFFERS), NAMES, Sort("-value"))
    html = value_table(values, NAMES, Sort("-value"), first_rank=51, basis="input")
    assert cells(html) == [
        ["51.   Cheap  efficient  a/cheap", "62 2026-11-01", "0.02 DeepInfra", "3,100"],
        ["52.   Good  efficient  a/good", "90 2026-11-01", "2.00 Acme", "45.0"],
        ["53.   Free  a/free", "70 2026-11-01", "free Acme", "free"],
        ["54.   None  a/none", "99 2026-11-01", "\u2013", "\u2013"],
    ]


def test_without_a_zero_there_is_no_order_by_value() -> None:
    assert next(iter(sort_labels(has_value=True))) == "-value"
    assert next(iter(sort_labels(has_value=False))) == "-score"
    assert "-value" not in sort_labels(has_value=False)


def test_names_and_evidence_of_others_are_shown_as_text() -> None:
    hostile = score("evil/x", "1", evidence="<i>self</i>", variant="<u>v</u>")
    values = valued([hostile], OFFERS)
    html = value_table(values, NAMES, Sort("-value"), first_rank=1, basis="<s>")
    for tag in ("<script", "<b>x", "<i>", "<u>", "<s>"):
        assert tag not in html


def test_a_citation_is_printed_and_no_link_but_to_a_web_page() -> None:
    row = {
        "citation": "Source: <b>me</b>.",
        "licence": "CC BY 4.0",
        "source_url": "javascript:alert(1)",
        "source_title": "me",
    }
    html = citation(row)
    assert "Source: &lt;b&gt;me&lt;/b&gt;." in html
    assert "Licence: CC BY 4.0." in html
    assert "<a" not in html
    assert "Source: me." in citation(row | {"citation": None})


def test_scores_and_points_are_written_without_hiding_anything() -> None:
    assert [score_text(Decimal(text)) for text in ("62.000000", "5.400000", "1042.5")] == [
        "62",
        "5.4",
        "1,042.5",
    ]
    assert [points_text(Decimal(text)) for text in ("3100", "45", "0.0421")] == [
        "3,100",
        "45.0",
        "0.0421",
    ]
    assert metric_label("elo.models.code") == "Elo, models, code"
