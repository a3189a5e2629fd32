"""Quantizations of a model's weights: how large each makes them, and what that rests on."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, Literal

BYTES_PER_GB = Decimal(10**9)
Basis = Literal["nominal", "typical", "file"]


@dataclass(frozen=True)
class Quant:
    """A quantization: bits per weight, and the share of quality that it costs.

    ``basis`` says what the bits are: ``nominal``, those of the format alone, or ``typical``, those
    of real files, which keep some tensors at more bits. The loss in percent against FP16 is a rule
    of thumb and measured on no model; null where there is none.
    """

    name: str
    bits_per_weight: Decimal
    basis: Basis
    loss_pct: int
    about: str


# The three quants of the original table keep its nominal bits. The bits of the others are those of
# the files that llama.cpp's documentation lists for Llama 3.1 8B.
QUANTS = (
    Quant("Q2_K", Decimal("3.16"), "typical", 12, "Smallest; noticeably worse"),
    Quant("Q3_K_M", Decimal("4.00"), "typical", 8, "Small; for memory that is scarce"),
    Quant("Q4_K_M", Decimal("4.5"), "nominal", 4, "Balanced; the usual local sweet spot"),
    Quant("Q5_K_M", Decimal("5.70"), "typical", 3, "Better than the sweet spot, a little larger"),
    Quant("Q6_K", Decimal("6.56"), "typical", 2, "Hard to tell from Q8_0"),
    Quant("Q8_0", Decimal("8"), "nominal", 1, "Near-lossless"),
    Quant("FP16", Decimal("16"), "nominal", 0, "Full quality, largest"),
)
BY_NAME = {quant.name: quant for quant in QUANTS}
MAIN = ("Q4_K_M", "Q8_0", "FP16")

_PART = re.compile(r"-\d{5}-of-(\d{5})\.gguf$", re.IGNORECASE)
_ALSO = {"F16": "FP16", "BF16": "FP16"}


@dataclass(frozen=True)
class Weights:
    """The weights of a model in a quantization: GB (10^9 bytes), and what that rests on.

    ``file`` is known where ``basis`` is ``file``.
    """

    quant: Quant
    size_gb: Decimal
    basis: Basis
    file: GgufFile | None = None


@dataclass(frozen=True)
class GgufFile:
    """A quantization in a repository: its file, the first one of several, and all their bytes."""

    repository: str
    path: str
    size_bytes: int


def weights_of(
    quant: Quant, params_b: Decimal, files: Mapping[str, GgufFile] | None = None
) -> Weights:
    """Return the weights of ``params_b`` billion parameters; a known file decides."""
    file = (files or {}).get(quant.name)
    if file is not None:
        return Weights(quant, file.size_bytes / BYTES_PER_GB, "file", file)
    return Weights(quant, params_b * quant.bits_per_weight / 8, quant.basis)


def shown_billions(params_b: Decimal) -> Decimal:
    """Round billions of parameters as they are shown: what is worked out can be worked out again.

    One decimal from 1 on, two below.
    """
    step = Decimal("0.1") if params_b >= 1 else Decimal("0.01")
    return max(params_b.quantize(step, ROUND_HALF_UP), Decimal("0.01"))


def gguf_files(listing: str | None) -> dict[str, GgufFile]:
    """Return the GGUF files of a repository by quantization, from ``gguf_files_json``.

    That is a JSON list of objects with ``repository``, ``path``, ``size_bytes`` and ``quant``.
    Parts of one file are added up; where one is missing, there is no size. Of two files with a
    quantization the smaller counts.
    """
    found: dict[str, GgufFile] = {}
    for parts in _by_file(json.loads(listing or "[]")).values():
        first = min(parts, key=lambda part: str(part["path"]))
        part_of = _PART.search(first["path"])
        if len(parts) != (int(part_of[1]) if part_of else 1):
            continue
        size = sum(part["size_bytes"] for part in parts)
        name = _ALSO.get(first["quant"], first["quant"])
        if name not in found or size < found[name].size_bytes:
            found[name] = GgufFile(first["repository"], first["path"], size)
    return found


def _by_file(parts: Iterable[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Group the parts of each file; those of no known quantization are left out."""
    files: dict[str, list[dict[str, Any]]] = {}
    for part in parts:
        if _ALSO.get(part["quant"], part["quant"]) in BY_NAME:
            files.setdefault(_PART.sub("", part["path"]), []).append(part)
    return files
