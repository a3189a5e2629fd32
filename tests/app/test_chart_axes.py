"""Axes of the charts: ticks at full hours and midnights, numbers that stay readable."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from app.components.chart_axes import number_axis, time_axis

LAST = datetime(2026, 11, 30, 13, 20, tzinfo=UTC)


@pytest.mark.parametrize(
    ("hours", "form", "ticks"),
    [
        (4, "%-d %b %H:%M", ["30T10", "30T11", "30T12", "30T13"]),
        (26, "%-d %b %H:%M", ["29T12", "29T18", "30T00", "30T06", "30T12"]),
        (74, "%-d %b %H:%M", ["28T00", "29T00", "30T00"]),
        (14 * 24, "%-d %b", ["18T00", "20T00", "22T00", "24T00", "26T00", "28T00", "30T00"]),
    ],
)
def test_ticks_are_full_hours_or_midnights_as_the_length_demands(
    hours: int, form: str, ticks: list[str]
) -> None:
    axis = time_axis(LAST - timedelta(hours=hours), LAST)["axis"]

    assert axis["values"] == [f"2026-11-{tick}:00:00Z" for tick in ticks]
    assert axis["format"] == form


def test_numbers_are_written_in_full_from_zero_on() -> None:
    axis = number_axis([90.0, 480.0], "TTFT, ms")

    assert axis["scale"]["domain"][0] == 0
    assert axis["axis"]["format"] == ",~f"  # "g" would write 500 as 5e+2


def test_a_chart_of_zeros_has_an_axis_too() -> None:
    assert number_axis([0.0], "x")["scale"]["domain"] == [0, 1]
