"""Controls whose value lives in the URL as a short word, so that a view can be shared.

Streamlit's own binding writes the label that the reader sees; here it is the key of the option.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

_NONE = "none"  # where all pills are off; an empty parameter would be dropped


def url_selectbox(label: str, options: Mapping[str, str], *, name: str, width: int) -> str:
    """Show a select box over ``options`` (key: label) and return the chosen key.

    The URL's parameter ``name`` decides; it is absent for the first option, and one that is no
    option counts as that.
    """
    widget = _widget(name)
    st.session_state[widget] = _from_url(options, name)
    chosen: str = st.selectbox(
        label,
        list(options),
        format_func=options.__getitem__,
        key=widget,
        on_change=_to_url,
        args=(options, name),
        width=width,
    )
    return chosen


def url_segments(label: str, options: Mapping[str, str], *, name: str) -> str:
    """Show a row of buttons over ``options`` and return the chosen key; as ``url_selectbox``."""
    widget = _widget(name)
    st.session_state[widget] = _from_url(options, name)
    chosen: str | None = st.segmented_control(
        label,
        list(options),
        format_func=options.__getitem__,
        required=True,
        key=widget,
        on_change=_to_url,
        args=(options, name),
        wrap=True,
    )
    return chosen or next(iter(options))


def url_pills(
    label: str, options: Mapping[str, str], *, name: str, usual: Sequence[str] = ()
) -> tuple[str, ...]:
    """Show buttons of which any number is on and return the keys of those, in their order.

    The URL's parameter ``name`` holds the keys with commas between; it is absent for ``usual``,
    and keys that are no options count as none.
    """
    widget = _widget(name)
    st.session_state[widget] = list(chosen_in_url(options, name=name, usual=usual))
    chosen: list[str] = st.pills(
        label,
        list(options),
        format_func=options.__getitem__,
        selection_mode="multi",
        key=widget,
        on_change=_pills_to_url,
        args=(options, name, tuple(usual)),
    )
    return tuple(key for key in options if key in chosen)


def chosen_in_url(
    options: Mapping[str, str], *, name: str, usual: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the keys that the URL's parameter ``name`` holds, those of ``url_pills``."""
    asked = st.query_params.get(name)
    wanted = usual if asked is None else asked.split(",")
    return tuple(key for key in options if key in wanted)


def forget(*names: str) -> None:
    """Take choices out of the URL, so that each is the usual one again."""
    for name in names:
        st.query_params.pop(name, None)


def set_choice(options: Mapping[str, str], name: str, asked: str) -> None:
    """Choose an option from elsewhere; a key that is none is ignored."""
    if asked not in options:
        return
    if asked == next(iter(options)):
        st.query_params.pop(name, None)
    else:
        st.query_params[name] = asked


def _from_url(options: Mapping[str, str], name: str) -> str:
    asked = st.query_params.get(name, "")
    return asked if asked in options else next(iter(options))


def _to_url(options: Mapping[str, str], name: str) -> None:
    set_choice(options, name, st.session_state[_widget(name)])


def _pills_to_url(options: Mapping[str, str], name: str, usual: tuple[str, ...]) -> None:
    chosen = st.session_state[_widget(name)]
    keys = [key for key in options if key in chosen]
    if keys == [key for key in options if key in usual]:
        forget(name)
    else:
        st.query_params[name] = ",".join(keys) or _NONE


def _widget(name: str) -> str:
    return f"{name}_choice"
