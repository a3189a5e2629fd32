"""What of a model's ``config.json`` tells how much memory it takes while it runs; pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Multimodal models keep the part that writes text under one of these.
_TEXT_PARTS = ("text_config", "llm_config", "language_config")
_MOST_LAYERS = 4096

# Names as they stand in the file. Sizes in numbers, not in bytes.
NEEDED_KEYS = (
    "model_type",
    "num_hidden_layers",
    "num_attention_heads",
    "num_key_value_heads",
    "head_dim",
    "hidden_size",
    "intermediate_size",
    "max_position_embeddings",
    "vocab_size",
    "tie_word_embeddings",
    "torch_dtype",
    "dtype",
    # Layers that look back over a window only.
    "sliding_window",
    "use_sliding_window",
    "max_window_layers",
    "sliding_window_pattern",
    "layer_types",
    "full_attention_interval",
    "attention_chunk_size",
    # Keys and values kept as one small vector (MLA).
    "kv_lora_rank",
    "qk_rope_head_dim",
    "qk_nope_head_dim",
    "v_head_dim",
    # Experts.
    "num_local_experts",
    "num_experts",
    "n_routed_experts",
    "n_shared_experts",
    "num_experts_per_tok",
    "experts_per_token",
    "moe_intermediate_size",
    "first_k_dense_replace",
    "decoder_sparse_step",
    "interleave_moe_layer_step",
    "mlp_only_layers",
    "num_nextn_predict_layers",
    # Older names, and ways of keeping less than a cache of every layer.
    "n_layer",
    "n_head",
    "n_embd",
    "multi_query",
    "attn_layer_period",
    "attn_layer_offset",
    "attn_type_list",
    "attention_k_eq_v",
    "block_types",
    "hybrid_override_pattern",
    "index_head_dim",
    "layers_block_type",
    "linear_attn_config",
    "mamba_d_state",
    "mamba_num_heads",
    "num_global_key_value_heads",
    "num_kv_shared_layers",
    "ssm_cfg",
    "ssm_state_size",
)


def architecture_of(config: object) -> dict[str, Any]:
    """Return the needed keys of a parsed ``config.json``, {} when it is none.

    Of a multimodal model they are those of the part that writes text. Of a value that is neither
    plain nor a list of such only its presence is kept, as true.
    """
    if not isinstance(config, Mapping):
        return {}
    parts = [config[name] for name in _TEXT_PARTS if isinstance(config.get(name), dict)]
    inner: dict[str, Any] = parts[0] if parts else {}
    found = {}
    for key in NEEDED_KEYS:
        value = inner.get(key, config.get(key))
        if value is not None:
            found[key] = value if _is_plain(value) else True
    return found


def _is_plain(value: object) -> bool:
    if isinstance(value, list):
        return len(value) <= _MOST_LAYERS and all(isinstance(item, int | str) for item in value)
    return isinstance(value, int | str) and len(str(value)) <= 100
