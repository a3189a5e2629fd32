"""The market ranked by what a dollar buys of a score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.components import formatting
from app.components.cards import badge
from app.components.markup import Markup, element, joined, model_link
from app.components.score_words import evidence_badge, points_text, score_text
from app.components.table import Column, Row, Sort, table
from pipeline.scores.value import Valued

_LOWEST_FIRST = {"name", "price"}
_KEYS = ("name", "score", "price", "value")
FIRST_DIRECTIONS = {key: Sort(key if key in _LOWEST_FIRST else f"-{key}") for key in _KEYS}

_BY_VALUE = {"-value": "Points per dollar, most first", "value": "Points per dollar, fewest first"}
_BY_OTHERS = {
    "-score": "Score, high first",
    "score": "Score, low first",
    "price": "Price, low first",
    "-price": "Price, high first",
    "name": "Name, A to Z",
    "-name": "Name, Z to A",
}


def sort_labels(*, has_value: bool) -> dict[str, str]:
    """Return the orders on offer, the usual one first; without a zero there is none by value."""
    return _BY_VALUE | _BY_OTHERS if has_value else _BY_OTHERS


def sorted_values(values: Sequence[Valued], names: Mapping[str, str], sort: Sort) -> list[Valued]:
    """Order the rows; what has no such figure comes last in both directions, ties by id."""
    known = [(_figure(each, names, sort.key), each) for each in values]
    ordered = sorted(
        sorted(
            (pair for pair in known if pair[0] is not None),
            key=lambda pair: str(pair[1].score["model_id"]),
        ),
        key=lambda pair: pair[0],
        reverse=sort.is_descending,
    )
    missing = [each for figure, each in known if figure is None]
    # A free model is worth more than one without a price, and has no number for it.
    missing.sort(key=lambda each: (not each.is_free, str(each.score["model_id"])))
    return [each for _, each in ordered] + missing


def value_table(
    values: Sequence[Valued],
    names: Mapping[str, str],
    sort: Sort,
    *,
    first_rank: int,
    basis: str,
) -> Markup:
    """Return the table of ``values`` in the order given; ``first_rank`` is that of the first."""
    prices = formatting.aligned(
        formatting.price_texts([each.price_usd_per_mtok for each in values])
    )
    rows = [
        Row(
            [
                _name(each, names, rank),
                joined([score_text(each.score["score"]), _small(f"{each.score['as_of']}")]),
                _price(each, price),
                _value(each),
            ]
        )
        for rank, (each, price) in enumerate(zip(values, prices, strict=True), start=first_rank)
    ]
    return table(
        [
            Column("Model", sort_key="name", is_title=True),
            Column(
                "Score",
                "as of",
                help="The score on its own scale, and the day it is of.",
                kind="number",
                sort_key="score",
                card_label="Score",
            ),
            Column(
                "Price",
                f"$/M, {basis}",
                help="Lowest price of this basis among endpoints that are listed now, served by "
                "default, not free, and pass the filters.",
                kind="number",
                sort_key="price",
                card_label="$/M from",
            ),
            Column(
                "Points",
                "per $/M",
                help="Score divided by price. Free models and models without a price have none.",
                kind="number",
                sort_key="value",
                card_label="Points per $/M",
            ),
        ],
        rows,
        caption="Models ranked by what a dollar buys",
        sort=sort,
        first_directions=FIRST_DIRECTIONS,
        css_class="tt-cards tt-value",
    )


def _figure(value: Valued, names: Mapping[str, str], key: str) -> Any:
    match key:
        case "name":
            return names[value.score["model_id"]].lower()
        case "score":
            return value.score["score"]
        case "price":
            return value.price_usd_per_mtok
    return value.points_per_usd_per_mtok


def _name(value: Valued, names: Mapping[str, str], rank: int) -> Markup:
    score = value.score
    return joined(
        [
            element("span", f"{rank}. ", class_="tt-dim", title="place in the chosen order"),
            model_link(names[score["model_id"]], score["model_id"]),
            badge("efficient", "good", title="Nothing as good is cheaper, nothing as cheap better.")
            if value.is_efficient
            else None,
            evidence_badge(score["evidence"]),
            badge(score["variant"]) if score["variant"] else None,
            _small(score["model_id"]),
        ]
    )


def _price(value: Valued, text: str) -> Markup:
    if value.offer is None:
        return joined([formatting.MISSING])
    provider = _small(value.offer.provider_name)
    return joined(["free" if value.is_free else text, provider])


def _value(value: Valued) -> str:
    return "free" if value.is_free else points_text(value.points_per_usd_per_mtok)


def _small(text: str | None) -> Markup | None:
    return element("small", text) if text else None
