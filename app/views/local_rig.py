"""The reader's own rig: picked or typed, kept in the address and in the browser, no account."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import streamlit as st

from app.components.remember import remember
from pipeline.hardware.own_rig import (
    MOST_MACHINES,
    ChosenRig,
    Memory,
    OwnRig,
    TypedRig,
    read_own_rig,
)
from pipeline.hardware.rigs import Rig

PARAMETER = "rig"
_NONE, _TYPED = "none yet", "type memory and bandwidth"
_MEMORIES: dict[Memory, str] = {"vram": "GPU", "unified": "unified", "apple": "Apple"}
_USUAL = TypedRig(Decimal(24), Decimal(1000))
# What the session knows beside the widgets: pages come and go, and each has an address of its own.
_KEPT, _IS_CHANGED = "own_rig", "own_rig_is_changed"


def own_rig(machines: Sequence[Rig]) -> Rig | None:
    """Show the controls and return the chosen rig, None while there is none.

    The address decides, then what the session, then what the browser remembers. Only what the
    reader chose here is kept in the browser: an address that somebody shared changes nothing there.
    """
    text = st.query_params.get(PARAMETER) or st.session_state.get(_KEPT)
    own = read_own_rig(text, machines)
    if own is not None and st.query_params.get(PARAMETER) != own.text:
        st.query_params[PARAMETER] = own.text
    st.session_state[_KEPT] = own.text if own else ""
    is_changed = st.session_state.get(_IS_CHANGED, False)
    with st.container(horizontal=True, vertical_alignment="bottom", key="own_rig_controls"):
        _controls(own, machines)
    remember(
        PARAMETER,
        keep=st.session_state[_KEPT] if is_changed else None,
        is_wanted=own is None and not is_changed,
        on_found=lambda found: _set(read_own_rig(found, machines)),
    )
    return own.rig if own else None


def _controls(own: OwnRig | None, machines: Sequence[Rig]) -> None:
    """Show the controls as ``own`` has it; a change makes another rig of what they hold then."""
    names = [machine.name for machine in machines]
    held = own.machine.name if isinstance(own, ChosenRig) else _TYPED if own else _NONE
    st.session_state["own_machine"] = held
    st.selectbox(
        "Your rig",
        [_NONE, _TYPED, *names],
        key="own_machine",
        on_change=_choose,
        args=(machines,),
        width=300,
        help="Kept in this browser and in the address, nowhere else.",
    )
    if isinstance(own, ChosenRig):
        _number("How many", "own_count", own.count, machines, most=MOST_MACHINES)
    elif own is not None:
        _number("Memory, GB", "own_memory", float(own.memory_gb), machines)
        _number("Bandwidth, GB/s", "own_bandwidth", float(own.bandwidth_gb_per_s), machines)
        st.session_state["own_kind"] = own.memory
        st.selectbox(
            "Memory of",
            list(_MEMORIES),
            format_func=_MEMORIES.__getitem__,
            key="own_kind",
            on_change=_choose,
            args=(machines,),
            width=130,
        )


def _number(
    label: str, key: str, value: float, machines: Sequence[Rig], most: int = 100_000
) -> None:
    st.session_state[key] = value
    least = 1 if isinstance(value, int) else 0.1
    st.number_input(
        label,
        min_value=least,
        max_value=type(value)(most),
        step=1 if isinstance(value, int) else 1.0,
        format="%d" if isinstance(value, int) else "%g",
        key=key,
        on_change=_choose,
        args=(machines,),
        width=150,
    )


def _choose(machines: Sequence[Rig]) -> None:
    held = st.session_state["own_machine"]
    own: OwnRig | None = None
    if held == _TYPED:
        own = TypedRig(
            _decimal("own_memory", _USUAL.memory_gb),
            _decimal("own_bandwidth", _USUAL.bandwidth_gb_per_s),
            st.session_state.get("own_kind", _USUAL.memory),
        )
    elif held != _NONE:
        machine = next(machine for machine in machines if machine.name == held)
        own = ChosenRig(machine, st.session_state.get("own_count", 1))
    st.session_state[_IS_CHANGED] = True
    _set(own)


def _decimal(key: str, usual: Decimal) -> Decimal:
    return Decimal(f"{st.session_state.get(key, usual):.10g}")


def _set(own: OwnRig | None) -> None:
    st.session_state[_KEPT] = own.text if own else ""
    if own is None:
        st.query_params.pop(PARAMETER, None)
    else:
        st.query_params[PARAMETER] = own.text
