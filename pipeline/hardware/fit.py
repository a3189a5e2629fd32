"""Whether a model fits a rig, and how fast it decodes there: an estimate from bandwidth alone.

Each token reads all active weights and the KV cache once, so tokens per second are the bandwidth,
times a share of it that is reached in practice, over the bytes read.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_HALF_UP, Decimal
from typing import Literal

from pipeline.hardware.rigs import Rig

Tier = Literal["fast", "ok", "slow", "tight", "offload", "no"]

EFFICIENCY = Decimal("0.55")
EFFICIENCY_APPLE = Decimal("0.60")
READ_BESIDES_GB = Decimal("0.002")  # read for each token besides weights and KV cache
RECOMMENDED = Decimal("1.125")  # of the least memory, rounded up to whole GB
FAST_FROM = Decimal(20)  # tokens per second
OK_FROM = Decimal(8)
# Measured speeds of 121 users with one device lie mostly between these shares of the estimate.
RANGE_LOW = Decimal("0.85")
RANGE_HIGH = Decimal("1.40")
_HUNDREDTH = Decimal("0.01")


@dataclass(frozen=True)
class Need:
    """What a model needs in GB: at least, recommended, and read for each token."""

    min_gb: Decimal
    rec_gb: Decimal
    read_gb: Decimal


@dataclass(frozen=True)
class Fit:
    """How a model runs on a rig; speeds in tokens per second, null where it is not comfortable.

    ``tight`` has less memory than recommended, ``offload`` and ``no`` less than needed: a rig with
    VRAM can leave the rest in slow memory, one with a single memory cannot.
    """

    tier: Tier
    tokens_per_s: Decimal | None
    low: Decimal | None
    high: Decimal | None
    basis: str


def need_of(
    weights_gb: Decimal, *, kv_gb: Decimal = Decimal(0), active_share: Decimal = Decimal(1)
) -> Need:
    """Return what weights and KV cache need.

    ``active_share`` of the weights is read for each token: active over all parameters of a mixture
    of experts, whose weights have to be in memory whole.
    """
    min_gb = weights_gb + kv_gb
    return Need(
        min_gb=min_gb,
        rec_gb=(RECOMMENDED * min_gb).to_integral_value(ROUND_CEILING),
        read_gb=weights_gb * active_share + kv_gb + READ_BESIDES_GB,
    )


def fit(rig: Rig, need: Need) -> Fit:
    """Return how a model with ``need`` runs on ``rig``."""
    if rig.memory_gb < need.min_gb:
        tier: Tier = "offload" if rig.kind == "vram" else "no"
        basis = f"needs {need.min_gb:.1f} GB of {rig.memory_gb:f} GB"
        return Fit(tier, None, None, None, basis)
    if rig.memory_gb < need.rec_gb:
        basis = f"needs {need.min_gb:.1f} GB, {need.rec_gb} GB recommended, of {rig.memory_gb:f} GB"
        return Fit("tight", None, None, None, basis)
    efficiency = EFFICIENCY_APPLE if rig.is_apple else EFFICIENCY
    exact = efficiency * rig.bandwidth_gb_per_s / need.read_gb
    shown = _shown(exact)
    return Fit(
        tier="fast" if shown >= FAST_FROM else "ok" if shown >= OK_FROM else "slow",
        tokens_per_s=shown,
        low=(exact * RANGE_LOW).quantize(_HUNDREDTH, ROUND_HALF_UP),
        high=(exact * RANGE_HIGH).quantize(_HUNDREDTH, ROUND_HALF_UP),
        basis=(
            f"{efficiency} \u00d7 {rig.bandwidth_gb_per_s:,f} GB/s \u00f7 "
            f"{need.read_gb:.3f} GB read for each token"
        ),
    )


def _shown(tokens_per_s: Decimal) -> Decimal:
    """Round to two places and then to one, as the original table does."""
    hundredths = tokens_per_s.quantize(_HUNDREDTH, ROUND_HALF_UP)
    return hundredths.quantize(Decimal("0.1"), ROUND_HALF_UP)
