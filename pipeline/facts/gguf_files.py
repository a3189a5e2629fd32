"""The GGUF files of a repository: which quantization, how large; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from pipeline.facts.answers import FileAnswer

# As llama.cpp names them: Q4_K_M, IQ3_XXS, Q8_0, MXFP4, BF16 ...
_QUANT = re.compile(
    r"(?<![A-Za-z0-9])"
    r"(I?Q\d(?:_[A-Z0-9]+)*|TQ\d_\d|MXFP4(?:_MOE)?|NVFP4|BF16|FP?16|FP?32)"
    r"(?![A-Za-z0-9])",
    re.IGNORECASE,
)
_PART = re.compile(r"-\d{5}-of-\d{5}$")
_HALVES = {"FP16": "F16", "FP32": "F32"}
# An eye or an ear of a model, the statistics behind a quantization: no model of their own.
_NO_MODEL = ("mmproj", "imatrix")


def gguf_files(repository: str, files: Iterable[FileAnswer]) -> list[dict[str, Any]]:
    """Return the GGUF files of the repository, smallest first, parts of one model one by one.

    Each is ``{"repository", "path", "size_bytes", "quant", "sha256"}``; the last two are None where
    neither name nor hub tells them. Files without a size, and what is no model, are left out.
    """
    found = []
    for file in files:
        stem, dot, suffix = file.rfilename.rpartition(".")
        name = stem.rpartition("/")[2]
        if not dot or suffix.lower() != "gguf" or any(word in name.lower() for word in _NO_MODEL):
            continue
        size_bytes = file.size if file.size is not None else file.lfs.size if file.lfs else None
        if size_bytes is None or size_bytes <= 0:
            continue
        found.append(
            {
                "repository": repository,
                "path": file.rfilename,
                "size_bytes": size_bytes,
                "quant": _quant(_PART.sub("", name)),
                "sha256": file.lfs.sha256 if file.lfs else None,
            }
        )
    return sorted(found, key=lambda entry: (entry["size_bytes"], entry["path"]))


def _quant(stem: str) -> str | None:
    named = _QUANT.findall(stem)
    quant = named[-1].upper() if named else None
    return _HALVES.get(quant, quant) if quant else None
