"""Model: facts, providers, price history and changes of one model (``?model=author/slug``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
import streamlit as st

from app.components import change_list, price_chart, price_spans
from app.components.cards import empty
from app.components.contents import contents
from app.components.live import live
from app.components.markup import element, model_link, page_link
from app.components.model_facts import model_facts
from app.components.model_head import model_figures, model_head
from app.components.related_models import related, related_models
from app.snapshot import Snapshot
from app.views import frame, queries
from app.views.local import local
from app.views.performance import performance
from app.views.picker import pick_model
from app.views.provider_section import providers
from app.views.score_section import scores
from app.views.workload import workload

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
    sections = _sections(snapshot, facts, endpoints)
    live(contents((each.anchor, each.title) for each in sections), key="contents")
    for each in sections:
        each.show()


@dataclass(frozen=True)
class Section:
    """A part of the page: the ``anchor`` of its heading, its ``title`` in the list of contents."""

    anchor: str
    title: str
    show: Callable[[], None]
    has_content: bool = True


def _sections(snapshot: Snapshot, facts: dict[str, Any], endpoints: pl.DataFrame) -> list[Section]:
    """Return the sections that there is something to show in, in the order of the page."""
    model_id = facts["model_id"]
    history = queries.price_history(snapshot, model_id)
    is_served, was_served = not endpoints.is_empty(), not history.is_empty()
    positions = price_spans.endpoint_positions(history)
    changes = queries.price_changes(snapshot, model_id, READ_CHANGES)
    description = facts["description"]
    kin = related(facts, queries.model_sizes(snapshot))
    sections = (
        Section("facts", "Facts", lambda: _facts(facts, endpoints)),
        Section("scores", "Scores", lambda: scores(snapshot, model_id)),
        Section("providers", "Providers", lambda: providers(snapshot, facts, endpoints)),
        Section("workload", "Your workload", lambda: workload(endpoints), is_served),
        Section(
            "performance",
            "Performance",
            lambda: performance(snapshot, model_id, positions),
            is_served,
        ),
        Section("history", "Price history", lambda: _history(history), was_served),
        Section("changes", "Changes", lambda: _changes(changes), was_served),
        Section("local", "Run it locally", lambda: local(snapshot, facts)),
        Section("related", "Related models", lambda: _related(kin), bool(kin)),
        Section("about", "About", lambda: _about(description), bool(description)),
    )
    return [section for section in sections if section.has_content]


def _facts(facts: dict[str, Any], endpoints: pl.DataFrame) -> None:
    st.header("Facts", anchor="facts")
    if not endpoints.is_empty():
        st.html(model_figures(endpoints))
    st.html(model_facts(facts))


def _related(kin: Sequence[dict[str, Any]]) -> None:
    st.header("Related models", anchor="related")
    live(related_models(kin), key="related_models")


def _about(description: str) -> None:
    st.header("About", anchor="about")
    st.html(element("p", description, class_="tt-about"))


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
    # A price is known until it was last seen, which is long ago where sweeps are overdue.
    now = min(frame.utc_now(), max(history["last_seen_utc"].to_list()))
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


if current := queries.current_snapshot():
    show(current)
