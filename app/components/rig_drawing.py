"""Rigs as schematics: a square for each device, and a bar for the bandwidth, all to one scale."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import Decimal

from app.components.cards import badge
from app.components.markup import Markup, element, joined
from app.components.rig_words import TONES, bandwidth_text, gb_text, memory_kind, tier_text
from pipeline.hardware.fit import Fit, Need
from pipeline.hardware.rigs import Device, Rig

_WIDTH, _HEIGHT = 224, 122
_FLOOR_Y = 100  # devices stand on it
_BAR_Y, _BAR_HEIGHT = 110, 8
_LARGEST_SIDE = 96
_GAP = 4


def rig_drawings(rigs: Sequence[Rig], fits: Sequence[Fit | None], need: Need | None) -> Markup:
    """Return a strip of drawings with how a model runs on each; ``need`` fills their memory.

    The area of a square is the memory of a device, the length of a bar the bandwidth; both are to
    the same scale in all drawings of a strip.
    """
    scale = _Scale(rigs)
    items = (
        element("li", _figure(rig, found, need, scale))
        for rig, found in zip(rigs, fits, strict=True)
    )
    return element("ul", *items, class_="tt-rigs", tabindex=0, aria_label="Drawings of the rigs")


class _Scale:
    """Pixels for GB and GB/s, so that the largest of ``rigs`` fill the drawing."""

    def __init__(self, rigs: Iterable[Rig]) -> None:
        shown = list(rigs)
        self._most_gb = max(device.memory_gb for rig in shown for device in rig.devices)
        self._highest = max(rig.bandwidth_gb_per_s for rig in shown)
        # Where many devices would be wider than the drawing, all shrink.
        self._largest_side = min(_LARGEST_SIDE, *(self._room(rig) for rig in shown))

    def sides(self, rig: Rig) -> list[float]:
        """Return the side of each device's square."""
        return [size * self._largest_side for size in self._relative_sides(rig)]

    def bar(self, rig: Rig) -> float:
        """Return the length of the bandwidth's bar."""
        return float(rig.bandwidth_gb_per_s / self._highest) * _WIDTH

    def _relative_sides(self, rig: Rig) -> list[float]:
        return [
            math.sqrt(device.memory_gb / self._most_gb)
            for device in rig.devices
            for _ in range(device.count)
        ]

    def _room(self, rig: Rig) -> float:
        """Return the side of the largest square with which the devices stand side by side."""
        sides = self._relative_sides(rig)
        return (_WIDTH - _GAP * (len(sides) - 1)) / sum(sides)


def _figure(rig: Rig, found: Fit | None, need: Need | None, scale: _Scale) -> Markup:
    caption = element(
        "figcaption",
        element("strong", rig.name),
        element("span", f"{gb_text(rig.memory_gb)} {memory_kind(rig)}"),
        element("span", bandwidth_text(rig)),
        element("small", _parts_text(rig.devices)),
        _verdict(found) if found else None,
    )
    return element("figure", _drawing(rig, need, scale), caption)


def _verdict(found: Fit) -> Markup:
    return element("span", badge(found.tier, TONES[found.tier]), tier_text(found))


def _drawing(rig: Rig, need: Need | None, scale: _Scale) -> Markup:
    title = (
        f"Schematic of the {rig.name} rig - {rig.memory_gb:f}GB {memory_kind(rig)}, "
        f"{rig.bandwidth_gb_per_s.to_integral_value('ROUND_FLOOR')} GB/s aggregate bandwidth"
    )
    share = min(need.min_gb / rig.memory_gb, Decimal(1)) if need else Decimal(0)
    is_short = need is not None and need.min_gb > rig.memory_gb
    return element(
        "svg",
        element("title", title),
        *_blocks(scale.sides(rig), float(share), is_short=is_short),
        _rect(0, _BAR_Y, _WIDTH, _BAR_HEIGHT, "tt-rig-track"),
        _rect(0, _BAR_Y, scale.bar(rig), _BAR_HEIGHT, "tt-rig-rate"),
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        role="img",
        class_="tt-rig",
    )


def _blocks(sides: Sequence[float], share: float, *, is_short: bool) -> Iterable[Markup]:
    """Draw the devices side by side, each filled from below to ``share``."""
    x = 0.0
    for side in sides:
        yield _rect(x, _FLOOR_Y - side, side, side, "tt-rig-memory")
        if share:
            used = side * share
            css_class = "tt-rig-short" if is_short else "tt-rig-used"
            yield _rect(x, _FLOOR_Y - used, side, used, css_class)
        x += side + _GAP


def _rect(x: float, y: float, width: float, height: float, css_class: str) -> Markup:
    return element(
        "rect",
        x=f"{x:.2f}",
        y=f"{y:.2f}",
        width=f"{width:.2f}",
        height=f"{height:.2f}",
        class_=css_class,
    )


def _parts_text(devices: Iterable[Device]) -> Markup:
    return joined(
        [
            " + ".join(
                f"{device.count} \u00d7 {device.label}, {gb_text(device.memory_gb)}"
                for device in devices
            )
        ]
    )
