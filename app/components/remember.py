"""A note in the reader's browser: kept in its local storage, never sent anywhere else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import streamlit as st

_SCRIPT = (Path(__file__).parents[1] / "assets" / "remember.js").read_text(encoding="utf-8")
_component = st.components.v2.component("tokentape_remember", js=_SCRIPT)


def remember(
    name: str, *, keep: str | None, is_wanted: bool, on_found: Callable[[str], None]
) -> None:
    """Keep a text under ``name``, or ask for the one that is kept.

    ``keep`` replaces what is kept, an empty one removes it, and None leaves it; ``on_found`` gets
    it, once, when ``is_wanted`` and there is one. It comes from outside: anything may stand in it.
    """
    key = f"remember_{name}"

    def found() -> None:
        text = st.session_state[key].get("found")
        if isinstance(text, str):
            on_found(text)

    _component(
        key=key,
        data={"name": f"tokentape.{name}", "keep": keep, "wanted": is_wanted},
        on_found_change=found,
        height=0,
    )
