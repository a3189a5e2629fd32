"""The controls in which a reader describes a workload; what they hold stands in the URL."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

import streamlit as st

from app.views.url_numbers import NumberField, url_number
from pipeline.workload.shape import Workload, hours_between

# By the parameter of the URL.
FIELDS = {
    "in": NumberField("Input tokens", 10_000_000, 1000, "The whole prompt of a request."),
    "out": NumberField("Output tokens", 10_000_000, 100, "The answer, reasoning included."),
    "requests": NumberField("Requests a month", 10_000_000_000, 10_000, "Spread evenly."),
    "cached": NumberField("Cached %", 100, 5, "Share of the prompt that is read from a cache."),
    "written": NumberField(
        "Written %", 100, 5, "Share of the prompt written to a cache, which some bill apart."
    ),
    "from": NumberField("From, UTC hour", 23, 1, "Requests begin at this hour."),
    "to": NumberField("To, UTC hour", 23, 1, "They end at this hour; the same one is all day."),
}
USUAL = {"in": 1000, "out": 300, "requests": 100_000, "cached": 0, "written": 0, "from": 0, "to": 0}


def workload_inputs(usual: Mapping[str, int] = USUAL) -> Workload:
    """Show the controls and return the workload they describe.

    ``usual`` are the values that leave no trace in the URL: ``in`` and ``out`` tokens a request,
    ``requests`` a month, ``cached`` and ``written`` percent of the prompt, UTC hours ``from`` and
    ``to``; those it does not name are those of ``USUAL``.
    """
    start = {**USUAL, **usual}
    with st.container(horizontal=True, vertical_alignment="bottom", key="workload_controls"):
        given = {
            name: url_number(field, name=name, usual=start[name]) for name, field in FIELDS.items()
        }
    # What was read from the cache need not be written to it.
    written = min(given["written"], 100 - given["cached"])
    return Workload(
        input_tokens=given["in"],
        output_tokens=given["out"],
        cached_share=Decimal(given["cached"]) / 100,
        written_share=Decimal(written) / 100,
        requests_per_month=given["requests"],
        hours=hours_between(given["from"], given["to"]),
    )
