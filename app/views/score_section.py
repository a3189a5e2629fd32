"""The section of a model's page that shows its scores and what a dollar buys of them."""

from __future__ import annotations

import streamlit as st

from app.components.live import live
from app.components.markup import element, page_link
from app.components.score_panel import score_panel
from app.snapshot import Snapshot
from app.views import queries


def scores(snapshot: Snapshot, model_id: str) -> None:
    """Show the section."""
    st.header("Scores", anchor="scores")
    st.html(
        score_panel(
            queries.model_scores(snapshot, model_id), queries.score_per_dollar(snapshot, model_id)
        )
    )
    link = page_link("Compare with the whole market", "value")
    live(element("p", link, class_="tt-notes"), key="score_links")
