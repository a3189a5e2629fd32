"""The page Value, and where else scores are shown, on a published market."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from html_tables import cells
from opened_page import html, opened, rerun, text
from shown_market import LLAMA, publish_shown_market
from shown_scores import HOSTILE_TEXT
from streamlit.testing.v1 import AppTest

from app.components.score_panel import score_panel
from app.components.score_unmatched import unmatched_names
from app.snapshot import Snapshot, open_snapshot
from pipeline.settings import current_settings

pytestmark = pytest.mark.usefixtures("app_settings")


@pytest.fixture
def snapshot(shown: Path) -> Snapshot:
    found = open_snapshot(shown / "published")
    assert found is not None
    return found


def ranking(page: AppTest) -> list[list[str]]:
    live = [json.loads(item.proto.json)["html"] for item in page.get("bidi_component")]
    return [
        [" ".join(cell.split()) for cell in row]
        for row in cells(next(each for each in live if "tt-value" in each))
    ]


def chart(page: AppTest) -> dict[str, Any]:
    (found,) = (json.loads(item.proto.spec) for item in page.get("vega_lite_chart"))
    return found  # type: ignore[no-any-return]


def test_the_market_is_ranked_by_the_score_that_most_models_have() -> None:
    page = opened("value")
    # 7.6 / 0.02 = 380 and 28 / 7 = 4; the flex endpoint at 0.01 sets no price.
    rows = ranking(page)
    assert [row[1:] for row in rows] == [
        ["7.6 2026-11-20", "0.02 DeepInfra", "380"],
        ["28 2026-11-20", rows[1][2], "4.00"],
        ["3 2026-11-20", "free Acme", "free"],
    ]
    assert rows[0][0].startswith("1. Meta: Llama 3.1 8B Instruct efficient")
    assert "Source: Artificial Analysis." in text(page)
    assert "Licence: ask them." in text(page)


def test_score_basis_filters_and_order_stand_in_the_url() -> None:
    page = opened("value", score="tokentape-reference/general", basis="blend")
    assert ranking(page) == [
        [
            f"1. Meta: Llama 3.1 8B Instruct efficient self reported {LLAMA}",
            "62 2026-11-20",
            "0.025 DeepInfra",
            "2,480",
        ]
    ]
    page.selectbox(key="basis_choice").set_value("input")
    rerun(page)
    assert ranking(page)[0][3] == "3,100"
    assert "basis" not in page.query_params

    mixed = opened(
        "value", score="tokentape-reference/general", basis="mix", parts_in="1", parts_out="1"
    )
    assert ranking(mixed)[0][2:] == ["0.03 DeepInfra", "2,067"]  # 62 / 0.03
    # Only Nebius states 16 bits: 62 / 0.149 = 416.1.
    bits = opened("value", score="tokentape-reference/general", bits="16")
    assert ranking(bits)[0][2:] == ["0.149 Nebius", "416"]
    assert ranking(opened("value", order="-score"))[0][1].startswith("28 ")


def test_a_choice_that_is_none_counts_as_the_usual_one() -> None:
    page = opened("value", score="<b>", basis="x", order="'; drop", parts_in="-4", bits="17")
    assert len(ranking(page)) == 3


def test_a_mix_of_nothing_counts_as_input() -> None:
    page = opened(
        "value", score="tokentape-reference/general", basis="mix", parts_in="0", parts_out="0"
    )
    assert ranking(page)[0][3] == "3,100"


def test_an_elo_rating_has_no_points_per_dollar_but_a_frontier() -> None:
    page = opened("value", score="design-arena/elo.models.code")
    assert "No points per dollar." in text(page)
    assert ranking(page)[0][1:] == ["1,042.5 2026-11-20", "0.02 DeepInfra", "\u2013"]
    assert page.selectbox(key="order_choice").value == "-score"
    assert chart(page)["description"].startswith("Scatter of Design Arena: Elo, models, code")


def test_filters_that_nobody_passes_say_so() -> None:
    page = opened("value", least_context="1000000")
    assert "No model has a price" in text(page)
    assert len(ranking(page)) == 3


def test_text_from_outside_is_text() -> None:
    page = opened("value", score=f"my-eval/{HOSTILE_TEXT}")
    assert "<script" not in html(page)
    assert "alert(9)" in text(page)
    assert "javascript:" not in html(page).replace("x](javascript:", "")


def test_a_market_without_scores_says_how_to_bring_some_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shown_market.insert_scores", lambda _: None)
    publish_shown_market(tmp_path / "published")
    monkeypatch.setenv("TOKENTAPE_DATA_DIR", str(tmp_path))
    current_settings.cache_clear()
    said = text(opened("value"))
    assert "No scores in this market" in said
    assert "tokentape scores import FILE" in said


# ---- the panel of the model page, and the names without a model


def test_the_panel_groups_by_source_and_never_mixes_scales(snapshot: Snapshot) -> None:
    panel = score_panel(snapshot.model_scores(LLAMA), snapshot.score_per_dollar(LLAMA))
    index, elo, reference = panel.split("<section>")[1:]
    assert [cells(part)[0] for part in (elo, reference)] == [
        [
            "Elo, models, code",
            "1,042.5 no zero, no ends",
            "\u2013 the scale has no zero",
            "\u2013 the scale has no zero",
            "2026-11-20",
        ],
        [
            "General  self reported",
            "62 from 0 to 100",
            "3,100 0.02 DeepInfra",
            "2,480 0.025 DeepInfra",
            "2026-11-20",
        ],
    ]
    assert "Source: Artificial Analysis." in index
    assert "Source: Artificial Analysis." not in elo


def test_a_model_without_a_score_says_so(snapshot: Snapshot) -> None:
    nobody = "no/body"
    panel = score_panel(snapshot.model_scores(nobody), snapshot.score_per_dollar(nobody))
    assert "No score of this model" in panel


def test_unmatched_names_are_shown_as_text_or_that_there_are_none(snapshot: Snapshot) -> None:
    names = snapshot.unmatched_names()
    table = unmatched_names(names)
    assert "<script" not in table
    assert cells(table)[1] == [
        "Twin",
        "my-eval",
        "it could be any of a/twin, b/twin",
        "2",
        "2026-11-20",
    ]
    assert "Every name is matched" in unmatched_names(names.filter(pl.lit(value=False)))
