"""The section of a model's page that prices the reader's own workload at every endpoint."""

from __future__ import annotations

import polars as pl
import streamlit as st

from app.components.live import live
from app.components.markup import Markup, element, page_link
from app.components.workload_strip import price_strips, strip_table, timed
from app.components.workload_table import workload_table
from app.views.workload_inputs import workload_inputs
from pipeline.workload.quotes import quotes_by_cost


@st.fragment
def workload(endpoints: pl.DataFrame) -> None:
    """Show the section for the rows of ``marts.provider_table`` of one model."""
    st.header("Price at your workload", anchor="workload")
    asked = workload_inputs()
    quotes = quotes_by_cost(endpoints.to_dicts(), asked)
    st.html(workload_table(quotes, asked))
    if by_hour := timed(quotes):
        st.subheader("A request by the hour", anchor="workload-hours")
        st.html(price_strips(by_hour, asked))
        twin = st.expander("The strips as a table", key="strip_table", on_change="rerun")
        if twin.open:
            twin.dataframe(strip_table(by_hour, asked), hide_index=True, alt="Cost by the hour")
    live(_method(), key="workload_method")


def _method() -> Markup:
    return element(
        "div",
        element(
            "p",
            "Estimated from listed prices: tokens times price, price tiers by prompt length and "
            "by the hour applied, requests spread evenly over the chosen hours. Where an endpoint "
            "states no price for cached tokens, they are billed as input; a price that is needed "
            "and not stated leaves the cost open. Credit fees and taxes are not included. ",
            page_link("Methodology", "methodology#price-at-your-workload"),
        ),
        class_="tt-notes",
    )
