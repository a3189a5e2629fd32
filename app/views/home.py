"""Home: the market at a glance, the latest changes, and the way to a model."""

from __future__ import annotations

from datetime import timedelta

import polars as pl
import streamlit as st

from app.components import change_list, formatting
from app.components.cards import Figure, empty, figures
from app.components.live import live
from app.components.market_glance import median_price, most_served
from app.components.markup import element
from app.snapshot import Snapshot
from app.views import frame, queries
from app.views.picker import pick_model

LISTED_CHANGES = 20
COUNTED_CHANGES = 10_000


def show(snapshot: Snapshot) -> None:
    """Show the page."""
    market = queries.market_table(snapshot)
    st.title("The ticker tape of the LLM API market", anchor=False)
    st.html(
        element(
            "p",
            "Who serves a model, at what price, how fast and how reliably, and how that changed.",
            class_="tt-lead",
        )
    )
    pick_model(market, key="find_model")
    changes = queries.price_changes(snapshot, None, COUNTED_CHANGES)
    _glance(snapshot, market, changes)
    left, right = st.columns([5, 3], gap="large")
    with left:
        _latest(changes)
    with right:
        st.header("Widest choice", anchor="choice")
        live(most_served(market), key="most_served")


@st.fragment
def _latest(changes: pl.DataFrame) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.header("Latest changes", anchor="changes")
        shown = st.segmented_control(
            "Kind of change",
            list(change_list.KINDS),
            default="all",
            required=True,
            key="changes",
            bind="query-params",
            label_visibility="collapsed",
        )
    chosen = change_list.of_kinds(changes, shown)
    if chosen.is_empty():
        st.html(empty("Nothing yet", "Changes show from the second sweep on."))
        return
    live(
        change_list.change_list(chosen, frame.utc_now(), names_model=True, lines=LISTED_CHANGES),
        key="latest_changes",
    )


def _glance(snapshot: Snapshot, market: pl.DataFrame, changes: pl.DataFrame) -> None:
    sweep = queries.sweep_log(snapshot, 1).row(0, named=True)
    now = frame.utc_now()
    week = change_list.counts(changes, now - timedelta(days=7))
    month = change_list.counts(changes, now - timedelta(days=30))
    free = market["is_free"].sum()
    inputs, outputs = (
        median_price(market, f"cheapest_{side}_usd_per_mtok") for side in ("input", "output")
    )
    st.html(
        figures(
            [
                Figure("Models", formatting.count_text(market.height), f"{free} free"),
                Figure("Endpoints", formatting.count_text(float(market["endpoints"].sum()))),
                Figure("Providers", formatting.count_text(sweep["providers"])),
                Figure("Median input price", inputs, "$/M, cheapest endpoint a model"),
                Figure("Median output price", outputs, "$/M, same endpoint"),
                Figure(
                    "Price cuts, 7 days",
                    formatting.count_text(week.get("cheaper", 0)),
                    f"{month.get('cheaper', 0)} in 30 days",
                ),
                Figure(
                    "Price rises, 7 days",
                    formatting.count_text(week.get("dearer", 0)),
                    f"{month.get('dearer', 0)} in 30 days",
                ),
            ],
            label="Market at a glance",
        )
    )


if current := queries.current_snapshot():
    show(current)
