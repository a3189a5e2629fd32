"""Health: how far the data can be trusted today, and what was refused."""

from __future__ import annotations

from typing import Any

import streamlit as st

from app.components import formatting, health_tables
from app.components.cards import Figure, empty, figures
from app.components.markup import element
from app.components.score_unmatched import unmatched_names
from app.snapshot import Snapshot
from app.views import frame, queries

LISTED_SWEEPS = 14


def show(snapshot: Snapshot) -> None:
    """Show the page."""
    st.title("Health", anchor=False)
    st.html(
        element(
            "p",
            "How fresh and how complete the data is, what looked odd, and what was kept out.",
            class_="tt-lead",
        )
    )
    log = queries.sweep_log(snapshot, LISTED_SWEEPS)
    health = snapshot.data_health()
    _last_sweep(log.row(0, named=True), health_tables.value_of(health, "stale endpoints"))
    st.header("Checks", anchor="checks")
    st.html(health_tables.checks(health))
    st.header("Quarantine", anchor="quarantine")
    quarantine = snapshot.quarantine_log()
    if quarantine.is_empty():
        st.html(empty("Nothing refused", "No record of the last 90 days broke a hard rule."))
    else:
        st.caption(
            "Records of the last 90 days that broke a hard rule; history does not hold them."
        )
        st.html(health_tables.quarantine(quarantine))
    st.header("Flags", anchor="flags")
    flags = snapshot.flag_log()
    if flags.is_empty():
        st.html(empty("Nothing odd", "No record of the last sweep was surprising."))
    else:
        st.caption("Records of the last sweep that were loaded although they look odd.")
        st.html(health_tables.flags(flags))
    st.header("Unmatched names", anchor="unmatched")
    st.html(unmatched_names(snapshot.unmatched_names()))
    st.header("Sweeps", anchor="sweeps")
    st.html(health_tables.sweeps(log))
    st.caption("The whole log is the table sweep_log on the Data page.")


def _last_sweep(sweep: dict[str, Any], stale: str) -> None:
    now = frame.utc_now()
    coverage = sweep["coverage_pct"]
    st.html(
        figures(
            [
                Figure(
                    "Last sweep",
                    formatting.age_text(sweep["started_at_utc"], now),
                    f"{sweep['status']}, took {formatting.duration_text(sweep['duration_s'])}",
                ),
                Figure(
                    "Coverage",
                    formatting.MISSING if coverage is None else f"{coverage:.4g}%",
                    f"{sweep['models_answered']:,} of {sweep['models_expected']:,} models answered",
                ),
                Figure("Stale endpoints", stale, "keep their last price"),
                Figure("Refused", formatting.count_text(sweep["quarantined"]), "in the last sweep"),
                Figure("Flagged", formatting.count_text(sweep["flagged"]), "in the last sweep"),
            ],
            label="Last sweep",
        )
    )


if current := queries.current_snapshot():
    show(current)
