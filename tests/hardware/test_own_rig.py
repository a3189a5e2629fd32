"""A reader's rig is one text, and whatever else that text may hold is no rig."""

from __future__ import annotations

from decimal import Decimal

import pytest

from pipeline.hardware.own_rig import ChosenRig, TypedRig, read_own_rig
from pipeline.hardware.rigs import common_machines, reference_rigs

MACHINES = (*common_machines(), *reference_rigs())


@pytest.mark.parametrize(
    ("text", "memory_gb", "rate", "is_apple"),
    [
        ("GeForce RTX 3090 24GB", "24", "936.2", False),
        ("4x GeForce RTX 3090 24GB", "96", "3744.8", False),
        ("2x RTX 3090 (48GB)", "48", "1872.4", False),  # the name of a reference rig
        ("64GB@400", "64", "400", False),
        ("64GB@400,unified", "64", "400", False),
        ("0.5GB@25.6,apple", "0.5", "25.6", True),
    ],
)
def test_a_rig_that_was_kept_is_read_back(
    text: str, memory_gb: str, rate: str, is_apple: bool
) -> None:
    own = read_own_rig(text, MACHINES)

    assert own is not None
    assert own.text == text
    assert (own.rig.memory_gb, own.rig.bandwidth_gb_per_s) == (Decimal(memory_gb), Decimal(rate))
    assert own.rig.is_apple == is_apple


def test_one_of_a_machine_needs_no_count() -> None:
    assert ChosenRig(common_machines()[0]).text == common_machines()[0].name
    assert TypedRig(Decimal(8), Decimal(100)).rig.kind == "vram"


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "GeForce RTX 9999",
        "0x GeForce RTX 3090 24GB",
        "17x GeForce RTX 3090 24GB",
        "0GB@100",
        "24GB@0",
        "1.2.3GB@100",
        "24GB@9999999999",
        "24GB@100,<b>",
        "<script>alert(1)</script>",
        "NaNGB@100",
    ],
)
def test_any_other_text_is_no_rig(text: str | None) -> None:
    assert read_own_rig(text, MACHINES) is None
