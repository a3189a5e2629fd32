"""A reader's own rig as one short text, the same in the address, the browser and the page."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Literal

from pydantic import ValidationError

from pipeline.hardware.rigs import Rig, times

Memory = Literal["vram", "unified", "apple"]
MOST_MACHINES = 16

_COUNTED = re.compile(r"(?:(\d{1,2})x )?(.+)", re.ASCII)
_TYPED = re.compile(r"([\d.]{1,10})GB@([\d.]{1,10})(?:,(unified|apple))?", re.ASCII)


@dataclass(frozen=True)
class ChosenRig:
    """So many of a known machine: ``2x GeForce RTX 3090 24GB``."""

    machine: Rig
    count: int = 1

    @property
    def text(self) -> str:
        """The rig as it is kept."""
        return self.machine.name if self.count == 1 else f"{self.count}x {self.machine.name}"

    @property
    def rig(self) -> Rig:
        """The rig that a model is to fit."""
        return times(self.machine, self.count)


@dataclass(frozen=True)
class TypedRig:
    """Memory in GB, bandwidth in GB/s, and what memory it is: ``64GB@400,apple``."""

    memory_gb: Decimal
    bandwidth_gb_per_s: Decimal
    memory: Memory = "vram"

    @property
    def text(self) -> str:
        """The rig as it is kept."""
        kind = "" if self.memory == "vram" else f",{self.memory}"
        return f"{self.memory_gb:f}GB@{self.bandwidth_gb_per_s:f}{kind}"

    @property
    def rig(self) -> Rig:
        """The rig that a model is to fit; raises pydantic's ``ValidationError`` beyond reason."""
        return Rig.model_validate(
            {
                "name": f"{self.memory_gb:f} GB at {self.bandwidth_gb_per_s:f} GB/s",
                "kind": "vram" if self.memory == "vram" else "unified",
                "is_apple": self.memory == "apple",
                "memory_gb": self.memory_gb,
                "bandwidth_gb_per_s": self.bandwidth_gb_per_s,
            }
        )


OwnRig = ChosenRig | TypedRig


def read_own_rig(text: str | None, machines: Iterable[Rig]) -> OwnRig | None:
    """Read a rig that was kept; None for a text that is none of ``machines`` and no numbers."""
    if typed := _TYPED.fullmatch(text or ""):
        return _typed(typed)
    by_name = {machine.name: machine for machine in machines}
    if text in by_name:
        return ChosenRig(by_name[text])
    counted = _COUNTED.fullmatch(text or "")
    if counted is None or counted[2] not in by_name:
        return None
    count = int(counted[1] or 1)
    return ChosenRig(by_name[counted[2]], count) if 1 <= count <= MOST_MACHINES else None


def _typed(match: re.Match[str]) -> TypedRig | None:
    memory: Memory = "vram"
    if match[3] == "apple":
        memory = "apple"
    elif match[3] == "unified":
        memory = "unified"
    try:
        typed = TypedRig(Decimal(match[1]), Decimal(match[2]), memory)
        typed.rig  # noqa: B018 - checks that there can be such a rig
    except (InvalidOperation, ValidationError):
        return None
    return typed
