"""The controls of the local section; what they hold stands in the address."""

from __future__ import annotations

from decimal import Decimal

import streamlit as st

from app.views.url_state import set_choice
from pipeline.hardware.local_model import LocalModel

CONTEXTS = (2_048, 4_096, 8_192, 16_384, 32_768, 65_536, 131_072, 262_144, 524_288, 1_048_576)
_LEAST_PARAMS, _MOST_PARAMS = 0.01, 10_000.0


def context_slider(model: LocalModel, longest: int) -> int:
    """Show the contexts up to ``longest`` and return the chosen one; 0 stands for weights alone."""
    if model.cache is None:
        return 0
    sizes = [0, *(size for size in CONTEXTS if size < longest), longest]
    texts = [_size_text(size) for size in sizes]
    labels = dict(zip(texts, ["weights alone", *texts[1:]], strict=True))
    asked = st.query_params.get("local_context", "")
    st.session_state["local_context_choice"] = asked if asked in labels else texts[0]
    chosen: str = st.select_slider(
        "Context, tokens",
        texts,
        format_func=labels.__getitem__,
        key="local_context_choice",
        on_change=lambda: set_choice(
            labels, "local_context", st.session_state["local_context_choice"]
        ),
        width=360,
    )
    return sizes[texts.index(chosen)]


def params_input(model_id: str) -> Decimal | None:
    """Ask for billions of parameters; of each model apart, and in the address as ``params``."""
    key = f"local_params_{model_id}"

    def typed() -> None:
        count = st.session_state[key]
        if count:
            st.query_params["params"] = f"{count:g}"
        else:
            st.query_params.pop("params", None)

    st.session_state[key] = _params(st.query_params.get("params", ""))
    count = st.number_input(
        "Parameters, billions",
        min_value=_LEAST_PARAMS,
        max_value=_MOST_PARAMS,
        value=None,
        step=1.0,
        format="%g",
        key=key,
        on_change=typed,
        width=200,
    )
    return None if count is None else Decimal(f"{count:g}")


def _params(text: str) -> float | None:
    try:
        count = float(text)
    except ValueError:
        return None
    return count if _LEAST_PARAMS <= count <= _MOST_PARAMS else None


def _size_text(size: int) -> str:
    return f"{size // 1024}k" if size and size % 1024 == 0 else f"{size:,}"
