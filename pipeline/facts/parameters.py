"""How many parameters a model has, and how many of them work on a token; pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from pipeline.facts.answers import CardAnswer

Basis = Literal["safetensors", "gguf", "name", "config"]

# Several weights lie in one number of these types, so their count says little about the model.
_PACKED_TYPES = {"U8", "I8", "U16", "I16", "U32", "I32", "I64", "F4"}
_MOST_PACKED = 0.2
_UNITS = {"M": 10**6, "B": 10**9, "T": 10**12}
# "8B", "0.6B", "1T"; not the "8x22B" of which no factor is a total, not the "4bit" of a format.
_NUMBER = r"(\d{1,4}(?:\.\d{1,3})?)"
_BEGIN, _END = r"(?<![A-Za-z0-9.])", r"(?![A-Za-z0-9])"
_SIZE = re.compile(rf"{_BEGIN}{_NUMBER}([BMT]){_END}", re.IGNORECASE)
_ACTIVE = re.compile(rf"{_BEGIN}A{_NUMBER}([BM]){_END}", re.IGNORECASE)
# Llama 4 is named for its active parameters and its experts: "17B-128E".
_ACTIVE_AND_EXPERTS = re.compile(rf"{_BEGIN}{_NUMBER}(B)-\d{{1,4}}E{_END}")


class Parameters(NamedTuple):
    """Counts, None where nothing tells, and what tells them."""

    total: int | None
    total_basis: Basis | None
    active: int | None
    active_basis: Basis | None


def parameters_of(card: CardAnswer, repository: str, config: Mapping[str, Any]) -> Parameters:
    """Read the counts of a model; ``config`` as ``architecture_of`` returns it.

    The total comes from the headers of the weights, else from the name. The active count is the
    one in the name, which is its maker's word; else it is worked out from the number of experts.
    """
    name = repository.rpartition("/")[2]
    total, basis = _counted(card)
    if total is None:
        total, basis = named_total(name), "name"
    active = named_active(name)
    active_basis: Basis = "name"
    if active is None and basis != "name":
        active, active_basis = worked_out_active(total, config), "config"
    if active is not None and total is not None and active > total:
        active = None
    return Parameters(
        total,
        None if total is None else basis,
        active,
        None if active is None else active_basis,
    )


def named_total(name: str) -> int | None:
    """Return the parameters that a model's name states: 8B -> 8,000,000,000."""
    if _ACTIVE_AND_EXPERTS.search(name):
        return None
    return _number(_SIZE.search(name))


def named_active(name: str) -> int | None:
    """Return the active parameters that a model's name states: A3B -> 3,000,000,000."""
    return _number(_ACTIVE.search(name) or _ACTIVE_AND_EXPERTS.search(name))


def worked_out_active(total: int | None, config: Mapping[str, Any]) -> int | None:
    """Take from ``total`` the experts that rest while a token is worked on.

    An expert has three matrices of hidden size by its own width. None for a dense model, and where
    the configuration does not say enough.
    """
    experts = _first(config, "num_local_experts", "num_experts", "n_routed_experts")
    used = _first(config, "num_experts_per_tok", "experts_per_token")
    width = _first(config, "moe_intermediate_size", "intermediate_size")
    hidden = _first(config, "hidden_size")
    layers = _expert_layers(config)
    if total is None or not (experts and used and width and hidden and layers) or used >= experts:
        return None
    active = total - (experts - used) * 3 * hidden * width * layers
    return active if active > 0 else None


def _expert_layers(config: Mapping[str, Any]) -> int:
    layers = _first(config, "num_hidden_layers") or 0
    every = _first(config, "decoder_sparse_step", "interleave_moe_layer_step") or 1
    dense = _first(config, "first_k_dense_replace") or 0
    dense_ones = config.get("mlp_only_layers")
    dense += len(dense_ones) if isinstance(dense_ones, list) else 0
    # Layers that predict further tokens lie behind the others, and are counted in the files.
    further = _first(config, "num_nextn_predict_layers") or 0
    return layers // every - dense + further


def _counted(card: CardAnswer) -> tuple[int | None, Basis]:
    weights = card.safetensors
    if weights is not None:
        counts = weights.parameters
        total = weights.total or sum(counts.values())
        packed = sum(count for kind, count in counts.items() if kind.upper() in _PACKED_TYPES)
        if total > 0 and packed <= _MOST_PACKED * total:
            return total, "safetensors"
    if card.gguf is not None and card.gguf.total:
        return card.gguf.total, "gguf"
    return None, "safetensors"


def _first(config: Mapping[str, Any], *keys: str) -> int | None:
    for key in keys:
        value = config.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return None


def _number(found: re.Match[str] | None) -> int | None:
    # Through a whole number of thousandths, for 0.6 times a billion is not exact in floats.
    if found is None:
        return None
    whole, _, part = found[1].partition(".")
    return int(whole + part.ljust(3, "0")) * (_UNITS[found[2].upper()] // 1000)
