"""The KV cache of known architectures, worked out by hand, and what is left unknown."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.hardware.kv_cache import kv_cache

LLAMA_3_1_8B = {
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "hidden_size": 4096,
}
GEMMA_3_1B = {
    "num_hidden_layers": 26,
    "num_attention_heads": 4,
    "num_key_value_heads": 1,
    "head_dim": 256,
    "hidden_size": 1152,
    "sliding_window": 512,
    "sliding_window_pattern": 6,
}
DEEPSEEK_V3 = {
    "num_hidden_layers": 61,
    "num_attention_heads": 128,
    "num_key_value_heads": 128,
    "hidden_size": 7168,
    "kv_lora_rank": 512,
    "qk_rope_head_dim": 64,
}


def bytes_for(config: dict[str, Any], context: int, **options: int) -> int:
    cache = kv_cache(config, **options)
    assert cache is not None
    return cache.bytes_for(context)


def test_grouped_heads_of_128_values_take_128_kib_a_token_in_32_layers() -> None:
    # 2 (K and V) * 8 heads * 128 (= 4096 / 32) values * 2 bytes * 32 layers = 131,072.
    cache = kv_cache(LLAMA_3_1_8B)

    assert cache is not None
    assert cache.bytes_per_token == 128 * 1024
    assert cache.bytes_for(131_072) == 16 * 1024**3
    assert cache.basis == "32 layers, 2 \u00d7 8 heads \u00d7 128 values of 2 bytes"


def test_a_cache_in_8_bits_is_half_as_large() -> None:
    assert bytes_for(LLAMA_3_1_8B, 1000, value_bytes=1) == 65_536_000


def test_layers_with_a_sliding_window_keep_no_more_than_it() -> None:
    # 26 layers, each sixth full: 4 full, 22 of 512 tokens; 2 * 1 * 256 * 2 = 1024 bytes each.
    # (4 * 32,768 + 22 * 512) * 1024 = 142,336 * 1024.
    assert bytes_for(GEMMA_3_1B, 32_768) == 145_752_064
    # Below the window all layers keep all: 26 * 100 * 1024.
    assert bytes_for(GEMMA_3_1B, 100) == 2_662_400


def test_listed_layers_decide() -> None:
    config = GEMMA_3_1B | {
        "sliding_window_pattern": None,
        "layer_types": ["full_attention"] * 2 + ["sliding_attention"] * 24,
    }
    # (2 * 10,000 + 24 * 512) * 1024
    assert bytes_for(config, 10_000) == 33_062_912


def test_layers_of_linear_attention_keep_nothing() -> None:
    listed = LLAMA_3_1_8B | {"layer_types": ["linear_attention"] * 24 + ["full_attention"] * 8}
    counted = LLAMA_3_1_8B | {"full_attention_interval": 4}

    assert bytes_for(listed, 1000) == bytes_for(counted, 1000) == 8 * 4096 * 1000


def test_a_window_without_a_pattern_holds_in_all_layers() -> None:
    assert bytes_for(LLAMA_3_1_8B | {"sliding_window": 4096}, 32_768) == 4096 * 131_072


@pytest.mark.parametrize(
    ("added", "full_layers"),
    [
        ({"use_sliding_window": False, "max_window_layers": 28}, 32),
        ({"use_sliding_window": True, "max_window_layers": 28}, 28),
        ({"model_type": "gemma2"}, 16),
    ],
)
def test_families_say_in_their_own_ways_which_layers_have_the_window(
    added: dict[str, Any], full_layers: int
) -> None:
    cache = kv_cache(LLAMA_3_1_8B | {"sliding_window": 4096} | added)

    assert cache is not None
    assert cache.full_layers == full_layers


def test_latent_attention_keeps_one_compressed_vector() -> None:
    # (512 + 64) values * 2 bytes * 61 layers = 70,272.
    assert bytes_for(DEEPSEEK_V3, 1) == 70_272
    assert bytes_for(DEEPSEEK_V3, 100_000) == 7_027_200_000


def test_the_language_part_of_a_multimodal_model_counts() -> None:
    assert bytes_for({"text_config": LLAMA_3_1_8B, "vision_config": {}}, 1) == 131_072


@pytest.mark.parametrize(
    ("config", "size"),
    [
        # No grouping: 2 * 12 heads * 64 * 2 bytes * 12 layers.
        ({"n_layer": 12, "n_head": 12, "n_embd": 768}, 36_864),
        # One head for all: 2 * 1 * 64 * 2 * 2.
        (
            {
                "num_hidden_layers": 2,
                "num_attention_heads": 71,
                "hidden_size": 4544,
                "multi_query": True,
            },
            512,
        ),
    ],
)
def test_older_configs_are_read(config: dict[str, Any], size: int) -> None:
    assert bytes_for(config, 1) == size


@pytest.mark.parametrize(
    "config",
    [
        None,
        {},
        {"num_hidden_layers": 32},
        LLAMA_3_1_8B | {"hidden_size": 4100},
        LLAMA_3_1_8B | {"num_hidden_layers": "32"},
        LLAMA_3_1_8B | {"attn_layer_period": 8, "mamba_d_state": 16},
        LLAMA_3_1_8B | {"layer_types": ["something_new"] * 32},
        LLAMA_3_1_8B | {"layer_types": ["full_attention"] * 31},
        LLAMA_3_1_8B | {"layer_types": ["sliding_attention"] * 32},
        LLAMA_3_1_8B | {"attention_chunk_size": 8192},
    ],
)
def test_what_a_config_does_not_say_stays_unknown(config: dict[str, Any] | None) -> None:
    assert kv_cache(config) is None
