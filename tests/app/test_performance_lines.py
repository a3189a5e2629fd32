"""Who was measured: names that tell targets apart, colours shared with the price history."""

from __future__ import annotations

import pytest
from probe_marts import sample, sample_frame, summary_frame, summary_row

from app.components.chart_lines import PALETTE
from app.components.performance_lines import labelled, lines_of


def labels(*rows: dict[str, object]) -> list[str]:
    return [line.label for line in lines_of(summary_frame(*rows), {}).values()]


def test_a_target_is_named_by_its_provider_and_else_by_itself() -> None:
    assert labels(summary_row("groq"), summary_row("my server", provider_name=None, tag=None)) == [
        "Groq",
        "my server",
    ]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ({"tag": "a/fast"}, {"tag": "a/slow"}, ["A (a/fast)", "A (a/slow)"]),
        ({"tag": "a"}, {"tag": None}, ["A (a)", "A (no tag)"]),
        ({"region": "eu"}, {"region": "us"}, ["A (eu)", "A (us)"]),
        ({"target": "x"}, {"target": "y"}, ["A (x)", "A (y)"]),
    ],
)
def test_two_targets_of_one_provider_are_told_apart_by_what_differs(
    one: dict[str, object], other: dict[str, object], expected: list[str]
) -> None:
    same = {"target": "x", "provider_name": "A", "tag": "a", "region": "eu"}

    assert labels(summary_row("", **same | one), summary_row("", **same | other)) == expected


def test_rows_of_one_target_are_one_line() -> None:
    rows = [summary_row("groq", window_hours=hours) for hours in (24, 72, 336)]

    assert labels(*rows) == ["Groq"]


def test_a_target_has_the_colour_that_its_endpoint_has_in_the_price_history() -> None:
    summary = summary_frame(
        summary_row("direct", provider_name="Groq direct", endpoint_id=None),
        summary_row("groq", endpoint_id="e2"),
        summary_row("twice", provider_name="Z again", endpoint_id="e2"),
    )

    lines = lines_of(summary, {"e1": 0, "e2": 1})

    colors = {line.label: line.color for line in lines.values()}
    # What has no place of its own in the price history follows after its two lines.
    assert colors == {"Groq": PALETTE[1], "Groq direct": PALETTE[2], "Z again": PALETTE[3]}


def test_rows_get_the_label_of_their_line_even_where_the_provider_is_null() -> None:
    direct = {"provider_name": None, "tag": None}
    lines = lines_of(summary_frame(summary_row("mine", **direct)), {})

    rows = labelled(sample_frame(sample("mine", **direct), sample("other")), lines)

    assert rows["label"].to_list() == ["mine"]
