"""The performance section of a model's page: what our own probes measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl
import streamlit as st

from app.components import (
    performance_apart,
    performance_distribution,
    performance_failures,
    performance_history,
    performance_load,
    performance_table,
)
from app.components import performance_choices as choices
from app.components.cards import empty
from app.components.chart_lines import Line
from app.components.live import live
from app.components.markup import Markup, element, page_link
from app.components.performance_choices import METRICS, WINDOWS, Metric
from app.components.performance_lines import labelled, lines_of
from app.components.performance_samples import samples_behind
from app.snapshot import Snapshot
from app.views import queries
from app.views.url_state import url_segments, url_selectbox

Lines = Mapping[str, Line]


@st.fragment
def performance(snapshot: Snapshot, model_id: str, positions: Mapping[str, int]) -> None:
    """Show the section; ``positions`` are those of endpoints among the lines of other charts."""
    st.header("Performance, measured by us", anchor="performance")
    summary = queries.probe_summary(snapshot, model_id)
    if choices.warm(summary).is_empty():
        st.html(_not_measured())
        return
    targets = lines_of(summary, positions)
    lines = {line.label: line for line in targets.values()}
    in_window, metric, chosen = _choose(labelled(summary, targets))
    st.html(performance_table.performance_table(chosen, metric))
    if notes := performance_table.untrusted_notes(chosen):
        st.html(notes)
    live(_method(), key="performance_method")
    samples = samples_behind(chosen, queries.probe_samples(snapshot, model_id))
    runs = performance_history.run_figures(
        samples, queries.performance_history(snapshot, model_id), metric
    )
    _history(runs, lines, metric)
    _distribution(samples, lines, metric)
    prompt_set = chosen["prompt_set"][0]
    _load(choices.warm(in_window).filter(prompt_set=prompt_set), lines)
    st.subheader("Failures", anchor="failures")
    st.html(performance_failures.failure_table(chosen))
    _apart(in_window)


def _choose(summary: pl.DataFrame) -> tuple[pl.DataFrame, Metric, pl.DataFrame]:
    """Show the controls; return the rows of the window, the metric, and the rows chosen."""
    warm = choices.warm(summary)
    with st.container(horizontal=True, vertical_alignment="bottom", key="performance_controls"):
        windows = choices.windows(warm)
        usual = choices.DEFAULT_WINDOW
        window = st.segmented_control(
            "Window",
            windows,
            default=usual if usual in windows else windows[0],
            required=True,
            key="window",
            bind="query-params",
        )
        in_window = summary.filter(window_hours=WINDOWS[window])
        rows = choices.warm(in_window)
        prompts = choices.prompt_sets(rows)
        prompt_set = url_selectbox("Prompts", prompts, name="prompts", width=190)
        rows = rows.filter(prompt_set=prompt_set)
        loads = choices.loads(rows)
        labels = {key: load.label for key, load in loads.items()}
        load = loads[url_selectbox("Concurrency", labels, name="concurrency", width=140)]
        rows = choices.of_load(rows, load)
        metrics = choices.metrics(rows) or {"ttft": METRICS["ttft"].label}
        metric = METRICS[url_segments("Metric", metrics, name="metric")]
    return in_window, metric, rows


def _history(runs: pl.DataFrame, lines: Lines, metric: Metric) -> None:
    st.subheader("Over time", anchor="performance-history")
    known = runs.drop_nulls("middle")
    if known.is_empty():
        st.html(_no_figure(metric))
        return
    _chart(
        performance_history.history_chart(runs, lines, metric),
        key="performance_history_chart",
        legend=performance_history.history_legend(runs, lines, metric),
        note="Median of each run; the band holds the middle half of its requests. A cross is a "
        "run whose figures are untrusted.",
    )
    _twin("performance_history", performance_history.history_table(runs, metric))


def _distribution(samples: pl.DataFrame, lines: Lines, metric: Metric) -> None:
    st.subheader("Distribution", anchor="distribution")
    points = performance_distribution.reached(samples, metric)
    if points.is_empty():
        st.html(_no_figure(metric))
        return
    _chart(
        performance_distribution.distribution_chart(points, lines, metric),
        key="distribution_chart",
        legend=performance_distribution.distribution_legend(points, lines),
        note="Failed requests count as never: a curve does not rise above the success rate, which "
        "stands in the legend.",
    )
    _twin("distribution", performance_distribution.distribution_table(points, metric))


def _load(rows: pl.DataFrame, lines: Lines) -> None:
    levels = performance_load.load_rows(rows)
    if levels.is_empty():
        return
    st.subheader("Under load", anchor="load")
    throughput, ttft = st.columns(2)
    throughput.vega_lite_chart(
        spec=performance_load.throughput_chart(levels, lines), key="throughput_chart"
    )
    ttft.vega_lite_chart(spec=performance_load.ttft_chart(levels, lines), key="ttft_chart")
    st.html(performance_load.load_legend(levels, lines))
    name = performance_load.percentile_of(levels)
    st.caption(
        f"TTFT at {name}: the highest of p99, p95 and p50 that every point has requests enough "
        "for. The legend names the highest throughput."
    )
    _twin("load", performance_load.load_table(levels))


def _apart(in_window: pl.DataFrame) -> None:
    tables = {
        "Cold starts": performance_apart.cold_starts(in_window),
        "Cached prefixes": performance_apart.cached_prefixes(in_window),
    }
    shown = {title: table for title, table in tables.items() if table is not None}
    if not shown:
        return
    for column, (title, table) in zip(st.columns(2, gap="large"), shown.items(), strict=False):
        column.subheader(title, anchor=title.lower().replace(" ", "-"))
        column.html(table)


def _chart(spec: dict[str, Any], *, key: str, legend: Markup, note: str) -> None:
    st.vega_lite_chart(spec=spec, key=key)
    st.html(legend)
    st.caption(note)


def _twin(key: str, table: pl.DataFrame) -> None:
    twin = st.expander("The chart as a table", key=f"{key}_table", on_change="rerun")
    if twin.open:
        twin.dataframe(table, hide_index=True, alt="The chart as a table")


def _no_figure(metric: Metric) -> Markup:
    return empty(
        f"No {metric.label} here", "No request gave one. Choose another metric or a longer window."
    )


def _not_measured() -> Markup:
    return empty(
        "Not measured yet",
        "Measure it now with ",
        element("code", "tokentape probe"),
        ", or name a file of probes in ",
        element("code", "TOKENTAPE_PROBES_FILE"),
        " to have it measured on schedule.",
    )


def _method() -> Markup:
    return element(
        "div",
        element(
            "p",
            "Each figure comes from streamed requests of our own, timed at the socket: from right "
            "before the last byte of the request went out to the kernel's stamp on the packet "
            "that brought the token. Percentiles are exact over the requests of the window, with "
            "an interval of 95 % confidence, and are left out where too few requests support "
            "them; failed requests enter no latency and are counted beside. The figures hold for "
            "these prompts, this load and the place they were measured from, and are marked "
            "untrusted where the instrument's own error was too large. ",
            page_link("Methodology", "methodology#probes"),
        ),
        class_="tt-notes",
    )
