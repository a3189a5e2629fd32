"""The grid of facts: every value with its source, what nobody states says so."""

from __future__ import annotations

import html
import re
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from app.components.countries import country_text
from app.components.model_facts import model_facts, parameters_text
from app.components.model_head import model_head

NOW = datetime(2026, 12, 1, tzinfo=UTC)
LISTED: dict[str, Any] = {
    "model_id": "meta-llama/llama-3.1-8b-instruct",
    "model_name": "Meta: Llama 3.1 8B Instruct",
    "author": "meta-llama",
    "kind": "standard",
    "variant": None,
    "alias_target": None,
    "is_listed": True,
    "is_moderated": False,
    "hugging_face_id": "meta-llama/Llama-3.1-8B-Instruct",
    "context_length": 131072,
    "max_completion_tokens": None,
    "created_utc": datetime(2024, 7, 23, tzinfo=UTC),
    "knowledge_cutoff": date(2023, 12, 31),
    "expiration_date": None,
    "input_modalities": ["text"],
    "output_modalities": ["text"],
    "supported_parameters": ["tools"],
    "tokenizer": "Llama3",
    "first_seen_utc": datetime(2026, 9, 1, tzinfo=UTC),
}
CARD: dict[str, Any] = {
    "card_outcome": "answered",
    "facts_as_of_utc": datetime(2026, 11, 30, 6, 37, tzinfo=UTC),
    "params_total_b": Decimal("8.030261248"),
    "params_basis": "safetensors",
    "licence": "llama3.1",
    "pipeline_tag": "text-generation",
    "tags": ["transformers", "conversational", "license:llama3.1", "text-generation"],
    "hugging_face_url": "https://huggingface.co/meta-llama/Llama-3.1-8B-Instruct",
    "size_class": "consumer",
}
KEPT: dict[str, Any] = {
    "developer": "Meta",
    "origin_country": "US",
    "origin_source_url": "https://www.meta.com/about/",
    "hand_kept_as_of": date(2026, 12, 1),
    "transparency_url": "https://github.com/meta-llama/llama-models",
}


def parsed_facts(grid: str) -> dict[str, tuple[str, str]]:
    """Return value and tooltip of each fact of a grid, by its name."""
    found = {}
    for name, value in re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", grid):
        title = re.search(r'title="(.*?)"', value)
        text = html.unescape(re.sub(r"<[^>]+>", "", value))
        found[html.unescape(name)] = (text, html.unescape(title[1]) if title else "")
    return found


def facts_of(**changes: Any) -> dict[str, tuple[str, str]]:
    """Return the facts of a model with a card, or with changes to it."""
    return parsed_facts(model_facts(LISTED | CARD | KEPT | changes))


def test_facts_of_a_model_with_a_card() -> None:
    facts = facts_of()

    assert {name: text for name, (text, _) in facts.items()} == {
        "Parameters": "8.0B",
        "Context": "131,072 tokens",
        "Longest answer": "not stated",
        "Licence": "llama3.1",
        "Developer": "Meta",
        "Origin": "🇺🇸 United States",
        "Released": "2024-07-23",
        "Knowledge until": "2023-12-31",
        "Goes away": "no date announced",
        "Takes": "text",
        "Gives": "text",
        "Tool calls": "yes",
        "Structured output": "no",
        "Tokenizer": "Llama3",
        "Tags": "text-generation, conversational",
        "Weights": "Hugging Face ↗",
        "Marks in its output": "not stated, transparency documents ↗",
        "In this record since": "2026-09-01",
    }


def test_a_tooltip_says_where_a_fact_comes_from_and_when_it_was_read() -> None:
    facts = facts_of()

    assert facts["Parameters"][1] == (
        "Total counted in the headers of the weights. Hugging Face, read 2026-11-30 06:37 UTC."
    )
    assert facts["Origin"][1] == (
        "Country of the developer, kept by hand: https://www.meta.com/about/, noted 2026-12-01."
    )
    assert facts["Context"][1] == "As OpenRouter lists it."


def test_what_nobody_states_says_so_and_why() -> None:
    facts = parsed_facts(model_facts(LISTED | {"tokenizer": None}))

    assert facts["Parameters"] == (
        "not stated",
        "Its card has not been read yet; `tokentape facts` does so now.",
    )
    for name in ("Licence", "Origin", "Tokenizer", "Tags", "Marks in its output"):
        assert facts[name][0] == "not stated"
    assert facts["Developer"][0] == "meta-llama"


def test_a_closed_model_has_no_weights() -> None:
    facts = facts_of(hugging_face_id=None, licence=None, params_total_b=None)

    assert facts["Weights"][0] == "not published"
    assert facts["Licence"][1] == "Its weights are not published, and OpenRouter does not say."


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"is_gated": True}, "Hugging Face ↗ (on request)"),
        ({"card_outcome": "absent"}, "Hugging Face ↗ (not found there)"),
        ({"hugging_face_url": None}, "meta-llama/Llama-3.1-8B-Instruct"),
    ],
)
def test_weights_say_whether_they_can_be_had(changes: dict[str, Any], text: str) -> None:
    assert facts_of(**changes)["Weights"][0] == text


def test_a_mixture_of_experts_shows_what_works_on_a_token() -> None:
    sizes = {"params_total_b": Decimal("30.532122624"), "params_active_b": Decimal(3)}

    assert parameters_text(sizes) == "30.5B, 3.0B active"
    assert parameters_text({"params_active_b": Decimal(17)}) == "17.0B active"
    assert parameters_text({"params_total_b": Decimal("1026.5")}) == "1,026.5B"
    assert parameters_text({}) is None


def test_a_statement_about_marks_is_shown_with_its_source() -> None:
    facts = facts_of(
        watermark_statement="The developer says that it adds no embedded watermarks",
        watermark_source_url="https://source.test/marks",
    )

    text, source = facts["Marks in its output"]
    assert text.startswith("The developer says that it adds no embedded watermarks, ")
    assert source == "Kept by hand: https://source.test/marks."


def test_text_from_outside_stays_text() -> None:
    hostile = '"><script>alert(1)</script>'

    shown = model_facts(
        LISTED
        | CARD
        | {
            "licence": hostile,
            "licence_url": "javascript:alert(1)",
            "tags": [hostile],
            "developer": hostile,
            "origin_source_url": hostile,
            "origin_country": "US",
            "hugging_face_url": "javascript:alert(2)",
            "transparency_url": "javascript:alert(3)",
        }
    )

    assert "<script" not in shown
    assert "href" not in shown


def test_the_class_by_size_is_a_badge_that_explains_itself() -> None:
    head = model_head(LISTED | CARD, NOW)

    assert "consumer" in head
    assert "below 35 billion parameters" in head
    assert "below" not in model_head(LISTED, NOW)


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("FR", "🇫🇷 France"),
        ("XX", "🇽🇽 XX"),
        ("<b>", "<b>"),
        ("", ""),
    ],
)
def test_a_country_is_flag_and_name(code: str, text: str) -> None:
    assert country_text(code) == text
