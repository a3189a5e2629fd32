"""A model's facts as a machine has to bear them."""

from __future__ import annotations

import json
from decimal import Decimal

from pipeline.hardware.local_model import local_model, stated_params_b
from pipeline.hardware.quants import BY_NAME

Q4, Q8 = BY_NAME["Q4_K_M"], BY_NAME["Q8_0"]
CONFIG = {
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "hidden_size": 4096,
}
FILE = {"repository": "a/b", "path": "b-Q8_0.gguf", "size_bytes": 8_540_000_000, "quant": "Q8_0"}


def test_a_model_needs_its_weights_and_the_cache_of_the_context() -> None:
    model = local_model({"params_total_b": Decimal("8.03"), "config_json": json.dumps(CONFIG)})

    assert model is not None
    assert model.need(Q4, 0).min_gb == Decimal("4.5")
    # 131,072 bytes * 10,000 tokens.
    assert model.kv_gb(10_000) == Decimal("1.31072")
    assert model.need(Q4, 10_000).min_gb == Decimal("5.81072")


def test_a_real_file_decides_what_its_quantization_needs() -> None:
    model = local_model({"params_total_b": 8, "gguf_files_json": json.dumps([FILE])})

    assert model is not None
    assert model.need(Q8, 0).min_gb == Decimal("8.54")
    assert model.need(Q4, 0).min_gb == Decimal("4.5")


def test_an_unknown_cache_is_left_out() -> None:
    model = local_model({"params_total_b": 8, "config_json": None})

    assert model is not None
    assert model.kv_gb(10_000) is None
    assert model.need(Q4, 10_000) == model.need(Q4, 0)


def test_only_the_active_share_of_a_mixture_is_read() -> None:
    model = local_model({"params_total_b": Decimal(30), "params_active_b": Decimal(3)})

    assert model is not None
    need = model.need(Q8, 0)
    assert (need.min_gb, need.read_gb) == (30, Decimal("3.002"))


def test_a_typed_count_stands_in_for_one_that_nobody_states() -> None:
    assert local_model({"params_total_b": None}) is None
    typed = local_model({"params_total_b": None}, Decimal("70.55"))
    stated = local_model({"params_total_b": 8}, Decimal("70.55"))

    assert typed and typed.params_b == Decimal("70.6")
    assert stated and stated.params_b == 8
    assert stated_params_b({}) is None
