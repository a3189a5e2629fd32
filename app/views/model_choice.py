"""A box that chooses the model a page is about; the URL's parameter ``model`` holds its id."""

from __future__ import annotations

import polars as pl
import streamlit as st


def model_names(market: pl.DataFrame) -> dict[str, str]:
    """Return the names of the models that somebody serves, by id, rows of ``market_table``."""
    served = market.filter(pl.col("providers") > 0)
    return dict(served.select("model_id", "model_name").iter_rows())


def url_model(market: pl.DataFrame) -> str | None:
    """Show the box and return the id of the model; None where none is chosen."""
    names = model_names(market)
    asked = st.query_params.get("model")
    st.session_state["model_choice"] = asked if asked in names else None
    chosen: str | None = st.selectbox(
        "Model",
        list(names),
        format_func=lambda model_id: names[model_id],
        index=None,
        placeholder="Name or id",
        key="model_choice",
        on_change=_to_url,
    )
    return chosen


def _to_url() -> None:
    chosen = st.session_state["model_choice"]
    if chosen:
        st.query_params["model"] = chosen
    else:
        st.query_params.pop("model", None)
