"""What is known of a model's size: parameters, files and KV cache, from its facts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from pipeline.hardware.fit import Need, need_of
from pipeline.hardware.kv_cache import KvCache, kv_cache
from pipeline.hardware.quants import (
    BYTES_PER_GB,
    GgufFile,
    Quant,
    Weights,
    gguf_files,
    shown_billions,
    weights_of,
)


@dataclass(frozen=True)
class LocalModel:
    """A model as a machine has to bear it.

    ``params_b`` are billions of parameters as they are shown, ``active_share`` of which work on a
    token; ``files`` are GGUF files by quantization; ``cache`` is null where it is not known.
    """

    params_b: Decimal
    active_share: Decimal
    files: Mapping[str, GgufFile]
    cache: KvCache | None

    def weights(self, quant: Quant) -> Weights:
        """Return its weights in a quantization."""
        return weights_of(quant, self.params_b, self.files)

    def kv_gb(self, context: int) -> Decimal | None:
        """Return the GB of KV cache that a context takes, null where the cache is not known."""
        return None if self.cache is None else self.cache.bytes_for(context) / BYTES_PER_GB

    def need(self, quant: Quant, context: int) -> Need:
        """Return what it needs at a context; an unknown cache is left out."""
        return need_of(
            self.weights(quant).size_gb,
            kv_gb=self.kv_gb(context) or Decimal(0),
            active_share=self.active_share,
        )


def stated_params_b(facts: Mapping[str, Any]) -> Decimal | None:
    """Return the billions of parameters that a row of ``marts.model_facts`` states."""
    return _decimal(facts.get("params_total_b"))


def local_model(
    facts: Mapping[str, Any], typed_params_b: Decimal | None = None
) -> LocalModel | None:
    """Read a row of ``marts.model_facts``; None where neither it nor the reader states a count."""
    total = stated_params_b(facts) or typed_params_b
    if total is None:
        return None
    active = _decimal(facts.get("params_active_b"))
    config = facts.get("config_json")
    return LocalModel(
        params_b=shown_billions(total),
        active_share=min(active / total, Decimal(1)) if active else Decimal(1),
        files=gguf_files(facts.get("gguf_files_json")),
        cache=kv_cache(json.loads(config) if config else None),
    )


def _decimal(value: object) -> Decimal | None:
    return Decimal(str(value)) if value else None
