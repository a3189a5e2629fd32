"""Rigs: the bundled tables, and files of users, right and wrong."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from pipeline.hardware.rigs import (
    RigFileError,
    common_machines,
    read_rigs,
    reference_rigs,
    rigs_with,
    times,
)

HEAD = "name,kind,is_apple,memory_gb,bandwidth_gb_per_s,devices,watts"


@pytest.fixture
def rig_file(tmp_path: Path) -> Path:
    return tmp_path / "rigs.csv"


def write(path: Path, *lines: str, head: str = HEAD) -> None:
    path.write_text("\n".join([head, *lines]) + "\n")


def test_there_are_22_reference_rigs_highest_bandwidth_first() -> None:
    rigs = reference_rigs()
    rates = [rig.bandwidth_gb_per_s for rig in rigs]

    assert len(rigs) == 22
    assert rates == sorted(rates, reverse=True)
    assert {rig.name for rig in rigs if rig.is_apple} == {
        "Mac Studio M4 Ultra 192GB",
        "Mac Studio M4 Ultra 512GB",
        "MacBook Pro M5 Max 128GB",
    }


def test_bandwidths_are_kept_to_their_decimals() -> None:
    rates = {rig.name: rig.bandwidth_gb_per_s for rig in reference_rigs()}
    assert rates["8x RTX 3090 rack (192GB)"] == Decimal("7489.6")
    assert rates["Epyc + 512GB DDR4-2400 + 2x RTX 3090"] == Decimal("153.6")


def test_a_hybrid_has_the_memory_of_all_and_the_bandwidth_of_its_ram() -> None:
    rig = next(rig for rig in reference_rigs() if rig.kind == "hybrid")

    assert [(device.count, device.memory_gb) for device in rig.devices] == [(1, 512), (2, 24)]
    assert (rig.memory_gb, rig.bandwidth_gb_per_s) == (560, Decimal("204.8"))


def test_every_common_machine_is_told_apart_by_its_name() -> None:
    names = [machine.name for machine in common_machines()]
    assert len(set(names)) == len(names) > 100


def test_several_of_a_machine_add_up() -> None:
    gpu = next(item for item in common_machines() if item.name == "GeForce RTX 3090 24GB")

    rig = times(gpu, 4)

    assert rig.name == "4x GeForce RTX 3090 24GB"
    assert (rig.memory_gb, rig.bandwidth_gb_per_s, rig.watts) == (96, Decimal("3744.8"), 1400)
    assert rig.devices[0].count == 4
    assert times(gpu, 1) is gpu


def test_a_file_of_ones_own_adds_rigs_and_replaces_those_of_the_same_name(rig_file: Path) -> None:
    write(
        rig_file,
        "Cellar,hybrid,,40,100.5,1 x DDR5 | 16 | 100.5; 1 x RTX 4090 | 24 | 1008,",
        "Single RTX 4090 (24GB),vram,,48,1008,,450",
    )

    rigs = {rig.name: rig for rig in rigs_with(rig_file)}

    assert len(rigs) == 23
    assert rigs["Single RTX 4090 (24GB)"].memory_gb == 48
    assert [device.label for device in rigs["Cellar"].devices] == ["DDR5", "RTX 4090"]
    assert list(rigs)[-1] == "Cellar"


def test_four_columns_are_enough(rig_file: Path) -> None:
    write(rig_file, "Cellar,unified,64,89.6", head="name,kind,memory_gb,bandwidth_gb_per_s")

    (rig,) = read_rigs(rig_file)

    assert (rig.is_apple, rig.watts, rig.devices[0].label) == (False, None, "Cellar")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("A,vram,no,24,fast,,", "line 2: bandwidth_gb_per_s is 'fast': "),
        ("A,vram,no,-1,100,,", "line 2: memory_gb is '-1': "),
        ("A,vram,no,NaN,100,,", "line 2: memory_gb is 'NaN': "),
        ("A,vram,no,,100,,", "line 2: memory_gb is missing: "),
        (",vram,no,24,100,,", "line 2: name is missing: "),
        ("A,desk,no,24,100,,", "line 2: kind is 'desk': Input should be 'vram', "),
        ("A,vram,perhaps,24,100,,", "line 2: is_apple is 'perhaps': "),
        ("A,vram,no,24,100,,lots", "line 2: watts is 'lots': "),
        ("A,vram,no,24,100,2 x RTX 3090,", "line 2: devices has '2 x RTX 3090'; write them like "),
        ("A,vram,no,24,100,2 x B | 24 | 50,", "memory_gb is 24, but its devices hold 48"),
        ("A,vram,no,48,100,2 x B | 24 | 60,", "bandwidth_gb_per_s is 100, but its devices give"),
        ("A,vram,no,24", "line 2: has not as many cells as the first line"),
        ("A,vram,no,24,1,,\nA,vram,no,24,1,,", "line 3: names 'A' again"),
    ],
)
def test_a_wrong_rig_is_told_in_one_line_with_its_place(
    rig_file: Path, line: str, told: str
) -> None:
    write(rig_file, line)

    with pytest.raises(RigFileError) as error:
        read_rigs(rig_file)

    message = str(error.value)
    assert message.startswith(f"{rig_file}: ")
    assert told in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "has no column name"),
        (b"name,kind,memory_gb,bandwidth_gb_per_s,colour\n", "does not know column 'colour'"),
        (b"\xff\xfe\x00", "is no CSV in UTF-8"),
        (b" " * 1_000_001, "is larger than 1 MB"),
    ],
)
def test_a_file_that_holds_no_rigs_is_told(rig_file: Path, content: bytes, told: str) -> None:
    rig_file.write_bytes(content)

    with pytest.raises(RigFileError, match=told):
        rigs_with(rig_file)


def test_a_file_that_is_not_there_is_told(rig_file: Path) -> None:
    with pytest.raises(RigFileError, match="cannot be read"):
        rigs_with(rig_file)
