"""Fit: the original table cell by cell, memory with a context, and mixtures of experts."""

from __future__ import annotations

from decimal import Decimal

import pytest

from pipeline.hardware.fit import Need, fit, need_of
from pipeline.hardware.quants import BY_NAME, MAIN, weights_of
from pipeline.hardware.rigs import Rig, reference_rigs

# Llama 3.1 8B, as the original page shows it: tier and tokens per second in Q4_K_M, Q8_0, FP16.
CELLS = """
4x H100 80GB (320GB)                 | fast 1637.1 | fast 921.0 | fast 460.6
NVIDIA DGX Station 748GB             | fast 977.3  | fast 549.9 | fast 275.0
8x RTX 3090 rack (192GB)             | fast 915.0  | fast 514.8 | fast 257.4
4x RTX 5090 (128GB)                  | fast 875.7  | fast 492.7 | fast 246.4
AMD Instinct MI300X (192GB)          | fast 650.5  | fast 366.0 | fast 183.0
4x RTX 4090 (96GB)                   | fast 492.6  | fast 277.1 | fast 138.6
2x RTX 5090 (64GB)                   | fast 437.9  | fast 246.3 | fast 123.2
2x RTX 3090 (48GB)                   | fast 228.8  | fast 128.7 | fast 64.4
Single RTX 5090 (32GB)               | fast 218.9  | fast 123.2 | fast 61.6
RTX PRO 6000 Blackwell (96GB)        | fast 218.9  | fast 123.2 | fast 61.6
Mac Studio M4 Ultra 192GB            | fast 145.5  | fast 81.9  | fast 40.9
Mac Studio M4 Ultra 512GB            | fast 145.5  | fast 81.9  | fast 40.9
Single RTX 4090 (24GB)               | fast 123.2  | fast 69.3  | fast 34.7
MacBook Pro M5 Max 128GB             | fast 81.8   | fast 46.0  | fast 23.0
Single GTX 1080 Ti (11GB)            | fast 59.1   | fast 33.3  | offload
Dual EPYC 9004 + 768GB DDR5-4800     | fast 56.3   | fast 31.7  | ok 15.8
DGX Spark 128GB unified              | fast 33.4   | ok 18.8    | ok 9.4
Ryzen AI Max+ 395 128GB              | fast 31.3   | ok 17.6    | ok 8.8
Jetson AGX Orin 64GB                 | fast 25.0   | ok 14.1    | slow 7.0
Epyc + 512GB DDR4-3200 + 2x RTX 3090 | fast 25.0   | ok 14.1    | slow 7.0
Epyc + 512GB DDR4-2400 + 2x RTX 3090 | ok 18.8     | ok 10.6    | slow 5.3
NVIDIA Jetson Orin NX 16GB           | ok 12.5     | slow 7.0   | tight
"""
ROWS = [[cell.strip() for cell in line.split("|")] for line in CELLS.strip().splitlines()]


def rig(memory_gb: str, rate: str = "1000", kind: str = "vram") -> Rig:
    return Rig.model_validate(
        {"name": "mine", "kind": kind, "memory_gb": memory_gb, "bandwidth_gb_per_s": rate}
    )


def need_in(quant: str) -> Need:
    return need_of(weights_of(BY_NAME[quant], Decimal("8.0")).size_gb)


@pytest.mark.parametrize(
    ("name", "quant", "cell"),
    [(name, quant, cell) for name, *cells in ROWS for quant, cell in zip(MAIN, cells, strict=True)],
)
def test_each_cell_of_the_original_table_comes_out(name: str, quant: str, cell: str) -> None:
    rigs = {rig.name: rig for rig in reference_rigs()}

    found = fit(rigs[name], need_in(quant))

    speed = "" if found.tokens_per_s is None else f" {found.tokens_per_s}"
    assert f"{found.tier}{speed}" == cell


def test_the_original_table_has_all_reference_rigs_in_its_order() -> None:
    assert [row[0] for row in ROWS] == [rig.name for rig in reference_rigs()]
    assert len(ROWS) * len(MAIN) == 66


@pytest.mark.parametrize(
    ("quant", "least", "recommended"), [("Q4_K_M", "4.5", 6), ("Q8_0", "8", 9), ("FP16", "16", 18)]
)
def test_memory_needs_are_those_of_the_original_table(
    quant: str, least: str, recommended: int
) -> None:
    need = need_in(quant)
    assert (need.min_gb, need.rec_gb) == (Decimal(least), recommended)


def test_the_kv_cache_takes_memory_and_is_read_with_each_token() -> None:
    # 4.5 GB of weights and 1.0 of cache: 5.5 at least, 6.1875 rounded up to 7 recommended;
    # 0.55 * 1000 / 5.502 = 99.96.
    need = need_of(Decimal("4.5"), kv_gb=Decimal(1))

    assert (need.min_gb, need.rec_gb) == (Decimal("5.5"), 7)
    assert fit(rig("7"), need).tokens_per_s == Decimal("100.0")
    assert fit(rig("6.9"), need).tier == "tight"
    assert fit(rig("5.4"), need).tier == "offload"


def test_a_mixture_of_experts_takes_memory_for_all_and_time_for_the_active() -> None:
    # 30 B in 4.5 bits: 16.875 GB; a tenth of it read: 0.55 * 1000 / 1.6895 = 325.54.
    need = need_of(Decimal("16.875"), active_share=Decimal("0.1"))

    assert fit(rig("19"), need).tokens_per_s == Decimal("325.5")
    assert fit(rig("16"), need).tier == "offload"


@pytest.mark.parametrize("kind", ["unified", "hybrid"])
def test_what_is_too_large_for_a_single_memory_does_not_run(kind: str) -> None:
    assert fit(rig("4", kind=kind), need_in("Q4_K_M")).tier == "no"


def test_an_estimate_is_a_range_and_says_what_it_rests_on() -> None:
    # 0.55 * 1008 / 4.502 = 123.145; times 0.85: 104.673, times 1.40: 172.403.
    found = fit(rig("24", "1008"), need_in("Q4_K_M"))

    assert (found.low, found.high) == (Decimal("104.67"), Decimal("172.40"))
    assert found.basis == "0.55 \u00d7 1,008 GB/s \u00f7 4.502 GB read for each token"


@pytest.mark.parametrize(
    ("rate", "tier"), [("163.66", "fast"), ("163.2", "ok"), ("65.45", "ok"), ("65", "slow")]
)
def test_tiers_begin_at_20_and_at_8_tokens_per_second(rate: str, tier: str) -> None:
    # 4.502 GB a token: 163.66 GB/s are 19.994, shown 20.0, and 65.45 are 7.996, shown 8.0.
    assert fit(rig("24", rate), need_in("Q4_K_M")).tier == tier
