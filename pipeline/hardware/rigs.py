"""Rigs: the reference machines, common GPUs and machines, and a user's own file of rigs."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

_HERE = Path(__file__).parent
_NEEDED = ("name", "kind", "memory_gb", "bandwidth_gb_per_s")
_COLUMNS = (*_NEEDED, "is_apple", "devices", "watts")
_DEVICE = re.compile(r"(\d+)\s*x\s+([^|;]+?)\s*\|\s*([\d.]+)\s*\|\s*([\d.]+)", re.ASCII)
_MOST_BYTES = 1_000_000

Amount = Annotated[Decimal, Field(gt=0, le=1_000_000, allow_inf_nan=False)]


class RigFileError(Exception):
    """A file of rigs cannot be used. One line: file, line, what was found, what is wanted."""


class Device(BaseModel):
    """Equal devices of a rig; memory in GB and bandwidth in GB/s of each."""

    model_config = ConfigDict(frozen=True)

    count: int = Field(ge=1, le=64)
    label: str = Field(min_length=1, max_length=60)
    memory_gb: Amount
    bandwidth_gb_per_s: Amount


class Rig(BaseModel):
    """A machine: all of its memory in GB, and the bandwidth in GB/s that decoding is bound by.

    ``vram`` rigs hold the model in the memory of GPUs, whose bandwidths add up; ``unified`` ones
    have a single memory; ``hybrid`` ones add GPUs to a large, slow memory, and are as fast as
    that. ``watts`` is the power of the boards or chips as their vendor states it, null where
    none does.
    """

    model_config = ConfigDict(frozen=True)

    name: str = Field(min_length=1, max_length=80)
    kind: Literal["vram", "unified", "hybrid"]
    is_apple: bool = False
    memory_gb: Amount
    bandwidth_gb_per_s: Amount
    devices: tuple[Device, ...]
    watts: Amount | None = None

    @model_validator(mode="before")
    @classmethod
    def _one_device_unless_told(cls, values: Any) -> Any:
        if isinstance(values, dict) and not values.get("devices"):
            about = ("memory_gb", "bandwidth_gb_per_s")
            device = {"count": 1, "label": str(values.get("name"))[:60]}
            return values | {"devices": (device | {key: values.get(key) for key in about},)}
        return values

    @model_validator(mode="after")
    def _devices_add_up(self) -> Rig:
        memory = sum(device.count * device.memory_gb for device in self.devices)
        if memory != self.memory_gb:
            raise ValueError(f"memory_gb is {self.memory_gb}, but its devices hold {memory}")
        rates = [device.bandwidth_gb_per_s for device in self.devices]
        together = sum(device.count * device.bandwidth_gb_per_s for device in self.devices)
        rate = min(rates) if self.kind == "hybrid" else together
        if rate != self.bandwidth_gb_per_s:
            raise ValueError(
                f"bandwidth_gb_per_s is {self.bandwidth_gb_per_s}, but its devices give {rate}"
            )
        return self


@cache
def reference_rigs() -> tuple[Rig, ...]:
    """Return the 22 reference rigs, highest bandwidth first."""
    return read_rigs(_HERE / "rigs.csv")


@cache
def common_machines() -> tuple[Rig, ...]:
    """Return GPUs, Apple chips and other machines to choose from, as their vendors state them."""
    return read_rigs(_HERE / "gpus.csv")


def rigs_with(own_file: Path | None) -> tuple[Rig, ...]:
    """Return the reference rigs and those of a user's file, highest bandwidth first.

    A rig of the file takes the place of the reference rig with its name. Raises
    ``RigFileError``.
    """
    own = read_rigs(own_file) if own_file else ()
    by_name = {rig.name: rig for rig in (*reference_rigs(), *own)}
    return tuple(sorted(by_name.values(), key=lambda rig: -rig.bandwidth_gb_per_s))


def read_rigs(path: Path) -> tuple[Rig, ...]:
    """Read a CSV of rigs in the columns of ``rigs.csv``; raises ``RigFileError``.

    ``is_apple``, ``devices`` (``2 x RTX 3090 | 24 | 936.2``: count, label, GB and GB/s of each;
    kinds apart by ``;``) and ``watts`` may be left out.
    """
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise RigFileError(f"{path}: is larger than 1 MB; it should be a CSV of rigs")
        with path.open(encoding="utf-8-sig", newline="") as file:
            return tuple(_rigs(path, csv.DictReader(file)))
    except OSError as error:
        raise RigFileError(f"{path}: cannot be read ({error.strerror})") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise RigFileError(f"{path}: is no CSV in UTF-8 ({error})") from None


def times(machine: Rig, count: int) -> Rig:
    """Return ``count`` of a machine as one rig: memory, bandwidth and watts add up."""
    if count == 1:
        return machine
    return Rig(
        name=f"{count}x {machine.name}",
        kind=machine.kind,
        is_apple=machine.is_apple,
        memory_gb=machine.memory_gb * count,
        bandwidth_gb_per_s=machine.bandwidth_gb_per_s * count,
        devices=tuple(
            device.model_copy(update={"count": device.count * count}) for device in machine.devices
        ),
        watts=None if machine.watts is None else machine.watts * count,
    )


def _rigs(path: Path, rows: csv.DictReader[str]) -> Iterator[Rig]:
    found = rows.fieldnames or []
    if missing := [name for name in _NEEDED if name not in found]:
        raise RigFileError(f"{path}: has no column {missing[0]}; known: {', '.join(_COLUMNS)}")
    if unknown := [name for name in found if name not in _COLUMNS]:
        raise RigFileError(
            f"{path}: does not know column {unknown[0]!r}; known: {', '.join(_COLUMNS)}"
        )
    names: set[str] = set()
    for row in rows:
        where = f"{path}: line {rows.line_num}"
        if None in row or None in row.values():
            raise RigFileError(f"{where}: has not as many cells as the first line")
        rig = _rig(where, row)
        if rig.name in names:
            raise RigFileError(f"{where}: names {rig.name!r} again; give each rig a name")
        names.add(rig.name)
        yield rig


def _rig(where: str, row: Mapping[str, str]) -> Rig:
    stated: dict[str, Any] = {key: cell.strip() for key, cell in row.items() if cell.strip()}
    if "devices" in stated:
        stated["devices"] = [_device(where, part) for part in stated["devices"].split(";")]
    try:
        return Rig.model_validate(stated)
    except ValidationError as error:
        problem = error.errors()[0]
        column = ".".join(str(part) for part in problem["loc"])
        message = problem["msg"].removeprefix("Value error, ")
        shown = f"{column} is {problem['input']!r:.60}: " if column in _COLUMNS else ""
        shown = f"{column} is missing: " if problem["type"] == "missing" else shown
        raise RigFileError(f"{where}: {shown}{message}") from None


def _device(where: str, text: str) -> dict[str, str]:
    match = _DEVICE.fullmatch(text.strip())
    if match is None:
        raise RigFileError(
            f"{where}: devices has {text.strip()!r:.60}; write them like "
            "'2 x RTX 3090 | 24 | 936.2' (count, label, GB and GB/s of each)"
        )
    keys = ("count", "label", "memory_gb", "bandwidth_gb_per_s")
    return dict(zip(keys, match.groups(), strict=True))
