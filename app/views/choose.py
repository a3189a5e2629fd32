"""Choose: who should serve a model, for a traffic shape, limits and a budget; with a fallback."""

from __future__ import annotations

import polars as pl
import streamlit as st

from app.components.cards import empty
from app.components.choose_fallback import fallback_pair, fallback_table
from app.components.choose_frontier import (
    frontier_chart,
    frontier_legend,
    frontier_points,
    frontier_table,
)
from app.components.choose_table import counts, privacy_links, ranking, ruled_out
from app.components.live import live
from app.components.markup import Markup, element, model_link, page_link
from app.snapshot import Snapshot
from app.views import queries
from app.views.choose_inputs import choose_inputs
from app.views.model_choice import url_model
from app.views.url_state import forget, url_segments
from app.views.workload_inputs import FIELDS, workload_inputs
from pipeline.workload.choosing import Choice, best_source, choose
from pipeline.workload.evidence import Source, candidates
from pipeline.workload.fallback import pairs
from pipeline.workload.presets import SHAPES, Order
from pipeline.workload.quotes import quotes_by_cost
from pipeline.workload.verdicts import Needs

_LIMITS = ("ttft", "speed", "budget", "context", "uptime", "bits", "region", "tiers")


@st.fragment
def show(snapshot: Snapshot) -> None:
    """Show the page."""
    st.title("Choose a provider", anchor=False)
    model_id = url_model(queries.market_table(snapshot))
    if model_id is None:
        st.html(empty("For which model?", "Choose one above; then say what you need of it."))
        return
    shape = SHAPES[
        url_segments("Traffic", {key: item.label for key, item in SHAPES.items()}, name="shape")
    ]
    st.html(element("p", shape.about, class_="tt-notes"))
    endpoints = queries.provider_table(snapshot, model_id)
    workload = workload_inputs(shape.requests)
    needs = choose_inputs(shape, workload, endpoints)
    st.button(
        "Usual values of this traffic", on_click=forget, args=(*FIELDS, *_LIMITS), type="tertiary"
    )
    history = queries.uptime_history(snapshot, model_id)
    found = candidates(
        quotes_by_cost(endpoints.to_dicts(), workload),
        queries.probe_summary(snapshot, model_id),
        history,
        shape.prompt_sets,
    )
    source = best_source(found)
    choice = choose(found, needs, shape.order, source)
    link = model_link(f"All about {model_id}", model_id)
    live(element("p", link, class_="tt-notes"), key="choose_model")
    _ranking(choice, needs, shape.order, source)
    _frontier(choice, needs, shape.order, source)
    _fallback(choice, history)
    _ruled_out(choice)
    live(_method(source), key="choose_method")


def _ranking(choice: Choice, needs: Needs, order: Order, source: Source) -> None:
    st.header("Ranking", anchor="ranking")
    st.html(counts(choice))
    if not choice.met and not choice.open:
        st.html(empty("Nobody meets this", "Ask for less, or look below at what ruled whom out."))
        return
    st.html(ranking(choice, needs, order, source))
    if links := privacy_links(choice):
        st.html(links)


def _frontier(choice: Choice, needs: Needs, order: Order, source: Source) -> None:
    points = frontier_points(choice, needs, order, source)
    st.header("Cost and latency", anchor="frontier")
    if not points:
        st.html(empty("Nothing to draw", "No endpoint that is left has a cost and a latency."))
        return
    st.vega_lite_chart(spec=frontier_chart(points, order, source), key="frontier_chart")
    st.html(frontier_legend(points))
    left_out = len(choice.met) + len(choice.open) - len(points)
    note = "The line joins the endpoints that no other one beats in both."
    if left_out:
        note += f" {left_out} without a figure of this kind are not drawn."
    st.caption(note)
    twin = st.expander("The chart as a table", key="frontier_table", on_change="rerun")
    if twin.open:
        twin.dataframe(
            frontier_table(points, order), hide_index=True, alt="Cost and latency as a table"
        )


def _fallback(choice: Choice, history: pl.DataFrame) -> None:
    st.header("Fallback", anchor="fallback")
    found = pairs(choice, history)
    st.html(fallback_pair(found))
    if found:
        st.html(fallback_table(found))


def _ruled_out(choice: Choice) -> None:
    if choice.missed:
        st.header("Ruled out", anchor="ruled-out")
        st.html(ruled_out(choice))


def _method(source: Source) -> Markup:
    whose = (
        "Ranked by our own latencies where we have some that can be trusted, for prompts like "
        "these; "
        if source == "ours"
        else "We have measured nothing like this here, so the ranking is by the latencies that "
        "OpenRouter reports; "
    )
    return element(
        "div",
        element(
            "p",
            whose,
            "latencies of two methods never rank against each other. A limit is judged by our "
            "figure, else by OpenRouter's, which is named; what is not known never counts as met. "
            "An hour counts as out when a sweep in it saw an uptime below 95 % over 30 minutes; "
            "outages between two sweeps are not seen. ",
            page_link("Methodology", "methodology#choosing-a-provider"),
        ),
        class_="tt-notes",
    )


if current := queries.current_snapshot():
    show(current)
