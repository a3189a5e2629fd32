"""Chance that is a pure function of a seed and a key: the same in any order of calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TypeVar

Item = TypeVar("Item")


@dataclass(frozen=True)
class Dice:
    """Draws that depend on nothing but ``seed`` and the key of the draw."""

    seed: int

    def unit(self, *key: object) -> float:
        """Return a number in [0, 1) for this key."""
        text = "\x1f".join(map(str, (self.seed, *key)))
        digest = blake2b(text.encode(), digest_size=8).digest()
        return (int.from_bytes(digest) >> 11) / (1 << 53)

    def between(self, low: float, high: float, *key: object) -> float:
        """Return a number in [low, high) for this key."""
        return low + (high - low) * self.unit(*key)

    def pick(self, options: Sequence[Item], *key: object) -> Item:
        """Return one of ``options`` for this key."""
        return options[int(self.unit(*key) * len(options))]

    def bell(self, *key: object) -> float:
        """Return a number around 0 with standard deviation 1, never beyond 3.5."""
        return sum(self.unit(*key, turn) for turn in range(4)) * 3**0.5 - 2 * 3**0.5
