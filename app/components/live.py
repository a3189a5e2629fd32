"""Mounts a table so that its sort heads and model links answer to a click without a reload."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import streamlit as st

from app.components.markup import Markup

_SCRIPT = (Path(__file__).parents[1] / "assets" / "live.js").read_text(encoding="utf-8")
_component = st.components.v2.component("tokentape_live", js=_SCRIPT, isolate_styles=False)


def live(markup: Markup, *, key: str, on_sort: Callable[[str], None] | None = None) -> None:
    """Show ``markup``; links of a model open its page, heads call ``on_sort`` with their sort.

    Only ``Markup`` goes in: the script sets it as HTML, so it has to be escaped already.
    """

    def sort_clicked() -> None:
        asked = st.session_state[key].get("sort")
        if isinstance(asked, str) and on_sort:
            on_sort(asked)

    _component(key=key, data={"html": markup}, on_sort_change=sort_clicked)
