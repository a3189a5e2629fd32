"""The pages Compare and Choose, and the section on a workload, on a published market."""

from __future__ import annotations

import pytest
from opened_page import html, opened, rerun, text
from shown_market import FREE, HOSTILE, LLAMA

from app.views.url_numbers import NumberField, number_of

pytestmark = pytest.mark.usefixtures("app_settings")


def test_choose_asks_for_a_model_first() -> None:
    assert "For which model?" in text(opened("choose", model="no/such<b>"))


def test_choose_ranks_by_our_latency_and_says_whose_figures_it_used() -> None:
    page = opened("choose", model=LLAMA)
    said = text(page)
    # DeepInfra alone has 60 of our requests, and so a p95: 1.4 x 412 ms.
    assert "TTFT p95" in said
    assert "measured by us" in said
    assert "p95 not known; TTFT p50" in said
    assert "Ranked by our own latencies" in said
    assert "flex tier" in said
    assert "not in the last sweep" in said


def test_a_limit_in_the_url_rules_out_and_is_counted() -> None:
    said = text(opened("choose", model=LLAMA, budget="5", ttft="0", speed="0", uptime="any"))
    # 100,000 requests of 700 + 300 cached and 300 out: DeepInfra 2 + 1.2, Novita 2 + 1.5 dollars
    assert "2 endpoints known to meet everything." in said
    assert "cost 4" in said


def test_a_constraint_that_nobody_states_leaves_them_open() -> None:
    said = text(opened("choose", model=LLAMA, bits="8", ttft="0", speed="0"))
    assert "quantization not stated" in said
    assert "not known to" in said


def test_the_fallback_did_not_go_out_with_the_first_and_the_chart_has_a_table_twin() -> None:
    page = opened("choose", model=LLAMA, ttft="0", speed="0", uptime="any", shape="batch")
    said = text(page)
    assert "DeepInfra, with Groq as fallback" in said
    assert "in 40 hours in which both were seen, the first was out in 1, the other in 2" in said

    assert len(page.get("vega_lite_chart")) == 1
    assert [expander.label for expander in page.expander] == ["The chart as a table"]


def test_a_traffic_shape_brings_its_own_usual_values_unless_the_url_says_otherwise() -> None:
    page = opened("choose", model=LLAMA, shape="long", **{"in": "1234"})
    assert page.number_input(key="in_number").value == 1234
    assert page.number_input(key="requests_number").value == 10_000
    page.number_input(key="out_number").set_value(7)
    rerun(page)
    assert page.query_params["out"] == "7"


@pytest.mark.parametrize("wrong", ["", "-5", "1e9", "abc", "99999999999999999999", "\u0663", "101"])
def test_a_number_in_the_url_that_is_none_counts_as_the_usual_one(wrong: str) -> None:
    field = NumberField("Share", most=100, step=5, help="")
    assert number_of(wrong, field, usual=30) == 30
    assert number_of("100", field, usual=30) == 100


def test_compare_takes_its_models_from_the_url_and_passes_over_others() -> None:
    page = opened("compare", models=f"{LLAMA},no/such,{FREE}")
    assert page.multiselect(key="models_choice").value == [LLAMA, FREE]
    said = text(page)
    assert "Meta: Llama 3.1 8B Instruct" in said
    assert "free" in said
    page.multiselect(key="models_choice").set_value([FREE])
    rerun(page)
    assert page.query_params["models"] == FREE


def test_compare_takes_providers_of_a_model_from_the_url() -> None:
    page = opened("compare", compare="providers", model=LLAMA, tags="groq,deepinfra/fp8")
    said = text(page)
    assert "Groq (groq)" in said
    assert "TTFT, ours" in said


def test_compare_without_a_choice_says_what_to_do() -> None:
    assert "Choose two to five models above." in text(opened("compare"))


def test_hostile_texts_are_shown_as_text() -> None:
    pages = (
        opened("choose", model=HOSTILE, ttft="0", speed="0", uptime="any"),
        opened("compare", models=f"{HOSTILE},{LLAMA}"),
        opened("compare", compare="providers", model=HOSTILE, tags="evil"),
    )
    for page in pages:
        shown = html(page)
        assert "&lt;img src=x" in shown or "&lt;script&gt;" in shown
        assert "<img" not in shown
        assert "<script" not in shown
        assert 'href="javascript:' not in shown
