"""Rigs drawn to scale, and the table of rigs against quantizations."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import pytest
from html_tables import cells

from app.components.rig_drawing import rig_drawings
from app.components.rig_table import rig_table
from app.components.rig_words import bandwidth_text, gb_text, need_text
from pipeline.hardware.fit import fit, need_of
from pipeline.hardware.rigs import Rig, reference_rigs


def rig(name: str, memory_gb: str, rate: str, **values: Any) -> Rig:
    return Rig.model_validate(
        {"name": name, "kind": "vram", "memory_gb": memory_gb, "bandwidth_gb_per_s": rate} | values
    )


def rects(markup: str, css_class: str) -> list[tuple[float, float]]:
    """Return width and height of each rectangle of a kind."""
    found = re.findall(rf'width="([\d.]+)" height="([\d.]+)" class="{css_class}"', markup)
    return [(float(width), float(height)) for width, height in found]


def drawn(*rigs: Rig, needed_gb: str | None = None) -> str:
    need = None if needed_gb is None else need_of(Decimal(needed_gb))
    return rig_drawings(rigs, [need and fit(rig, need) for rig in rigs], need)


def test_areas_are_to_the_scale_of_memory_and_bars_to_that_of_bandwidth() -> None:
    markup = drawn(rig("large", "96", "1792"), rig("small", "24", "448"))

    # A quarter of the memory has half the side; a quarter of the bandwidth a quarter of the bar.
    (large, _), (small, _) = rects(markup, "tt-rig-memory")
    assert large == pytest.approx(2 * small, abs=0.01)
    assert [width for width, _ in rects(markup, "tt-rig-rate")] == [224, 56]


def test_many_devices_side_by_side_stay_in_the_drawing() -> None:
    many = {"devices": [{"count": 8, "label": "A", "memory_gb": 80, "bandwidth_gb_per_s": 100}]}

    squares = rects(drawn(rig("rack", "640", "800", **many)), "tt-rig-memory")

    assert len(squares) == 8
    assert sum(width for width, _ in squares) + 7 * 4 == pytest.approx(224, abs=0.1)


def test_memory_is_filled_to_what_the_model_takes() -> None:
    # A quarter of 24 GB.
    ((_, side),) = rects(drawn(rig("A", "24", "1000")), "tt-rig-memory")
    ((_, used),) = rects(drawn(rig("A", "24", "1000"), needed_gb="6"), "tt-rig-used")

    assert used == pytest.approx(side / 4, abs=0.01)


def test_a_model_too_large_fills_the_memory_in_another_colour() -> None:
    markup = drawn(rig("A", "24", "1000"), needed_gb="30")

    assert rects(markup, "tt-rig-used") == []
    assert rects(markup, "tt-rig-short") == rects(markup, "tt-rig-memory")
    assert "offload" in markup


def test_a_drawing_says_in_words_what_it_shows() -> None:
    markup = drawn(*reference_rigs())

    titles = re.findall(r"<title>(.*?)</title>", markup)
    assert len(titles) == 22
    assert titles[2] == (
        "Schematic of the 8x RTX 3090 rack (192GB) rig - 192GB VRAM, 7489 GB/s aggregate bandwidth"
    )
    assert markup.count('role="img"') == 22
    assert "1 \u00d7 DDR4-3200, 512 GB + 2 \u00d7 RTX 3090, 24 GB" in markup


def test_a_hostile_name_is_shown_as_text() -> None:
    hostile = rig("<img src=x onerror=alert(1)>", "24", "100")

    for markup in (drawn(hostile), rig_table([hostile], {"Q8_0": need_of(Decimal(8))})):
        assert "<img" not in markup
        assert "&lt;img src=x" in markup


def test_the_table_has_tier_speed_and_range_and_ones_own_rig_first() -> None:
    needs = {"Q4_K_M": need_of(Decimal("4.5")), "FP16": need_of(Decimal(16))}

    table = rig_table(
        [rig("RTX 4090", "24", "1008.9"), rig("small", "4", "100")],
        needs,
        own=rig("mine", "16", "100", kind="unified"),
    )

    rows = [[" ".join(cell.split()) for cell in row] for row in cells(table)]
    # 0.55 * 100 / 4.502 = 12.217, of it 0.85 to 1.40: 10.4 to 17.1; and so on.
    assert rows == [
        ["mine your rig 16 GB unified memory, 100 GB/s", "ok 12.2 t/s 10 to 17", "tight"],
        ["RTX 4090 24 GB VRAM, 1,008 GB/s", "fast 123.3 t/s 105 to 173", "fast 34.7 t/s 29 to 49"],
        ["small 4 GB VRAM, 100 GB/s", "offload", "offload"],
    ]
    assert (
        'title="less memory than recommended: needs 16.0 GB, 18 GB recommended, of 16 GB"' in table
    )


def test_numbers_are_written_as_far_as_they_go() -> None:
    assert [gb_text(Decimal(size)) for size in ("24", "0.5", "1234.56")] == [
        "24 GB",
        "0.5 GB",
        "1,234.6 GB",
    ]
    assert [need_text(Decimal(size)) for size in ("0.675", "4.5", "16")] == [
        "0.68 GB",
        "4.5 GB",
        "16.0 GB",
    ]
    assert bandwidth_text(rig("A", "24", "7489.6")) == "7,489 GB/s"
