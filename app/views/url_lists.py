"""A choice of several from a long list, kept in the URL as ids with commas between."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st


def url_multiselect(label: str, options: Mapping[str, str], *, name: str, most: int) -> list[str]:
    """Show a box to choose up to ``most`` of ``options`` (id: label) and return their ids.

    The URL's parameter ``name`` decides; ids that are no options are passed over.
    """
    widget = f"{name}_choice"
    st.session_state[widget] = chosen_ids(options, name=name, most=most)
    chosen: list[str] = st.multiselect(
        label,
        list(options),
        format_func=options.__getitem__,
        key=widget,
        max_selections=most,
        placeholder=f"Choose up to {most}",
        on_change=_to_url,
        args=(name,),
    )
    return chosen


def chosen_ids(options: Mapping[str, str], *, name: str, most: int) -> list[str]:
    """Return the ids of ``options`` that the URL's parameter ``name`` holds, in its order."""
    asked = dict.fromkeys(st.query_params.get(name, "").split(","))
    return [item for item in asked if item in options][:most]


def _to_url(name: str) -> None:
    chosen = st.session_state[f"{name}_choice"]
    if chosen:
        st.query_params[name] = ",".join(chosen)
    else:
        st.query_params.pop(name, None)
