"""Model: facts, providers, price history and changes of one model (``?model=author/slug``)."""

from __future__ import annotations

from functools import partial
from typing import Any

import polars as pl
import streamlit as st

from app.components import change_list, price_chart, price_spans, provider_table
from app.components.cards import empty, notice
from app.components.formatting import day_text
from app.components.live import live
from app.components.markup import element, model_link, page_link
from app.components.model_head import api_note, model_facts, model_figures, model_head
from app.components.provider_sorting import sort_labels
from app.components.table import Sort
from app.snapshot import Snapshot
from app.views import frame, queries
from app.views.performance import performance
from app.views.picker import pick_model
from app.views.url_state import set_choice, url_selectbox

READ_CHANGES = 500
SUGGESTIONS = 6


def show(snapshot: Snapshot) -> None:
    """Show the model that the URL asks for, a picker, or what was probably meant."""
    asked = st.query_params.get("model")
    if not asked:
        st.title("Which model?", anchor=False)
        pick_model(queries.market_table(snapshot), key="pick_model")
        return
    facts = queries.model_facts(snapshot, asked)
    if facts is None:
        _not_found(snapshot, asked)
        return
    frame.name_page(facts["model_name"])
    endpoints = queries.provider_table(snapshot, asked)
    st.html(model_head(facts, frame.utc_now()))
    if not endpoints.is_empty():
        st.html(model_figures(endpoints))
    st.html(model_facts(facts))
    _providers(snapshot, facts, endpoints)
    history = queries.price_history(snapshot, asked)
    if not endpoints.is_empty():
        performance(snapshot, asked, price_spans.endpoint_positions(history))
    if not history.is_empty():
        _history(history)
        _changes(queries.price_changes(snapshot, asked, READ_CHANGES))
    if facts["description"]:
        st.header("About", anchor="about")
        st.html(element("p", facts["description"], class_="tt-about"))


@st.fragment
def _providers(snapshot: Snapshot, facts: dict[str, Any], endpoints: pl.DataFrame) -> None:
    orders = sort_labels(has_probes=provider_table.has_probes(endpoints))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.header("Providers", anchor="providers")
        chosen = (
            None
            if endpoints.is_empty()
            else url_selectbox("Sort by", orders, name="sort", width=230)
        )
    if chosen is None:
        live(empty("Nobody serves this model", *_why_nobody(facts)), key="nobody")
        return
    if stale_since := provider_table.stale_since(endpoints):
        st.html(
            notice(
                f"some pricing may be stale \u2013 last verified {day_text(stale_since)}",
                "Stale rows keep their last price and never count as cheapest.",
                tone="warn",
            )
        )
    live(
        provider_table.provider_table(endpoints, Sort(chosen), now=frame.utc_now()),
        key="provider_table",
        on_sort=partial(set_choice, orders, "sort"),
    )
    st.html(provider_table.reading_notes(endpoints))
    _downloads(snapshot, facts["model_id"])


def _downloads(snapshot: Snapshot, model_id: str) -> None:
    name = f"{model_id.replace('/', '_').replace(':', '_')}_providers"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.download_button(
            "CSV",
            lambda: snapshot.provider_table_csv(model_id),
            file_name=f"{name}.csv",
            mime="text/csv",
            on_click="ignore",
            key="csv",
        )
        st.download_button(
            "JSON",
            lambda: snapshot.provider_table_json(model_id),
            file_name=f"{name}.json",
            mime="application/json",
            on_click="ignore",
            key="json",
        )
        if snapshot.model_file(model_id):
            st.html(api_note(model_id))


@st.fragment
def _history(history: pl.DataFrame) -> None:
    st.header("Price history", anchor="history")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        price = st.segmented_control(
            "Price",
            list(price_spans.PRICE_COLUMNS),
            default="input",
            required=True,
            key="price",
            bind="query-params",
        )
        range_name = st.segmented_control(
            "Range",
            list(price_spans.RANGES),
            default="90d",
            required=True,
            key="range",
            bind="query-params",
        )
    now = frame.utc_now()
    spans = price_spans.visible_spans(history, price, range_name, now)
    if spans.is_empty():
        st.html(empty(f"No {price} price in this time", "Choose a longer range or another price."))
        return
    spec = price_chart.price_chart(spans, price, range_name, now)
    st.vega_lite_chart(spec=spec, key="price_chart")
    st.html(price_chart.chart_legend(spans))
    twin = st.expander("The chart as a table", key="chart_table", on_change="rerun")
    if twin.open:
        twin.dataframe(
            price_spans.span_table(spans, now), hide_index=True, alt="Price history as a table"
        )


def _changes(changes: pl.DataFrame) -> None:
    st.header("Changes", anchor="changes")
    if changes.is_empty():
        st.html(empty("No change seen", "Prices and listings are as in the first sweep."))
        return
    st.html(change_list.change_list(changes, frame.utc_now(), names_model=False))


def _not_found(snapshot: Snapshot, asked: str) -> None:
    st.title("Model not found", anchor=False)
    st.html(
        element(
            "p",
            "No model is or was listed under ",
            element("code", asked[:200]),
            ".",
            class_="tt-lead",
        )
    )
    suggestions = snapshot.suggest_models(asked, SUGGESTIONS)
    if suggestions:
        st.header("Did you mean", anchor=False)
    links = [model_link(model_id, model_id) for model_id in suggestions]
    links.append(page_link("all models", "models"))
    items = (element("li", link) for link in links)
    live(element("ul", *items, class_="tt-suggestions"), key="suggestions")


def _why_nobody(facts: dict[str, Any]) -> list[str]:
    if facts["kind"] == "router":
        return ["It is a router: it sends each request to another model, at that model's price."]
    if facts["kind"] == "alias" and facts["alias_target"]:
        target = facts["alias_target"]
        return ["It is an alias: the providers are those of ", model_link(target, target), "."]
    return ["No provider was listed in the last 30 days."]


if current := queries.current_snapshot():
    show(current)
