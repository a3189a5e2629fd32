"""Weights of a quantization: nominal bits, and real files where they are known."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

from pipeline.hardware.quants import (
    BY_NAME,
    QUANTS,
    GgufFile,
    gguf_files,
    shown_billions,
    weights_of,
)


@pytest.mark.parametrize(
    ("name", "size"), [("Q4_K_M", "4.5"), ("Q8_0", "8"), ("FP16", "16"), ("Q6_K", "6.56")]
)
def test_weights_are_parameters_times_bits(name: str, size: str) -> None:
    weights = weights_of(BY_NAME[name], Decimal(8))

    assert weights.size_gb == Decimal(size)
    assert weights.basis == ("typical" if name == "Q6_K" else "nominal")
    assert weights.file is None


def test_more_bits_cost_more_memory_and_less_quality() -> None:
    bits = [quant.bits_per_weight for quant in QUANTS]
    losses = [quant.loss_pct for quant in QUANTS]

    assert bits == sorted(bits)
    assert losses == sorted(losses, reverse=True)
    assert [BY_NAME[name].loss_pct for name in ("Q4_K_M", "Q8_0", "FP16")] == [4, 1, 0]


def listing(*files: tuple[str, int, str | None]) -> str:
    """Write files, each a path, bytes and quantization, as the facts of a model hold them."""
    keys = ("path", "size_bytes", "quant")
    return json.dumps(
        [{"repository": "a/b"} | dict(zip(keys, file, strict=True)) for file in files]
    )


def test_a_real_file_takes_the_place_of_the_nominal_size() -> None:
    files = gguf_files(listing(("Llama-3.1-8B-Q4_K_M.gguf", 4_920_000_000, "Q4_K_M")))

    weights = weights_of(BY_NAME["Q4_K_M"], Decimal(8), files)

    assert (weights.size_gb, weights.basis) == (Decimal("4.92"), "file")
    assert weights.file == GgufFile("a/b", "Llama-3.1-8B-Q4_K_M.gguf", 4_920_000_000)
    assert weights_of(BY_NAME["Q8_0"], Decimal(8), files).basis == "nominal"


def test_parts_of_a_file_are_added_up_and_a_missing_part_leaves_no_size() -> None:
    first = ("q8/big-Q8_0-00001-of-00002.gguf", 30_000_000_000, "Q8_0")
    second = ("q8/big-Q8_0-00002-of-00002.gguf", 25_000_000_000, "Q8_0")

    assert gguf_files(listing(second, first))["Q8_0"] == GgufFile("a/b", first[0], 55_000_000_000)
    assert gguf_files(listing(first)) == {}


@pytest.mark.parametrize(
    ("quant", "name"),
    [("Q4_K_M", "Q4_K_M"), ("F16", "FP16"), ("BF16", "FP16"), ("IQ4_XS", None), (None, None)],
)
def test_files_of_known_quantizations_count(quant: str | None, name: str | None) -> None:
    assert list(gguf_files(listing(("a.gguf", 5, quant)))) == ([name] if name else [])


@pytest.mark.parametrize("nothing", [None, "", "[]"])
def test_without_files_there_is_nothing(nothing: str | None) -> None:
    assert gguf_files(nothing) == {}


def test_of_two_files_the_smaller_one_counts() -> None:
    files = gguf_files(listing(("with-more.gguf", 9, "Q8_0"), ("a.gguf", 8, "Q8_0")))
    assert files["Q8_0"].path == "a.gguf"


@pytest.mark.parametrize(
    ("exact", "shown"),
    [("8.03026", "8.0"), ("70.553706", "70.6"), ("0.268", "0.27"), ("0.001", "0.01")],
)
def test_parameters_are_used_as_they_are_shown(exact: str, shown: str) -> None:
    assert f"{shown_billions(Decimal(exact))}" == shown
