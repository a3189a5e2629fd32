"""Value: the whole market by what a dollar buys of a score, and the efficient frontier."""

from __future__ import annotations

import math
from functools import partial

import polars as pl
import streamlit as st

from app.components import formatting, score_words, value_scatter, value_table
from app.components.cards import empty, notice
from app.components.live import live
from app.components.markup import element
from app.components.table import Sort
from app.snapshot import Snapshot
from app.views import queries
from app.views.url_state import set_choice, url_selectbox
from pipeline.scores.value import (
    BLEND_3_1,
    CHEAPEST_INPUT,
    LikeForLike,
    PriceBasis,
    Valued,
    cheapest_offers,
    valued,
)

ROWS_PER_PAGE = 50
MOST_PARTS = 10_000
ENDPOINT_COLUMNS = (
    "model_id",
    "provider_name",
    "tier",
    "is_stale",
    "is_free",
    "quantization",
    "context_length",
    "uptime_1d_pct",
    "default_rank",
    "input_usd_per_mtok",
    "output_usd_per_mtok",
)
BASES = {"input": "Cheapest input", "blend": "3:1 blend", "mix": "Own mix"}
BITS = {"any": "Any", "4": "4 bits", "8": "8 bits", "16": "16 bits"}
CONTEXTS = {"any": "Any", "32000": "32k", "128000": "128k", "200000": "200k", "1000000": "1M"}
UPTIMES = {"any": "Any", "95": "95%", "99": "99%", "99.9": "99.9%"}


def show(snapshot: Snapshot) -> None:
    """Show the page."""
    st.title("Value", anchor=False)
    st.html(
        element(
            "p",
            "What a dollar buys: each model's score against the lowest price at which it is "
            "served now.",
            class_="tt-lead",
        )
    )
    names = dict(queries.market_table(snapshot).select("model_id", "model_name").iter_rows())
    scores = queries.model_scores(snapshot).filter(pl.col("model_id").is_in(list(names)))
    if scores.is_empty():
        st.html(
            empty(
                "No scores in this market",
                "OpenRouter lists none for its models. Bring in some of your own with ",
                element("code", "tokentape scores import FILE"),
                ", then ",
                element("code", "tokentape publish"),
                ".",
            )
        )
        return
    ranking(scores, queries.current_endpoints(snapshot), names)


@st.fragment
def ranking(scores: pl.DataFrame, endpoints: pl.DataFrame, names: dict[str, str]) -> None:
    """Show choices, chart and table; a change runs this part only. All state is in the URL."""
    labels = _score_labels(scores)
    with st.container(horizontal=True, vertical_alignment="bottom", key="value_controls"):
        asked = url_selectbox("Score", labels, name="score", width=400)
        basis, basis_label = _basis()
    with st.container(horizontal=True, vertical_alignment="bottom", key="value_filters"):
        like = LikeForLike(
            min_bits=int(_least("Weights at least", BITS, name="bits")),
            min_context=int(_least("Context at least", CONTEXTS, name="least_context")),
            min_uptime_pct=_least("Uptime at least", UPTIMES, name="least_uptime"),
        )
        source, _, metric = asked.partition("/")
        chosen = scores.filter(source=source, metric=metric)
        offers = cheapest_offers(endpoints.select(ENDPOINT_COLUMNS).to_dicts(), basis, like)
        values = valued(chosen.to_dicts(), offers)
        has_value = bool(chosen["has_zero"].all() and chosen["higher_is_better"].all())
        orders = value_table.sort_labels(has_value=has_value)
        sort = Sort(url_selectbox("Sort by", orders, name="order", width=240))
    if not has_value:
        st.html(_no_zero(labels[asked]))
    _chart(values, names, labels[asked], basis_label)
    _table(values, names, sort, orders, basis_label)
    for text in dict.fromkeys(score_words.citation(row) for row in chosen.to_dicts()):
        st.html(text)


def _score_labels(scores: pl.DataFrame) -> dict[str, str]:
    """Return the scores on offer: what most models have first, of equals the composite index."""
    counted = (
        scores.group_by("source", "source_title", "metric")
        .agg(models=pl.col("model_id").n_unique())
        .sort(
            [pl.col("models"), pl.col("metric") == "intelligence_index", "source", "metric"],
            descending=[True, True, False, False],
        )
    )
    return {
        f"{row['source']}/{row['metric']}": f"{row['source_title']}: "
        f"{score_words.metric_label(row['metric'])} ({formatting.plural(row['models'], 'model')})"
        for row in counted.to_dicts()
    }


def _basis() -> tuple[PriceBasis, str]:
    match url_selectbox("Price", BASES, name="basis", width=170):
        case "input":
            return CHEAPEST_INPUT, "input"
        case "blend":
            return BLEND_3_1, "3:1 blend"
    parts = [
        st.number_input(
            label, 0, MOST_PARTS, value=usual, step=1, key=key, bind="query-params", width=120
        )
        for label, key, usual in (("Input parts", "parts_in", 10), ("Output parts", "parts_out", 1))
    ]
    if not any(parts):
        parts = [1, 0]
    return PriceBasis(int(parts[0]), int(parts[1])), f"{parts[0]}:{parts[1]} mix"


def _least(label: str, options: dict[str, str], *, name: str) -> float:
    chosen = url_selectbox(label, options, name=name, width=150)
    return 0 if chosen == "any" else float(chosen)


def _no_zero(label: str) -> str:
    return notice(
        "No points per dollar.",
        f"{label.partition(' (')[0]} has no zero (Elo ratings have none) or counts down, so twice "
        "the number is not twice as good. Price and frontier still compare.",
    )


def _chart(values: list[Valued], names: dict[str, str], label: str, basis: str) -> None:
    st.header("Score against price", anchor="frontier")
    drawn = value_scatter.priced(values)
    if not drawn:
        st.html(empty("No model has a price", "Take a filter away, or choose another price."))
        return
    title = label.partition(" (")[0]
    spec = value_scatter.value_scatter(drawn, names, score_label=title, basis=basis)
    st.vega_lite_chart(spec=spec, key="value_scatter")
    st.html(value_scatter.scatter_legend(values, names))
    twin = st.expander("The chart as a table", key="value_chart_table", on_change="rerun")
    if twin.open:
        twin.dataframe(
            value_scatter.scatter_table(drawn, names, basis),
            hide_index=True,
            alt="Score against price as a table",
        )


def _table(
    values: list[Valued], names: dict[str, str], sort: Sort, orders: dict[str, str], basis: str
) -> None:
    st.header("Ranking", anchor="ranking")
    priced = sum(1 for each in values if each.offer is not None)
    hits = f"{formatting.plural(len(values), 'score')}, {priced} with a price or free"
    st.html(element("p", hits, class_="tt-hits", role="status"))
    pages = math.ceil(len(values) / ROWS_PER_PAGE)
    number = min(st.session_state.get("value_page", 1), pages)
    first = (number - 1) * ROWS_PER_PAGE
    ordered = value_table.sorted_values(values, names, sort)
    live(
        value_table.value_table(
            ordered[first : first + ROWS_PER_PAGE],
            names,
            sort,
            first_rank=first + 1,
            basis=basis,
        ),
        key="value_table",
        on_sort=partial(set_choice, orders, "order"),
    )
    if pages > 1:
        st.pagination(pages, key="value_page", bind="query-params")


if current := queries.current_snapshot():
    show(current)
