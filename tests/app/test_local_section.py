"""The section "Run it locally" as a page shows it: what is known, chosen, typed and wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from html_tables import cells
from opened_page import html, rerun, text
from shown_market import LLAMA
from streamlit.testing.v1 import AppTest

from pipeline.settings import current_settings

Open = Callable[..., AppTest]

CONFIG = json.dumps(
    {
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "hidden_size": 4096,
    }
)
KNOWN = {"params_total_b": "8.03", "config_json": CONFIG, "context_length": 131_072}


def section(model_id: str, stated: dict[str, object]) -> None:
    from app.views import queries  # noqa: PLC0415 - runs as a script of its own
    from app.views.local import local  # noqa: PLC0415

    snapshot = queries.current_snapshot()
    assert snapshot is not None
    facts = queries.model_facts(snapshot, model_id)
    assert facts is not None
    unknown = dict.fromkeys(("params_total_b", "params_active_b", "config_json", "gguf_files_json"))
    local(snapshot, facts | unknown | stated)


@pytest.fixture
def open_section(app_settings: None) -> Open:
    """Show the section of Llama with stated facts and query parameters."""

    def opened(stated: dict[str, Any], **parameters: str) -> AppTest:
        page = AppTest.from_function(section, args=(LLAMA, stated), default_timeout=60)
        for name, value in parameters.items():
            page.query_params[name] = value
        return rerun(page)

    return opened


def table(page: AppTest, css_class: str) -> list[list[str]]:
    found = next(item.proto.body for item in page.get("html") if css_class in item.proto.body)
    return [[" ".join(cell.split()) for cell in row] for row in cells(found)]


def kept(page: AppTest) -> dict[str, Any]:
    """Return what the browser is told to remember."""
    notes = [json.loads(item.proto.json) for item in page.get("bidi_component")]
    return next(note for note in notes if "keep" in note)


def test_the_figures_are_those_of_the_parameters_as_shown(open_section: Open) -> None:
    page = open_section(KNOWN)

    fits = {row[0]: row[1:] for row in table(page, "tt-fits")}
    assert len(fits) == 22
    assert fits["Single RTX 4090 (24GB) 24 GB VRAM, 1,008 GB/s"] == [
        "fast 123.2 t/s 105 to 172",
        "fast 69.3 t/s 59 to 97",
        "fast 34.7 t/s 29 to 48",
    ]
    assert html(page).count("<svg") == 22
    assert "8.0 billion parameters" in text(page)
    assert "17.2 GB at 131,072 tokens" in text(page)


def test_a_context_adds_its_kv_cache_everywhere(open_section: Open) -> None:
    page = open_section(KNOWN, local_context="32k")

    assert "A context of 32,768 tokens adds 4.29 GB of KV cache" in text(page)
    # 4.5 + 4.295 GB.
    quants = {row[0].split()[0]: row for row in table(page, "tt-quants")}
    assert quants["Q4_K_M"][1:4] == ["4.5 GB nominal", "8.8 GB", "10 GB"]


def test_a_rig_in_the_address_is_told_at_once_and_not_kept(open_section: Open) -> None:
    page = open_section(KNOWN, rig="2x GeForce RTX 3090 24GB", local_quant="FP16")

    # 0.55 * 1872.4 / 16.002 = 64.36
    assert "in FP16 on 2x GeForce RTX 3090 24GB: fast 64.4 t/s (estimated 55 to 90)" in text(page)
    assert table(page, "tt-fits")[0][0].startswith("2x GeForce RTX 3090 24GB your rig")
    assert kept(page) == {"name": "tokentape.rig", "keep": None, "wanted": False}


def test_a_rig_that_is_chosen_stands_in_the_address_and_is_kept(open_section: Open) -> None:
    page = open_section(KNOWN)
    assert kept(page)["wanted"] is True

    page.selectbox(key="own_machine").set_value("GeForce RTX 3060 12GB")
    rerun(page)
    page.number_input(key="own_count").set_value(3)
    rerun(page)

    assert page.query_params["rig"] == "3x GeForce RTX 3060 12GB"
    assert kept(page)["keep"] == "3x GeForce RTX 3060 12GB"

    page.selectbox(key="own_machine").set_value("none yet")
    rerun(page)

    assert "rig" not in page.query_params
    assert kept(page) == {"name": "tokentape.rig", "keep": "", "wanted": False}


def test_a_rig_can_be_typed(open_section: Open) -> None:
    page = open_section(KNOWN)
    page.selectbox(key="own_machine").set_value("type memory and bandwidth")
    rerun(page)
    page.number_input(key="own_memory").set_value(64)
    rerun(page)
    page.selectbox(key="own_kind").set_value("apple")
    rerun(page)

    assert page.query_params["rig"] == "64GB@1000,apple"
    # 0.60 * 1000 / 4.502 = 133.27
    assert "on 64 GB at 1000 GB/s: fast 133.3 t/s" in text(page)


def test_a_rig_that_is_none_is_no_rig(open_section: Open) -> None:
    page = open_section(
        KNOWN, rig="<script>alert(1)</script>", local_context="9k", local_quant="Q9"
    )

    assert page.selectbox(key="own_machine").value == "none yet"
    assert "<script" not in html(page)


def test_local_or_cloud_names_both_sides_and_what_is_missing(open_section: Open) -> None:
    page = open_section(KNOWN, rig="GeForce RTX 4090 24GB")

    assert "Cloud, $/month" in text(page)
    assert "GeForce RTX 4090 24GB with Q4_K_M" in text(page)
    assert [json.loads(item.proto.spec)["height"] for item in page.get("vega_lite_chart")] == [320]

    page = open_section(KNOWN, rig="Apple M4 Max 64GB")
    assert "No watts are stated for Apple M4 Max 64GB" in text(page)

    page = open_section(KNOWN, rig="GeForce GTX 1060 6GB", local_quant="FP16")
    assert "It does not fit GeForce GTX 1060 6GB comfortably" in text(page)


def test_an_unknown_count_can_be_typed(open_section: Open) -> None:
    page = open_section({})
    assert "Its parameter count is not known" in text(page)

    page.number_input(key=f"local_params_{LLAMA}").set_value(70.6)
    rerun(page)

    assert page.query_params["params"] == "70.6"
    assert "70.6 billion parameters. Its KV cache is not known" in text(page)
    assert "35.3 billion" in text(open_section({}, params="35.3"))
    assert "Its parameter count is not known" in text(open_section({}, params="lots"))


def test_a_mixture_of_experts_is_told(open_section: Open) -> None:
    page = open_section({"params_total_b": "30.5", "params_active_b": "3.3"})
    assert "30.5 billion parameters, 3.3 of them active" in text(page)


def test_a_model_without_published_weights_runs_in_the_cloud_only(open_section: Open) -> None:
    page = open_section({"hugging_face_id": None})
    assert "Its weights are not published" in text(page)


def test_rigs_of_ones_own_stand_among_the_others_and_a_wrong_file_is_told(
    open_section: Open, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rigs = tmp_path / "rigs.csv"
    rigs.write_text("name,kind,memory_gb,bandwidth_gb_per_s\nCellar,vram,48,900\n")
    monkeypatch.setenv("TOKENTAPE_RIGS_FILE", str(rigs))
    current_settings.cache_clear()

    assert "Cellar" in text(open_section(KNOWN))

    rigs.write_text("name,kind,memory_gb,bandwidth_gb_per_s\nCellar,vram,48,fast\n")
    page = open_section(KNOWN)
    assert "Your rigs are left out." in text(page)
    assert "line 2: bandwidth_gb_per_s is 'fast'" in text(page)
    assert len(table(page, "tt-fits")) == 22
