"""Local or cloud: when a rig of one's own has paid, at the reader's use and prices."""

from __future__ import annotations

from decimal import Decimal

import polars as pl
import streamlit as st

from app.components import formatting
from app.components.cards import empty
from app.components.local_break_even import (
    break_even_figures,
    cost_chart,
    cost_legend,
    cost_table,
)
from app.components.markup import Markup, element
from pipeline.hardware.break_even import HOURS_PER_MONTH, Owning, Usage, break_even
from pipeline.hardware.fit import Need, fit
from pipeline.hardware.like_for_like import Offer, cheapest_like_for_like
from pipeline.hardware.quants import Quant
from pipeline.hardware.rigs import Rig

_MILLION = 10**6


def local_or_cloud(
    endpoints: pl.DataFrame, rig: Rig, need: Need, *, quant: Quant, context: int
) -> None:
    """Compare ``rig`` with the cheapest like-for-like offer among rows of ``provider_table``."""
    st.subheader("Local or cloud", anchor="local-or-cloud")
    with st.container(horizontal=True, vertical_alignment="bottom", key="own_cost_controls"):
        usage = _usage()
        price = _number("Price of the rig, $", "own_price", 2000, step=100)
        watts = _number("Watts", "own_watts", None, step=10, placeholder=_stated(rig))
        per_kwh = _number("$ per kWh", "own_kwh", 0.30, step=0.01)
        hours = _number(
            "Hours on a day", "own_hours", None, step=1, most=24, placeholder="busy ones"
        )
    offer = cheapest_like_for_like(
        endpoints.to_dicts(), usage, context=context, bits=quant.bits_per_weight
    )
    found = fit(rig, need)
    power = watts if watts is not None else rig.watts
    if problem := _what_is_missing(rig, offer, found.tokens_per_s, power):
        st.html(problem)
        return
    assert offer is not None and power is not None  # noqa: S101 - what is missing was told
    owning = Owning(
        price_usd=price or Decimal(0),
        watts=power,
        usd_per_kwh=per_kwh or Decimal(0),
        tokens_per_s=found.tokens_per_s,
        hours_per_month=None if hours is None else hours / 24 * HOURS_PER_MONTH,
    )
    result = break_even(owning, offer.price, usage)
    st.html(break_even_figures(result))
    st.vega_lite_chart(spec=cost_chart(owning, result), key="cost_chart")
    st.html(cost_legend(result))
    st.html(_basis(rig, quant, offer, found.basis))
    twin = st.expander("The chart as a table", key="cost_table", on_change="rerun")
    if twin.open:
        twin.dataframe(cost_table(owning, result), hide_index=True, alt="Costs as a table")


def _usage() -> Usage:
    millions = _number("M tokens a month", "own_tokens", 100, step=10, most=1_000_000)
    share = _number("of them answers, %", "own_answers", 25, step=5, most=100)
    tokens = (millions or Decimal(0)) * _MILLION
    output = tokens * (share or Decimal(0)) / 100
    return Usage(input_tokens=tokens - output, output_tokens=output)


def _number(
    label: str,
    key: str,
    value: float | None,
    *,
    step: float,
    most: float = 10_000_000,
    placeholder: str | None = None,
) -> Decimal | None:
    """Show a number that the address holds under ``key``; empty is None."""
    number = st.number_input(
        label,
        min_value=0.0,
        max_value=float(most),
        value=None if value is None else float(value),
        step=float(step),
        format="%g" if step >= 1 else "%.2f",
        key=key,
        bind="query-params",
        placeholder=placeholder,
        width=160,
    )
    return None if number is None else Decimal(f"{number:.10g}")


def _stated(rig: Rig) -> str:
    return "not stated" if rig.watts is None else f"{rig.watts:f} stated"


def _what_is_missing(
    rig: Rig, offer: Offer | None, tokens_per_s: Decimal | None, power: Decimal | None
) -> Markup | None:
    if tokens_per_s is None:
        return empty(
            f"It does not fit {rig.name} comfortably",
            "Choose a smaller quantization, a shorter context, or another rig.",
        )
    if offer is None:
        return empty(
            "No like-for-like offer",
            "Nobody serves it at a price, in this context and with so many bits per weight.",
        )
    if power is None:
        return empty(
            f"No watts are stated for {rig.name}", "Type what it draws while it generates."
        )
    return None


def _basis(rig: Rig, quant: Quant, offer: Offer, speed_basis: str) -> Markup:
    low, high = formatting.price_texts(
        [offer.price.input_usd_per_mtok, offer.price.output_usd_per_mtok]
    )
    return element(
        "p",
        f"{rig.name} with {quant.name} ({speed_basis}) against {offer.provider_name} "
        f"({offer.quantization}), ${low}/M in and ${high}/M out, listed: the cheapest current "
        "offer of the standard tier that takes the context and serves no fewer bits per weight. "
        "One request at a time; reading prompts is not counted in hours, nor is the rest of the "
        "machine in watts. Over its lifetime of 36 months the rig tips at the tokens shown.",
        class_="tt-notes",
    )
