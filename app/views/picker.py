"""The search box that leads to a model's page."""

from __future__ import annotations

import polars as pl
import streamlit as st


def pick_model(market: pl.DataFrame, *, key: str) -> None:
    """Offer every row of ``marts.market_table`` by name; choosing one opens its page."""
    names = dict(market.select("model_id", "model_name").iter_rows())
    chosen = st.selectbox(
        "Find a model",
        list(names),
        index=None,
        format_func=lambda model_id: f"{names[model_id]}  \u00b7  {model_id}",
        placeholder=f"Search {len(names)} models by name",
        key=key,
        label_visibility="collapsed",
    )
    if chosen:
        st.switch_page("views/model.py", query_params={"model": chosen})
