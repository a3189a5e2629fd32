"""The pages, run as scripts on a published market: what each shows in every state."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path
from typing import Any

import pytest
import shown_market
from html_tables import cells
from opened_page import html, opened, rerun
from shown_market import ALIAS, FREE, HOSTILE, HOSTILE_NAME, LLAMA, ROUTER, publish_shown_market
from streamlit.testing.v1 import AppTest

from app.views import frame
from pipeline.settings import current_settings

MAIN = Path(__file__).resolve().parents[2] / "app" / "main.py"
DASH = "\u2013"

Open = Callable[..., AppTest]

PUBLIC_API = "https://openrouter.ai/api/v1"


@pytest.fixture
def open_page(app_settings: None) -> Open:
    """Open a view with query parameters; it must run without an exception."""
    return opened


def text(page: AppTest) -> str:
    return re.sub(r"<[^>]+>", " ", html(page))


def charts(page: AppTest) -> list[dict[str, Any]]:
    return [json.loads(item.proto.spec) for item in page.get("vega_lite_chart")]


def measured_names(page: AppTest) -> list[str]:
    """Return who stands in the table of our own figures, in its order."""
    tables = (item.proto.body for item in page.get("html"))
    table = next(table for table in tables if "tt-performance" in table)
    return [row[0].split("  ")[0] for row in cells(table)]


def provider_markup(page: AppTest) -> str:
    found: str = next(
        json.loads(item.proto.json)["html"]
        for item in page.get("bidi_component")
        if "tt-providers" in item.proto.json
    )
    return found


def provider_names(page: AppTest) -> list[str]:
    return [row[0].split("  ")[0] for row in cells(provider_markup(page))]


# ---- every page


@pytest.mark.parametrize("view", ["home", "models", "model", "data", "methodology", "health"])
def test_every_page_says_how_old_its_data_is_and_that_it_is_demo_data(
    open_page: Open, view: str
) -> None:
    page = open_page(view)

    assert "refreshed 3 hours ago" in text(page)
    assert "DEMO DATA" in text(page)
    assert "Prices are list prices in US dollars per million tokens" in text(page)


@pytest.mark.parametrize("view", ["home", "models", "model", "data", "methodology", "health"])
def test_before_the_first_sweep_every_page_names_the_commands_that_fill_it(
    open_page: Open, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, view: str
) -> None:
    monkeypatch.setenv("TOKENTAPE_DATA_DIR", str(tmp_path))
    current_settings.cache_clear()

    page = open_page(view)

    assert "No market data yet" in text(page)
    assert "tokentape sync" in text(page)
    assert "make demo" in text(page)


def test_the_status_line_names_the_source_that_was_asked() -> None:
    manifest = {"market": "live", "as_of_utc": "2026-11-29T06:17:00Z"}
    now = datetime(2026, 11, 29, 7, tzinfo=UTC)
    assert "source: OpenRouter public API" in frame.status_line(manifest, PUBLIC_API, now)
    other = "http://127.0.0.1:8080/api/v1"
    assert f"source: {other}" in frame.status_line(manifest, other, now)


def test_the_status_line_says_when_a_sweep_is_overdue() -> None:
    manifest = {"market": "live", "as_of_utc": "2026-11-30T06:17:00Z"}
    day_after = datetime(2026, 12, 1, 6, 0, tzinfo=UTC)

    assert "overdue" not in frame.status_line(manifest, PUBLIC_API, day_after)
    assert "overdue" in frame.status_line(manifest, PUBLIC_API, day_after + timedelta(hours=7))


def test_a_damaged_snapshot_is_named_with_its_remedy(
    open_page: Open, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    publish_shown_market(tmp_path / "published")
    (tmp_path / "published" / "current" / "manifest.json").write_text("{")
    monkeypatch.setenv("TOKENTAPE_DATA_DIR", str(tmp_path))
    current_settings.cache_clear()

    page = open_page("models")

    assert "The data cannot be read" in text(page)
    assert "tokentape publish" in text(page)


def test_live_data_carries_no_demo_banner_and_names_its_source(
    open_page: Open, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    publish_shown_market(tmp_path / "published", market="live")
    monkeypatch.setenv("TOKENTAPE_DATA_DIR", str(tmp_path))
    current_settings.cache_clear()

    page = open_page("home")

    assert "DEMO" not in text(page)
    assert "source: OpenRouter public API" in text(page)


def test_a_new_snapshot_is_shown_at_the_next_run(
    open_page: Open, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    publish_shown_market(tmp_path / "published")
    monkeypatch.setenv("TOKENTAPE_DATA_DIR", str(tmp_path))
    current_settings.cache_clear()
    page = open_page("models")
    assert "DEMO" in text(page)

    publish_shown_market(tmp_path / "published", market="live")
    rerun(page)

    assert "DEMO" not in text(page)


def test_the_charts_need_no_altair(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)  # importing it would fail

    page = open_page("model", model=LLAMA)

    assert len(charts(page)) == 6


# ---- Home and Models


def test_home_sums_up_the_market_and_lists_the_latest_changes(open_page: Open) -> None:
    page = open_page("home")

    assert 'aria-label="Market at a glance"' in html(page)
    assert f'href="model?model={LLAMA}"' in html(page)
    assert "input 0.03 \u2192 0.02 (\u221233%)" in text(page)


def test_home_shows_one_kind_of_change_only_when_asked(open_page: Open) -> None:
    page = open_page("home", changes="dearer")

    assert "Nothing yet" in text(page)


def test_the_index_searches_filters_and_counts(open_page: Open) -> None:
    page = open_page("models", q="llama 8b")
    assert "1 of 5 models" in text(page)

    page.text_input[0].set_value("no such model")
    rerun(page)
    assert "No model matches" in text(page)


def test_the_index_takes_its_order_from_the_url(open_page: Open) -> None:
    page = open_page("models", order="-input")

    assert page.selectbox(key="order_choice").value == "-input"
    hostile, llama = (html(page).index(f"model?model={name}") for name in (HOSTILE, LLAMA))
    assert hostile < llama


# ---- Model


def test_the_model_page_shows_its_endpoints_in_default_order(open_page: Open) -> None:
    page = open_page("model", model=LLAMA)

    assert "<h1>Meta: Llama 3.1 8B Instruct</h1>" in html(page)
    assert provider_names(page) == [
        endpoint["provider_name"] for endpoint in shown_market.LLAMA_ENDPOINTS
    ]
    assert f"some pricing may be stale {DASH} last verified 2026-10-24" in text(page)
    assert "0.152" in text(page)
    assert "0.149" in text(page)
    assert 'href="https://huggingface.co/meta-llama/Llama-3.1-8B-Instruct"' in html(page)


def test_the_model_page_states_the_facts_and_what_nobody_states(open_page: Open) -> None:
    page = text(open_page("model", model=LLAMA))

    for stated in ("8.0B", "llama3.1", "United States", "consumer", "(on request)"):
        assert stated in page
    assert "not stated" in page


def test_the_sort_of_the_providers_stands_in_the_url(open_page: Open) -> None:
    page = open_page("model", model=LLAMA, sort="-input")
    assert provider_names(page)[:2] == ["Together", "Cloudflare"]

    page.selectbox(key="sort_choice").set_value("input")
    rerun(page)

    assert provider_names(page)[0] == "Google Vertex"
    assert page.query_params["sort"] == "input"


def test_a_sort_that_is_none_counts_as_the_default(open_page: Open) -> None:
    page = open_page("model", model=LLAMA, sort="'; drop table")

    assert provider_names(page)[0] == "DeepInfra"


def test_the_chart_follows_the_switches_in_the_url(open_page: Open) -> None:
    page = open_page("model", model=LLAMA, price="output", range="30d")

    steps = [chart["description"] for chart in charts(page) if "Step" in chart["description"]]
    assert len(steps) == 1
    assert steps[0].startswith(
        "Step chart of the output price in USD per million tokens over the last 30d."
    )


def test_a_price_that_nobody_states_is_said_to_be_missing(open_page: Open) -> None:
    page = open_page("model", model=FREE, price="cache")

    assert "No cache price in this time" in text(page)


def test_the_performance_section_shows_our_figures_best_first(open_page: Open) -> None:
    page = open_page("model", model=LLAMA)

    assert measured_names(page) == ["groq direct", "Groq", "Nebius", "Novita", "DeepInfra"]
    assert "Nebius is untrusted: the instrument's own TTFT error was 9.37 ms" in unescape(
        text(page)
    )
    told = [chart["description"].partition(" ")[0] for chart in charts(page)]
    assert told[:5] == ["Line", "Curves", "All", "TTFT", "Step"]
    headings = [heading.value for heading in page.subheader]
    assert headings[headings.index("Over time") :][:6] == [
        "Over time",
        "Distribution",
        "Under load",
        "Failures",
        "Cold starts",
        "Cached prefixes",
    ]


def test_a_provider_has_one_colour_in_all_charts(open_page: Open) -> None:
    colors: dict[str, set[str]] = {}
    for chart in charts(open_page("model", model=LLAMA)):
        # The chart of costs at home and in the cloud has no providers.
        scale = chart["layer"][-1]["encoding"].get("color", {}).get("scale")
        if scale is None:
            continue
        for label, color in zip(scale["domain"], scale["range"], strict=True):
            colors.setdefault(label, set()).add(color)

    assert {label: len(found) for label, found in colors.items()} == dict.fromkeys(colors, 1)
    assert {"Groq", "groq direct"} < colors.keys()


def test_the_performance_section_follows_the_url(open_page: Open) -> None:
    page = open_page("model", model=LLAMA, window="14d", concurrency="4", metric="speed")

    assert measured_names(page) == ["groq direct", "Groq", "Novita", "DeepInfra"]
    assert charts(page)[0]["description"].startswith("Line chart of the median Decode speed")

    page.selectbox(key="concurrency_choice").set_value("16")
    rerun(page)
    assert measured_names(page) == ["Groq", "DeepInfra"]
    assert page.query_params["concurrency"] == "16"


def test_a_choice_that_was_not_measured_counts_as_the_usual_one(open_page: Open) -> None:
    page = open_page(
        "model", model=LLAMA, window="1y", prompts="10k_in", concurrency="3", metric="<b>"
    )

    assert page.selectbox(key="prompts_choice").value == "short_chat"
    assert page.selectbox(key="concurrency_choice").value == "1"
    assert charts(page)[0]["description"].startswith("Line chart of the median TTFT")


def test_a_model_that_was_not_measured_says_how_to_measure_it(open_page: Open) -> None:
    page = open_page("model", model=FREE)

    assert "Not measured yet" in text(page)
    assert "tokentape probe" in text(page)
    assert "TOKENTAPE_PROBES_FILE" in text(page)
    assert "Our TTFT" not in text(page)
    assert "-our_ttft" not in page.selectbox(key="sort_choice").options


def test_our_figures_sort_the_providers(open_page: Open) -> None:
    page = open_page("model", model=LLAMA, sort="our_ttft")

    assert provider_names(page)[:4] == ["Groq", "Nebius", "Novita", "DeepInfra"]


def test_a_free_model_is_free(open_page: Open) -> None:
    page = open_page("model", model=FREE)

    row = cells(provider_markup(page))[0]
    assert "free" in row
    assert "cheapest" not in [item.strip() for item in row]


def test_an_unknown_model_is_met_with_suggestions(open_page: Open) -> None:
    page = open_page("model", model="meta-lama/lama-3.1-8b<b>")

    assert page.title[0].value == "Model not found"
    assert "meta-lama/lama-3.1-8b&lt;b&gt;" in html(page)
    assert f'href="model?model={LLAMA}"' in html(page)


def test_without_a_model_the_page_offers_all(open_page: Open) -> None:
    page = open_page("model")

    assert page.title[0].value == "Which model?"
    assert len(page.selectbox[0].options) == 5


def test_a_router_and_an_alias_say_why_nobody_serves_them(open_page: Open) -> None:
    assert "It is a router" in text(open_page("model", model=ROUTER))

    alias = open_page("model", model=ALIAS)
    assert "It is an alias" in text(alias)
    assert f'href="model?model={LLAMA}"' in html(alias)


def test_hostile_texts_are_shown_as_text_on_every_page(open_page: Open) -> None:
    for page in (
        open_page("models"),
        open_page("model", model=HOSTILE),
        open_page("health"),
    ):
        assert "<script" not in html(page)
        assert "<img" not in html(page)
        assert "<b>b" not in html(page)
        assert "javascript:" not in re.findall(r'href="([^"]*)', html(page))
    model = open_page("model", model=HOSTILE)
    assert HOSTILE_NAME not in [item.value for item in model.markdown]
    assert "&lt;script&gt;alert(1)&lt;/script&gt; **bold**" in html(model)


# ---- Methodology, Data and Health


def test_the_methodology_is_the_document(open_page: Open) -> None:
    page = open_page("methodology")

    document = MAIN.parents[1] / "docs" / "methodology.md"
    assert [item.value for item in page.markdown] == [document.read_text().strip()]
    assert 'href="methodology#probes"' in html(open_page("model", model=LLAMA))


def test_data_links_every_table_and_shows_code_that_reads_it(open_page: Open) -> None:
    page = open_page("data")

    assert 'href="/data/price_history.parquet"' in html(page)
    assert 'href="/data/provider_table.csv.gz"' in html(page)
    assert 'href="/data/tokentape.duckdb"' in html(page)
    assert 'href="/data/schema/market_table.json"' in html(page)
    assert len(page.code) == 3


def test_health_shows_the_last_sweep_the_checks_and_what_was_refused(open_page: Open) -> None:
    shown = text(open_page("health"))

    assert "partial, took 41 s" in shown
    assert "66.7%" in shown
    assert "2 of 3 models answered" in shown
    assert "input price is -3" in shown
    assert "cache read 0.06, input 0.05" in shown
