"""The KV cache of a model: bytes for a context, from its Hugging Face ``config.json``.

What a config does not state clearly enough gives None, never a guess: of state-space and other
hybrid models only those that list the kind of every layer are known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

BITS_16 = 2  # bytes of a value
_FULL = {"full_attention", "attention", "global_attention"}
_WINDOW = {"sliding_attention", "local_attention", "chunked_attention"}
_NO_CACHE = {"linear_attention", "mamba", "mamba2", "recurrent", "conv"}  # a state of fixed size
# Keys of models that mix in layers without a KV cache, or share it among layers, in ways of their
# own.
_OWN_WAYS = (
    "attn_layer_period",
    "attn_layer_offset",
    "hybrid_override_pattern",
    "mamba_d_state",
    "mamba_num_heads",
    "ssm_cfg",
    "ssm_state_size",
    "block_types",
    "layers_block_type",
    "attn_type_list",
    "linear_attn_config",
    "num_kv_shared_layers",
    "num_global_key_value_heads",
    "attention_k_eq_v",
    "index_head_dim",
)
_EVERY_SECOND = {"gemma2"}


@dataclass(frozen=True)
class KvCache:
    """The cache of one sequence: layers that keep all tokens, and layers that keep a window."""

    full_layers: int
    window_layers: int
    window: int
    bytes_per_token_and_layer: int
    basis: str

    @property
    def bytes_per_token(self) -> int:
        """Bytes that a further token takes while the context is shorter than the window."""
        return (self.full_layers + self.window_layers) * self.bytes_per_token_and_layer

    def bytes_for(self, context: int) -> int:
        """Return the bytes of a context of so many tokens."""
        kept = self.full_layers * context + self.window_layers * min(context, self.window)
        return kept * self.bytes_per_token_and_layer


def kv_cache(config: Mapping[str, Any] | None, *, value_bytes: int = BITS_16) -> KvCache | None:
    """Return the cache that a ``config.json`` describes, or None when it does not say.

    ``value_bytes``: 2 for 16 bit, the usual; 1 for a cache quantized to 8 bit.
    """
    if not isinstance(config, Mapping):
        return None
    inner = config.get("text_config")
    text = inner if isinstance(inner, Mapping) and "num_hidden_layers" in inner else config
    layers = _whole(text, "num_hidden_layers", "n_layer")
    if layers is None or any(text.get(key) not in (None, 0) for key in _OWN_WAYS):
        return None
    per_layer = _latent(text, value_bytes) or _heads(text, value_bytes)
    split = _layers(text, layers)
    if per_layer is None or split is None:
        return None
    size, how = per_layer
    full, windowed, window = split
    kept = f"{full} layers" if full or not windowed else ""
    if windowed:
        kept += f"{' and ' if kept else ''}{windowed} layers of {window:,} tokens at most"
    return KvCache(full, windowed, window, size, f"{kept}, {how}")


def _latent(config: Mapping[str, Any], value_bytes: int) -> tuple[int, str] | None:
    """Read multi-head latent attention: one compressed vector and one key part for all heads."""
    rank = _whole(config, "kv_lora_rank")
    rope = _whole(config, "qk_rope_head_dim")
    if rank is None or rope is None:
        return None
    return (rank + rope) * value_bytes, f"({rank} + {rope}) values of {value_bytes} bytes (MLA)"


def _heads(config: Mapping[str, Any], value_bytes: int) -> tuple[int, str] | None:
    heads = _whole(config, "num_attention_heads", "n_head")
    kv_heads = _whole(config, "num_key_value_heads") or (
        1 if config.get("multi_query") is True else heads
    )
    size = _whole(config, "head_dim")
    if size is None:
        width = _whole(config, "hidden_size", "n_embd")
        if heads is None or width is None or width % heads:
            return None
        size = width // heads
    if kv_heads is None:
        return None
    how = f"2 \u00d7 {kv_heads} heads \u00d7 {size} values of {value_bytes} bytes"
    return 2 * kv_heads * size * value_bytes, how


def _layers(config: Mapping[str, Any], layers: int) -> tuple[int, int, int] | None:
    """Return layers that keep all, layers that keep a window, and the window."""
    kinds = config.get("layer_types")
    window = _whole(config, "sliding_window") or _whole(config, "attention_chunk_size")
    if isinstance(kinds, list):
        windowed = sum(kind in _WINDOW for kind in kinds)
        full = sum(kind in _FULL for kind in kinds)
        without = sum(kind in _NO_CACHE for kind in kinds)
        if windowed + full + without != layers or (windowed and window is None):
            return None
        return full, windowed, window or 0
    if interval := _whole(config, "full_attention_interval"):  # the others are linear
        return layers // interval, 0, 0
    if window is None or config.get("use_sliding_window") is False:
        return layers, 0, 0
    return _windowed(config, layers, window)


def _windowed(config: Mapping[str, Any], layers: int, window: int) -> tuple[int, int, int] | None:
    if _whole(config, "attention_chunk_size") == window:
        return None  # without a list of layers it does not say which are chunked
    pattern = _whole(config, "sliding_window_pattern")
    if config.get("model_type") in _EVERY_SECOND:
        pattern = pattern or 2
    if pattern:  # every so-manieth layer keeps all
        full = layers // pattern
    elif "max_window_layers" in config:
        full = min(_whole(config, "max_window_layers") or 0, layers)
    else:
        full = 0
    return full, layers - full, window


def _whole(config: Mapping[str, Any], *keys: str) -> int | None:
    for key in keys:
        value = config.get(key)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
    return None
