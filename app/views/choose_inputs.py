"""What a reader asks of a provider: limits, budget and constraints, all of them in the URL."""

from __future__ import annotations

from decimal import Decimal

import polars as pl
import streamlit as st

from app.components.provider_filters import ANYWHERE, BITS_STEPS, EU, EU_MEMBERS, regions
from app.views.url_numbers import NumberField, url_number
from app.views.url_state import url_segments, url_selectbox
from pipeline.workload.presets import Shape
from pipeline.workload.shape import Workload
from pipeline.workload.verdicts import Needs

TTFT = NumberField("TTFT p95, ms at most", 600_000, 100, "0 asks for nothing.")
SPEED = NumberField("Tok/s p50, at least", 100_000, 5, "0 asks for nothing.")
BUDGET = NumberField("Budget, $ a month", 1_000_000_000, 10, "0 is no limit.")
CONTEXT = NumberField(
    "Context at least", 10_000_000, 8000, "Tokens; 0 asks for what the request needs."
)
UPTIMES = {"any": 0.0, "95": 95.0, "98": 98.0, "99": 99.0, "99.5": 99.5, "99.9": 99.9}
TIERS = {"standard": "Standard tier only", "all": "Flex, priority, batch too"}


def choose_inputs(shape: Shape, workload: Workload, endpoints: pl.DataFrame) -> Needs:
    """Show the controls, with the usual values of ``shape``, and return what they ask for."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="choose_limits"):
        ttft = url_number(TTFT, name="ttft", usual=shape.max_ttft_p95_ms)
        speed = url_number(SPEED, name="speed", usual=shape.min_tokens_per_s)
        budget = url_number(BUDGET, name="budget", usual=0)
        context = url_number(CONTEXT, name="context", usual=0)
    uptime = url_segments("Uptime, % at least", _usual_first(shape), name="uptime")
    with st.container(horizontal=True, vertical_alignment="bottom", key="choose_constraints"):
        bits = url_selectbox(
            "Quantization, bits at least",
            {key: key.capitalize() if key == "any" else key for key in BITS_STEPS},
            name="bits",
            width=200,
        )
        region = url_selectbox("Runs or is based in", regions(endpoints), name="region", width=180)
        tiers = url_selectbox("Tiers", TIERS, name="tiers", width=220)
    return Needs(
        workload,
        max_ttft_p95_ms=ttft,
        min_tokens_per_s=speed,
        min_uptime_pct=UPTIMES[uptime],
        max_usd_per_month=Decimal(budget) if budget else None,
        min_bits=BITS_STEPS[bits],
        min_context=context,
        region=_countries(region),
        allows_tiers=tiers == "all",
    )


def _usual_first(shape: Shape) -> dict[str, str]:
    """Put the shape's own uptime first, which is what no parameter in the URL stands for."""
    usual = next(key for key, percent in UPTIMES.items() if percent == shape.min_uptime_pct)
    return {key: key.capitalize() for key in sorted(UPTIMES, key=lambda key: key != usual)}


def _countries(region: str) -> frozenset[str] | None:
    if region == ANYWHERE:
        return None
    return EU_MEMBERS if region == EU else frozenset({region})
