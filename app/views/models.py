"""Models: the searchable, sortable index of the market."""

from __future__ import annotations

import math
from functools import partial

import polars as pl
import streamlit as st

from app.components import market_index
from app.components.cards import empty
from app.components.live import live
from app.components.market_index import CONTEXT_STEPS, SORT_LABELS, Filters
from app.components.markup import element
from app.components.table import Sort
from app.snapshot import Snapshot
from app.views import queries
from app.views.url_state import set_choice, url_selectbox

ROWS_PER_PAGE = 50


def show(snapshot: Snapshot) -> None:
    """Show the page."""
    st.title("Models", anchor=False)
    index(queries.market_table(snapshot))


@st.fragment
def index(market: pl.DataFrame) -> None:
    """Show filters, hit count and table; a change runs this part only. All state is in the URL."""
    filters, sort = _controls(market)
    found = market_index.filtered(market, filters)
    st.html(_hits(found.height, market.height))
    if found.is_empty():
        st.html(empty("No model matches", "Take a word or a filter away."))
        return
    pages = math.ceil(found.height / ROWS_PER_PAGE)
    number = min(st.session_state.get("page", 1), pages)
    ordered = market_index.sorted_models(found, sort)
    shown = ordered.slice((number - 1) * ROWS_PER_PAGE, ROWS_PER_PAGE)
    live(
        market_index.market_index(shown, sort),
        key="market_index",
        on_sort=partial(set_choice, SORT_LABELS, "order"),
    )
    if pages > 1:
        st.pagination(pages, key="page", bind="query-params")


def _controls(market: pl.DataFrame) -> tuple[Filters, Sort]:
    with st.container(horizontal=True, vertical_alignment="bottom", key="index_controls"):
        text = st.text_input(
            "Search",
            type="search",
            placeholder="Name or id, like llama 8b",
            key="q",
            live=True,
            bind="query-params",
            max_chars=100,
        )
        author = st.selectbox(
            "Developer",
            market["author"].unique().sort().to_list(),
            index=None,
            placeholder="All",
            key="author",
            bind="query-params",
            width=170,
        )
        min_context = st.selectbox(
            "Context at least", list(CONTEXT_STEPS), key="context", bind="query-params", width=130
        )
        order = url_selectbox("Sort by", SORT_LABELS, name="order", width=220)
    with st.container(horizontal=True):
        is_free = st.checkbox("Free only", key="free", bind="query-params")
        has_price = st.checkbox("With a price", key="priced", bind="query-params")
    filters = Filters(text or "", author, is_free, has_price, CONTEXT_STEPS[min_context])
    return filters, Sort(order)


def _hits(found: int, total: int) -> str:
    text = f"{total:,} models" if found == total else f"{found:,} of {total:,} models"
    return element("p", text, class_="tt-hits", role="status")


if current := queries.current_snapshot():
    show(current)
