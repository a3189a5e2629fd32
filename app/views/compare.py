"""Compare: up to five models, or five providers of a model, side by side; all of it in the URL."""

from __future__ import annotations

import polars as pl
import streamlit as st

from app.components.cards import empty
from app.components.compare_models import ComparedModel, compare_models
from app.components.compare_providers import compare_providers, endpoint_labels, endpoints_of
from app.components.compare_rows import Compared
from app.components.compare_table import compare_table
from app.components.live import live
from app.components.markup import Markup, element, page_link
from app.snapshot import Snapshot
from app.views import frame, queries
from app.views.model_choice import model_names, url_model
from app.views.url_lists import url_multiselect
from app.views.url_state import url_segments
from app.views.workload_inputs import workload_inputs

MOST = 5
KINDS = {"models": "Models", "providers": "Providers of a model"}


@st.fragment
def show(snapshot: Snapshot) -> None:
    """Show the page."""
    market = queries.market_table(snapshot)
    st.title("Compare", anchor=False)
    kind = url_segments("Side by side", KINDS, name="compare")
    if kind == "models":
        _models(snapshot, market)
    else:
        _providers(snapshot, market)


def _models(snapshot: Snapshot, market: pl.DataFrame) -> None:
    asked = url_multiselect("Models", model_names(market), name="models", most=MOST)
    if not asked:
        st.html(empty("Nothing to compare yet", "Choose two to five models above."))
        return
    workload = workload_inputs()
    models = [
        ComparedModel(
            facts,
            queries.provider_table(snapshot, model_id),
            queries.price_history(snapshot, model_id),
        )
        for model_id in asked
        if (facts := queries.model_facts(snapshot, model_id))
    ]
    _table(compare_models(models, workload, frame.utc_now()))


def _providers(snapshot: Snapshot, market: pl.DataFrame) -> None:
    model_id = url_model(market)
    if model_id is None:
        st.html(empty("Whose providers?", "Choose a model above."))
        return
    endpoints = queries.provider_table(snapshot, model_id)
    tags = url_multiselect("Providers", endpoint_labels(endpoints), name="tags", most=MOST)
    if not tags:
        st.html(empty("Nothing to compare yet", "Choose two to five providers above."))
        return
    workload = workload_inputs()
    history = queries.price_history(snapshot, model_id)
    records = endpoints_of(endpoints, tags)
    _table(compare_providers(records, history, workload, frame.utc_now()))


def _table(columns: list[Compared]) -> None:
    live(compare_table(columns), key="compare_table")
    live(_method(), key="compare_method")


def _method() -> Markup:
    return element(
        "div",
        element(
            "p",
            "Prices are listed, costs estimated from them; uptime, TTFT and tok/s of OpenRouter "
            "are of its own traffic, ours of our probes: two methods, in rows of their own. For a "
            "model each figure is that of its best endpoint that serves by default now, which is "
            "named. ",
            page_link("Methodology", "methodology#price-at-your-workload"),
        ),
        class_="tt-notes",
    )


if current := queries.current_snapshot():
    show(current)
