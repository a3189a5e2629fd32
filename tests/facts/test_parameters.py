"""How many parameters a model has, from headers, names and numbers of experts."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.facts.answers import CardAnswer
from pipeline.facts.parameters import named_active, named_total, parameters_of, worked_out_active

# From the config.json files of the models named; totals from the headers of their weights.
MIXTRAL = {
    "num_hidden_layers": 56,
    "hidden_size": 6144,
    "intermediate_size": 16384,
    "num_local_experts": 8,
    "num_experts_per_tok": 2,
}
DEEPSEEK = {
    "num_hidden_layers": 61,
    "hidden_size": 7168,
    "intermediate_size": 18432,
    "moe_intermediate_size": 2048,
    "n_routed_experts": 256,
    "num_experts_per_tok": 8,
    "first_k_dense_replace": 3,
    "num_nextn_predict_layers": 1,
}


def card_with(**weights: int) -> CardAnswer:
    safetensors = {"parameters": weights, "total": sum(weights.values())}
    return CardAnswer.model_validate({"id": "acme/x", "safetensors": safetensors})


@pytest.mark.parametrize(
    ("name", "total", "active"),
    [
        ("Llama-3.1-8B-Instruct", 8_000_000_000, None),
        ("Qwen3-0.6B", 600_000_000, None),
        ("SmolLM2-360M-Instruct", 360_000_000, None),
        ("gemma-3-27b-it", 27_000_000_000, None),
        ("Ring-1T", 1_000_000_000_000, None),
        ("Qwen3-235B-A22B-Instruct-2507", 235_000_000_000, 22_000_000_000),
        ("Qwen3-Next-80B-A3B", 80_000_000_000, 3_000_000_000),
        ("Hunyuan-A13B-Instruct", None, 13_000_000_000),
        ("Llama-4-Maverick-17B-128E-Instruct", None, 17_000_000_000),
        ("Mixtral-8x22B-Instruct-v0.1", None, None),
        ("Model-4bit-v2", None, None),
        ("MiniMax-M2", None, None),
        ("gemma-3n-E4B-it", None, None),
        ("Kimi-K2-Instruct-0905", None, None),
    ],
)
def test_a_name_is_believed_where_it_states_a_size(
    name: str, total: int | None, active: int | None
) -> None:
    assert (named_total(name), named_active(name)) == (total, active)


def test_the_headers_of_the_weights_go_before_the_name() -> None:
    found = parameters_of(card_with(BF16=8_030_261_248), "meta-llama/Llama-3.1-8B", {})

    assert found == (8_030_261_248, "safetensors", None, None)


def test_packed_numbers_are_not_counted_as_parameters() -> None:
    # Four-bit weights, eight to a 32-bit number: 4.2 billion numbers hold some 32 billion.
    packed = card_with(I32=4_000_000_000, BF16=200_000_000)

    assert parameters_of(packed, "acme/Large-32B-AWQ", {})[:2] == (32_000_000_000, "name")
    assert parameters_of(packed, "acme/Large-AWQ", {})[:2] == (None, None)


def test_a_gguf_repository_tells_its_size_in_the_header_of_the_file() -> None:
    card = CardAnswer.model_validate({"id": "acme/x", "gguf": {"total": 8_030_261_248}})

    assert parameters_of(card, "acme/x", {})[:2] == (8_030_261_248, "gguf")


def test_experts_that_rest_are_taken_from_the_total() -> None:
    # An expert of Mixtral 8x22B: 3 x 6144 x 16384 = 301,989,888; 6 of 8 rest in 56 layers.
    assert worked_out_active(140_630_071_296, MIXTRAL) == 39_161_468_928
    # DeepSeek V3: 3 x 7168 x 2048 = 44,040,192; 248 rest in 61 - 3 + 1 layers.
    assert worked_out_active(684_531_386_000, DEEPSEEK) == 40_135_296_656


@pytest.mark.parametrize(
    "config",
    [
        {"num_hidden_layers": 32, "hidden_size": 4096, "intermediate_size": 14336},
        MIXTRAL | {"num_experts_per_tok": 8},
        MIXTRAL | {"hidden_size": "6144"},
        MIXTRAL | {"intermediate_size": 10**9},
    ],
    ids=["dense", "all experts work", "a text", "more than there is"],
)
def test_nothing_is_made_up_where_the_configuration_does_not_say(config: dict[str, Any]) -> None:
    assert worked_out_active(140_630_071_296, config) is None


def test_the_active_count_in_the_name_is_the_makers_word() -> None:
    found = parameters_of(card_with(BF16=140_630_071_296), "acme/Mix-141B-A39B", MIXTRAL)

    assert found == (140_630_071_296, "safetensors", 39_000_000_000, "name")


def test_an_active_count_is_never_worked_out_from_a_rounded_total() -> None:
    found = parameters_of(CardAnswer(id="acme/x"), "acme/Mix-141B", MIXTRAL)

    assert found == (141_000_000_000, "name", None, None)
