"""Run it locally: what a model needs, on which rigs it runs and how fast, and whether that pays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from app.components.cards import badge, empty, notice
from app.components.live import live
from app.components.local_measured import measured_table
from app.components.local_quants import Choice, quant_table
from app.components.markup import Markup, element, page_link
from app.components.rig_drawing import rig_drawings
from app.components.rig_table import rig_table
from app.components.rig_words import TONES, range_text, tier_text
from app.snapshot import Snapshot
from app.views import queries
from app.views.local_cloud import local_or_cloud
from app.views.local_inputs import CONTEXTS, context_slider, params_input
from app.views.local_rig import own_rig
from app.views.url_state import url_segments
from pipeline.hardware.fit import Need, fit
from pipeline.hardware.local_model import LocalModel, local_model, stated_params_b
from pipeline.hardware.quants import BY_NAME, MAIN, QUANTS, Quant
from pipeline.hardware.rigs import Rig, RigFileError, common_machines, reference_rigs, rigs_with
from pipeline.settings import current_settings

_QUANTS = {name: name for name in (MAIN[0], *(q.name for q in QUANTS if q.name != MAIN[0]))}


@st.fragment
def local(snapshot: Snapshot, facts: Mapping[str, Any]) -> None:
    """Show the section for a row of ``marts.model_facts``."""
    st.header("Run it locally", anchor="local")
    is_stated = stated_params_b(facts) is not None
    if not facts["hugging_face_id"] and not is_stated:
        st.html(empty("Its weights are not published", "It runs in the cloud only."))
        return
    model = local_model(facts, None if is_stated else params_input(facts["model_id"]))
    if model is None:
        st.html(
            empty(
                "Its parameter count is not known",
                "Nobody states it where tokentape looks. Type it above to see what it needs.",
            )
        )
        return
    longest = facts["context_length"] or CONTEXTS[-1]
    rigs = _rigs()
    with st.container(horizontal=True, vertical_alignment="bottom", key="local_controls"):
        quant = BY_NAME[url_segments("Quantization", _QUANTS, name="local_quant")]
        context = context_slider(model, longest)
    st.html(_memory_note(model, context, longest))
    own = own_rig((*common_machines(), *rigs))
    need = model.need(quant, context)
    if own is not None:
        st.html(_verdict(facts["model_name"], own, quant, need))
    choices = [_choice(model, item, context, own) for item in QUANTS]
    st.html(quant_table(choices, weights_id=facts["hugging_face_id"]))
    if measured := measured_table(queries.probe_summary(snapshot, facts["model_id"])):
        st.subheader("Measured on servers of one's own", anchor="local-measured")
        st.html(measured)
    _reference_hardware(rigs, own, need, quant)
    st.subheader("Can you run it?", anchor="fits")
    shown = {name: BY_NAME[name] for name in (*MAIN, quant.name)}
    needs = {name: model.need(item, context) for name, item in shown.items()}
    st.html(rig_table(rigs, needs, own=own))
    endpoints = queries.provider_table(snapshot, facts["model_id"])
    local_or_cloud(endpoints, own or _usual(rigs), need, quant=quant, context=context)
    live(_method(), key="local_method")


def _reference_hardware(rigs: Sequence[Rig], own: Rig | None, need: Need, quant: Quant) -> None:
    st.subheader("The reference hardware", anchor="rigs")
    drawn = [own, *rigs] if own else rigs
    live(rig_drawings(drawn, [fit(rig, need) for rig in drawn], need), key="rig_drawings")
    st.caption(
        f"{len(drawn)} rigs, drawn to one scale: the area of a square is memory, the length of the "
        f"bar bandwidth, and the fill what {quant.name} takes of the memory. Scroll for more."
    )


def _choice(model: LocalModel, quant: Quant, context: int, own: Rig | None) -> Choice:
    need = model.need(quant, context)
    return Choice(model.weights(quant), need, fit(own, need) if own else None)


def _memory_note(model: LocalModel, context: int, longest: int) -> Markup:
    size = f"{model.params_b} billion parameters"
    if model.active_share < 1:
        active = model.active_share * model.params_b
        size += f", {active:.1f} of them active: all lie in memory, the active ones set the speed"
    kv_gb = model.kv_gb(context or longest)
    if model.cache is None or kv_gb is None:
        cache = "Its KV cache is not known, so memory for a context comes on top of the figures"
    elif context:
        basis = model.cache.basis
        cache = f"A context of {context:,} tokens adds {kv_gb:.2f} GB of KV cache ({basis})"
    else:
        cache = (
            "The figures are for weights alone; the KV cache comes on top, "
            f"{kv_gb:.1f} GB at {longest:,} tokens. Set a context to count it in"
        )
    return element("p", f"{size}. {cache}.", class_="tt-notes")


def _verdict(model_name: str, own: Rig, quant: Quant, need: Need) -> Markup:
    found = fit(own, need)
    spread = range_text(found)
    return element(
        "p",
        element("strong", f"{model_name} in {quant.name} on {own.name}: "),
        badge(found.tier, TONES[found.tier]),
        f"{tier_text(found)} (estimated {spread})" if spread else None,
        element("small", found.basis),
        class_="tt-verdict",
    )


def _rigs() -> Sequence[Rig]:
    try:
        return rigs_with(current_settings().rigs_file)
    except RigFileError as error:
        st.html(notice("Your rigs are left out.", f"{error}.", tone="warn"))
        return reference_rigs()


def _usual(rigs: Sequence[Rig]) -> Rig:
    """Return what is compared with the cloud until the reader has a rig."""
    return next((rig for rig in rigs if rig.name == "Single RTX 4090 (24GB)"), rigs[0])


def _method() -> Markup:
    return element(
        "div",
        element(
            "p",
            "Tokens per second are an estimate from bandwidth, not a measurement: 0.55 (Apple "
            "0.60) of the bandwidth over the bytes read for each token, for one request at a time; "
            "beneath stands the range of \u221215 % to +40 % in which most measured speeds lie. "
            "fast: 20 tokens/s and more; ok: 8 to 20; slow: below 8; tight: less memory than "
            "recommended; offload: too large for the GPU; no: too large for the memory. Several "
            "GPUs are counted with their bandwidths added up. ",
            page_link("Methodology", "methodology#run-it-locally"),
        ),
        class_="tt-notes",
    )
