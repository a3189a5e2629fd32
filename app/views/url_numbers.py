"""Numbers that a reader types; what differs from the usual one stands in the URL."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

_DIGITS = 15  # more than any number here has


@dataclass(frozen=True)
class NumberField:
    """A box for a whole number of at least 0 and at most ``most``."""

    label: str
    most: int
    step: int
    help: str


def url_number(field: NumberField, *, name: str, usual: int) -> int:
    """Show the box and return its number.

    The URL's parameter ``name`` decides; it is absent for ``usual``, which may change from run to
    run, and one that is no number within the bounds counts as that.
    """
    widget = f"{name}_number"
    st.session_state[widget] = number_of(st.query_params.get(name, ""), field, usual=usual)
    return int(
        st.number_input(
            field.label,
            min_value=0,
            max_value=field.most,
            step=field.step,
            key=widget,
            help=field.help,
            on_change=_to_url,
            args=(name, usual),
            width=150,
        )
    )


def number_of(asked: str, field: NumberField, *, usual: int) -> int:
    """Read a number of a URL; text that is none, or not within the bounds, is the usual one."""
    if not (asked.isascii() and asked.isdigit() and len(asked) <= _DIGITS):
        return usual
    return int(asked) if int(asked) <= field.most else usual


def _to_url(name: str, usual: int) -> None:
    typed = st.session_state[f"{name}_number"]
    if typed == usual:
        st.query_params.pop(name, None)
    else:
        st.query_params[name] = str(typed)
