"""The pair of a first endpoint and a fallback, and how every other one would do as such."""

from __future__ import annotations

from collections.abc import Sequence

from app.components import formatting
from app.components.cards import badge, empty, notice
from app.components.markup import Markup, element, joined
from app.components.table import Column, Row, table
from app.components.workload_table import endpoint_name
from pipeline.workload.fallback import FEWEST_HOURS, Pair, best_pair

_COLUMNS = (
    Column("Fallback", is_title=True),
    Column(
        "Hours", "both seen", help="Hours with a sweep in which both had a figure.", kind="number"
    ),
    Column(
        "First out",
        "hours",
        help="Of these, with an uptime below 95 %.",
        card_label="First out",
        kind="number",
    ),
    Column("It out", "hours", help="The same.", card_label="It out", kind="number"),
    Column("Both out", "hours", help="In one hour.", card_label="Both out", kind="number"),
    Column("Says", help="Whether it would have stood in."),
)


def fallback_pair(pairs: Sequence[Pair]) -> Markup:
    """Return the pair in a sentence, or why there is none."""
    if not pairs:
        return empty("No fallback", "It takes endpoints of two providers that are not ruled out.")
    best = best_pair(pairs)
    if best is None:
        return empty(
            "No fallback is known to be one",
            "Every other provider was out in an hour in which the first one was too, or was seen "
            f"together with it for fewer than {FEWEST_HOURS} hours.",
        )
    return notice(
        f"{_provider(best, first=True)}, with {_provider(best, first=False)} as fallback:",
        _over(best),
        " It is not known to meet everything." if best.second.outcome == "open" else "",
    )


def fallback_table(pairs: Sequence[Pair]) -> Markup:
    """Return a row for each possible fallback, in their order of rank."""
    best = best_pair(pairs)
    rows = [
        Row(
            [
                joined(
                    [
                        endpoint_name(pair.second.candidate.record),
                        badge("fallback", "good") if pair is best else None,
                    ]
                ),
                formatting.count_text(pair.hours),
                formatting.count_text(pair.first_out),
                formatting.count_text(pair.second_out),
                formatting.count_text(pair.both_out),
                _says(pair),
            ]
        )
        for pair in pairs
    ]
    return table(_COLUMNS, rows, caption="Possible fallbacks", css_class="tt-cards tt-fallback")


def _over(pair: Pair) -> str:
    seen = f"in {formatting.plural(pair.hours, 'hour')} in which both were seen, "
    if not pair.first_out:
        return seen + "the first was never out, so nothing shows how the other would stand in."
    return (
        f"{seen}the first was out in {pair.first_out}, the other in {pair.second_out}, and never "
        "both in the same one."
    )


def _says(pair: Pair) -> Markup:
    if not pair.is_enough:
        return element("span", f"too little: fewer than {FEWEST_HOURS} hours", class_="tt-dim")
    if pair.both_out:
        return element("span", "was out with it", class_="tt-low")
    if not pair.first_out:
        return element("span", "never needed: the first was never out", class_="tt-dim")
    return element("span", "stood in each time")


def _provider(pair: Pair, *, first: bool) -> str:
    judged = pair.first if first else pair.second
    name: str = judged.candidate.record["provider_name"]
    return name
