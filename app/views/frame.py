"""What every page shares: style, status line, demo banner, footer, and the empty state."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import streamlit as st
from streamlit.navigation.page import Page

from app.components import formatting
from app.components.cards import empty, notice
from app.components.markup import Markup, element, external_link

ASSETS = Path(__file__).parents[1] / "assets"
PRODUCT = "tokentape"
LATE_AFTER = timedelta(hours=30)  # a daily sweep and some patience


def utc_now() -> datetime:
    """Return the time that ages on a page are counted to."""
    return datetime.now(UTC)


def name_page(title: str) -> None:
    """Set the title of the browser tab."""
    st.set_page_config(
        page_title=f"{title} | {PRODUCT}" if title != PRODUCT else PRODUCT,
        page_icon=str(ASSETS / "icon.svg"),
        layout="wide",
        initial_sidebar_state="collapsed",
        menu_items={"About": "The ticker tape of the LLM API market."},
    )


def top(manifest: dict[str, Any] | None, base_url: str, pages: Sequence[Page]) -> None:
    """Show the style, the phone's navigation, the demo banner and the status line."""
    st.html(ASSETS / "tokentape.css")
    st.logo(str(ASSETS / "logo.svg"), size="medium")
    # On a phone Streamlit's own navigation is a drawer that lies over the page, even after the
    # page was chosen; the style sheet shows this row there instead.
    with st.container(horizontal=True, key="phone_nav"):
        for page in pages:
            st.page_link(page, label=page.title)
    if manifest is None:
        return
    if manifest["market"] == "demo":
        st.html(
            notice(
                "DEMO DATA",
                "This market is made up by the sandbox. No model, price or uptime here is real.",
                tone="demo",
            )
        )
    st.html(status_line(manifest, base_url, utc_now()))


def status_line(manifest: dict[str, Any], base_url: str, now: datetime) -> Markup:
    """Say how old the data is and where it comes from."""
    as_of = datetime.fromisoformat(str(manifest["as_of_utc"]))
    is_demo = manifest["market"] == "demo"
    is_late = now - as_of > LATE_AFTER
    return element(
        "div",
        element(
            "span",
            element("b", f"refreshed {formatting.age_text(as_of, now)}"),
            class_="tt-dot tt-late" if is_late else "tt-dot",
        ),
        element("time", formatting.moment_text(as_of), datetime=as_of.isoformat()),
        element("span", "a sweep is overdue") if is_late else None,
        element("span", f"source: {'sandbox market' if is_demo else _source(base_url)}"),
        class_="tt-status",
        role="status",
    )


def _source(base_url: str) -> str:
    is_public = urlsplit(base_url).hostname == "openrouter.ai"
    return "OpenRouter public API" if is_public else base_url


def footer(manifest: dict[str, Any] | None) -> None:
    """Show attribution and licence, and what a reader should do before paying."""
    openrouter = external_link("OpenRouter", "https://openrouter.ai")
    lines = [
        element("p", manifest["notice"]) if manifest else None,
        element(
            "p",
            f"{PRODUCT} is independent of ",
            openrouter,
            " and of every provider. Prices are list prices in US dollars per million tokens; "
            "confirm them with the provider before committing.",
        ),
    ]
    st.html(element("footer", *lines, class_="tt-footer"))


def unreadable(error: Exception) -> None:
    """Show that what was published is damaged, and what mends it."""
    st.html(empty("The data cannot be read", f"{error}.", level="h1"))


def no_snapshot() -> None:
    """Show what a fresh installation shows: nothing yet, and which command fills it."""
    st.html(
        empty(
            "No market data yet",
            "Pull the market once with ",
            element("code", "tokentape sync"),
            " (or ",
            element("code", "make up"),
            "), or look around on made-up data with ",
            element("code", "make demo"),
            ".",
            level="h1",
        )
    )
