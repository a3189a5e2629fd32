"""The words for rigs and how a model runs on them, the same in drawings and tables."""

from __future__ import annotations

from decimal import Decimal

from pipeline.hardware.fit import Fit, Tier
from pipeline.hardware.rigs import Rig

TONES: dict[Tier, str] = {
    "fast": "good",
    "ok": "accent",
    "slow": "warn",
    "tight": "warn",
    "offload": "bad",
    "no": "bad",
}
_MEANINGS: dict[Tier, str] = {
    "fast": "fits; 20 tokens/s and more",
    "ok": "fits; 8 to 20 tokens/s",
    "slow": "fits; fewer than 8 tokens/s",
    "tight": "less memory than recommended",
    "offload": "too large for the GPU; the rest would run from slow memory",
    "no": "too large for the memory",
}


def gb_text(size: Decimal) -> str:
    """Write GB with as many decimals as there are, one at most."""
    return f"{size:,.1f}".removesuffix(".0") + " GB"


def need_text(size: Decimal) -> str:
    """Write a need in GB with one decimal, two below 1: a small model needs more than nothing."""
    return f"{size:,.{1 if size >= 1 else 2}f} GB"


def memory_kind(rig: Rig) -> str:
    """Name the memory that the model lies in."""
    return "VRAM" if rig.kind == "vram" else "unified memory"


def bandwidth_text(rig: Rig) -> str:
    """Write the bandwidth, cut to whole GB/s."""
    return f"{int(rig.bandwidth_gb_per_s):,} GB/s"


def tier_text(found: Fit) -> str:
    """Write the speed of a fit; empty where it has none."""
    return "" if found.tokens_per_s is None else f"{found.tokens_per_s} t/s"


def range_text(found: Fit) -> str:
    """Write the range of an estimate; empty where there is none."""
    if found.low is None or found.high is None:
        return ""
    return " to ".join(f"{rate:.{1 if rate < 10 else 0}f}" for rate in (found.low, found.high))


def meaning(found: Fit) -> str:
    """Explain a fit in one line: what its tier means, and what the estimate rests on."""
    return f"{_MEANINGS[found.tier]}: {found.basis}"
