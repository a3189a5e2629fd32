"""The providers of a model: table, order, filters, columns and downloads; all of it in the URL."""

from __future__ import annotations

from functools import partial
from typing import Any

import polars as pl
import streamlit as st

from app.components import provider_filters as choices
from app.components import provider_table
from app.components.cards import empty, notice
from app.components.formatting import day_text, plural
from app.components.live import live
from app.components.markup import element, joined, model_link
from app.components.model_head import api_note
from app.components.provider_columns import ProviderColumn, columns_on_offer, usual_keys
from app.components.provider_filters import Filters
from app.components.provider_notes import column_glossary, has_probes, reading_notes
from app.components.provider_sorting import sort_labels, sorted_endpoints
from app.components.table import Sort
from app.snapshot import Snapshot
from app.views import frame, queries
from app.views.url_state import forget, set_choice, url_pills, url_segments, url_selectbox

FILTERS = ("min_context", "min_bits", "min_uptime", "region", "hide")


@st.fragment
def providers(snapshot: Snapshot, facts: dict[str, Any], endpoints: pl.DataFrame) -> None:
    """Show the section; a choice runs this part of the page alone."""
    model_id = facts["model_id"]
    offers = queries.offers(snapshot, model_id)
    if endpoints.is_empty() and offers.is_empty():
        st.header("Providers", anchor="providers")
        live(empty("Nobody serves this model", *_why_nobody(facts)), key="nobody")
        return
    orders = sort_labels(has_probes=has_probes(endpoints))
    on_offer = columns_on_offer(has_probes=has_probes(endpoints))
    with st.container(horizontal=True, vertical_alignment="bottom", key="provider_controls"):
        st.header("Providers", anchor="providers")
        sort = Sort(url_selectbox("Sort by", orders, name="sort", width=230))
        with st.popover("Filter"):
            filters = _filters(endpoints)
        with st.popover("Columns"):
            keys = _columns(on_offer)
    shown = choices.filtered(endpoints, filters)
    _what_is_hidden(endpoints, shown, filters)
    if stale_since := provider_table.stale_since(shown):
        st.html(
            notice(
                f"some pricing may be stale \u2013 last verified {day_text(stale_since)}",
                "Stale rows keep their last price and never count as cheapest.",
                tone="warn",
            )
        )
    if shown.is_empty() and offers.is_empty():
        st.html(empty("No endpoint passes the filters", "Ask for less, or reset them."))
    else:
        _table(shown, offers, sort, orders, [on_offer[key] for key in keys])
    st.html(reading_notes(endpoints))
    ordered = sorted_endpoints(shown, sort)["endpoint_id"].to_list()
    _downloads(snapshot, model_id, endpoints, ordered)


def _table(
    shown: pl.DataFrame,
    offers: pl.DataFrame,
    sort: Sort,
    orders: dict[str, str],
    columns: list[ProviderColumn],
) -> None:
    keys = [column.key for column in columns]
    markup = provider_table.provider_table(
        shown, sort, now=frame.utc_now(), keys=keys, offers=offers
    )
    live(
        joined([markup, column_glossary(columns)]),
        key="provider_table",
        on_sort=partial(set_choice, orders, "sort"),
    )


def _filters(endpoints: pl.DataFrame) -> Filters:
    context = url_segments(
        "Context at least, tokens", _same(choices.CONTEXT_STEPS), name=FILTERS[0]
    )
    bits = url_segments("Quantization at least, bits", _same(choices.BITS_STEPS), name=FILTERS[1])
    uptime = url_segments(
        "Uptime at least, % of a day", _same(choices.UPTIME_STEPS), name=FILTERS[2]
    )
    region = url_selectbox(
        "Runs in, or else based in", choices.regions(endpoints), name=FILTERS[3], width=230
    )
    hidden = url_pills("Hide", choices.HIDEABLE, name=FILTERS[4])
    st.caption("An endpoint that does not state what is asked for does not pass.")
    return Filters(
        min_context=choices.CONTEXT_STEPS[context],
        min_bits=choices.BITS_STEPS[bits],
        min_uptime_pct=choices.UPTIME_STEPS[uptime],
        region=region,
        hides_stale="stale" in hidden,
        hides_tiers="tiers" in hidden,
    )


def _same(steps: dict[str, Any]) -> dict[str, str]:
    return {key: key.capitalize() if steps[key] == 0 else key for key in steps}


def _columns(on_offer: dict[str, ProviderColumn]) -> tuple[str, ...]:
    labels = {key: shown.column.label for key, shown in on_offer.items()}
    usual = usual_keys(on_offer.values())
    chosen = url_pills("Columns", labels, name="columns", usual=usual)
    st.button("The usual ones", on_click=forget, args=("columns",), disabled=chosen == usual)
    return chosen


def _what_is_hidden(endpoints: pl.DataFrame, shown: pl.DataFrame, filters: Filters) -> None:
    if filters == Filters():
        return
    by = ", ".join(f"{name} {n}" for name, n in choices.hidden_by(endpoints, filters).items())
    hidden = endpoints.height - shown.height
    text = f"{plural(shown.height, 'endpoint')} of {endpoints.height} shown, {hidden} hidden"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.html(
            element("p", f"{text} ({by})" if by else text, class_="tt-hits", role="status"),
            width="content",
        )
        st.button("Reset filters", on_click=forget, args=FILTERS, type="tertiary")


def _downloads(
    snapshot: Snapshot, model_id: str, endpoints: pl.DataFrame, ordered: list[str]
) -> None:
    name = f"{model_id.replace('/', '_').replace(':', '_')}_providers"
    with st.container(horizontal=True, vertical_alignment="center"):
        _download("CSV", "csv", lambda: snapshot.provider_table_csv(model_id), name)
        _download("JSON", "json", lambda: snapshot.provider_table_json(model_id), name)
        _download(
            "This view",
            "csv",
            lambda: snapshot.provider_table_csv(model_id, ordered),
            f"{name}_view",
        )
        whole = f"CSV and JSON hold {plural(endpoints.height, 'endpoint')} and all columns, as "
        view = f"published; this view, a CSV too, only the {len(ordered)} shown, in their order."
        st.html(element("p", whole + view, class_="tt-notes"), width="content")
    if snapshot.model_file(model_id):
        st.html(api_note(model_id))


def _download(label: str, kind: str, content: Any, name: str) -> None:
    st.download_button(
        label,
        content,
        file_name=f"{name}.{kind}",
        mime={"csv": "text/csv", "json": "application/json"}[kind],
        on_click="ignore",
        key=label.lower().replace(" ", "_"),
    )


def _why_nobody(facts: dict[str, Any]) -> list[str]:
    if facts["kind"] == "router":
        return ["It is a router: it sends each request to another model, at that model's price."]
    if facts["kind"] == "alias" and facts["alias_target"]:
        target = facts["alias_target"]
        return ["It is an alias: the providers are those of ", model_link(target, target), "."]
    return ["No provider was listed in the last 30 days."]
