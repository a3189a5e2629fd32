"""Facts of a model from its card and from what is kept by hand, worked out on small tables."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from raw_market import RawMarket, endpoint

from pipeline.building import build
from pipeline.sql_models import load_sql_models

MODELS = load_sql_models()
# What ``model_facts`` is built upon, so that no test has to build all marts.
NEEDED = [
    model
    for model in MODELS
    if model.schema == "staging" or model.name in ("int_hand_kept_facts", "model_facts")
]
MODEL = "acme/small-8b"
REPOSITORY = "Acme/Small-8B"


def market_with(model_id: str = MODEL, **model: Any) -> RawMarket:
    market = RawMarket()
    market.sweep("2026-11-30T06:17", {model_id: [endpoint()]})
    values = {"hugging_face_id": REPOSITORY} | model
    changes = ", ".join(f"{name} = ${name}" for name in values)
    market.database.execute(f"update raw.models set {changes}", values)
    return market


def add_card(market: RawMarket, at: str, **card: Any) -> None:
    instant = datetime.fromisoformat(at).replace(tzinfo=UTC)
    row = {
        "pull_id": f"{instant:%Y%m%dT%H%M%SZ}-00000000",
        "partition_date": instant.date(),
        "observed_at_utc": instant,
        "hugging_face_id": REPOSITORY,
        "outcome": "answered",
    }
    market.insert("raw.model_cards", [row | card])


def keep(market: RawMarket, about: str, subject: str, **facts: str) -> None:
    for field, value in facts.items():
        market.insert(
            "raw.hand_kept_facts",
            [
                {
                    "about": about,
                    "subject": subject,
                    "field": field,
                    "value": value,
                    "source_url": f"https://source.test/{field}",
                    "as_of": date(2026, 11, 1),
                }
            ],
        )


def facts_of(market: RawMarket) -> dict[str, Any]:
    for model in NEEDED:
        build(market.database, model, MODELS)
    (facts,) = market.database.records("select * from marts.model_facts")
    return facts


def test_a_card_gives_size_licence_and_class() -> None:
    market = market_with()
    add_card(
        market,
        "2026-11-30T06:37",
        params_total=8_030_261_248,
        params_basis="safetensors",
        licence="llama3.1",
        is_gated=True,
        tags=["chat"],
        config_json='{"num_hidden_layers":32}',
    )

    facts = facts_of(market)

    wanted = {
        "params_total_b": Decimal("8.030261248"),
        "params_active_b": None,
        "params_basis": "safetensors",
        "licence": "llama3.1",
        "size_class": "consumer",
        "is_gated": True,
        "tags": ["chat"],
        "config_json": '{"num_hidden_layers":32}',
        "hugging_face_url": "https://huggingface.co/Acme/Small-8B",
        "card_outcome": "answered",
        "facts_as_of_utc": datetime(2026, 11, 30, 6, 37, tzinfo=UTC),
    }
    assert {name: facts[name] for name in wanted} == wanted


@pytest.mark.parametrize(
    ("billions", "size_class"),
    [
        ("1.2", "edge"),
        ("3.2", "edge"),
        ("4", "consumer"),
        ("8.0", "consumer"),
        ("35", "enthusiast"),
        ("70.6", "enthusiast"),
        ("200", "premier"),
        ("405", "premier"),
    ],
)
def test_the_classes_of_the_original_page(billions: str, size_class: str) -> None:
    market = market_with()
    total = int(Decimal(billions) * 10**9)
    add_card(market, "2026-11-30T06:37", params_total=total, params_basis="name")

    assert facts_of(market)["size_class"] == size_class


def test_without_a_card_nothing_is_stated() -> None:
    facts = facts_of(market_with(hugging_face_id=None))

    unknown = ("params_total_b", "licence", "size_class", "card_outcome", "hugging_face_url")
    assert [facts[name] for name in (*unknown, "is_gated", "facts_as_of_utc")] == [None] * 7


def test_the_last_answer_stays_when_a_later_pull_has_none() -> None:
    market = market_with()
    add_card(market, "2026-11-01T06:37", licence="mit", config_json='{"head_dim":64}')
    add_card(market, "2026-11-08T06:37", licence="apache-2.0")
    add_card(market, "2026-11-15T06:37", outcome="absent", licence=None)

    facts = facts_of(market)

    assert (facts["licence"], facts["card_outcome"]) == ("apache-2.0", "answered")
    assert facts["config_json"] == '{"head_dim":64}'
    assert facts["facts_as_of_utc"] == datetime(2026, 11, 8, 6, 37, tzinfo=UTC)


def test_what_is_kept_by_hand_of_a_model_goes_before_the_rest() -> None:
    market = market_with(model_id=f"{MODEL}:free", author="acme")
    add_card(
        market,
        "2026-11-30T06:37",
        params_total=20_000_000_000,
        params_basis="name",
        params_active=5_000_000_000,
        params_active_basis="config",
    )
    keep(market, "author", "acme", developer="Acme", origin_country="FR", transparency_url="u://a")
    keep(market, "model", MODEL, params_total_b="20.9", transparency_url="u://m")

    facts = facts_of(market)

    assert (facts["params_total_b"], facts["params_basis"]) == (Decimal("20.9"), "hand")
    assert (facts["params_active_b"], facts["params_active_basis"]) == (Decimal(5), "config")
    assert (facts["developer"], facts["origin_country"]) == ("Acme", "FR")
    assert facts["transparency_url"] == "u://m"
    assert facts["params_source_url"] == "https://source.test/params_total_b"
    assert facts["watermark_statement"] is None


@pytest.mark.parametrize(
    ("name", "developer"),
    [("Acme AI: Small 8B", "Acme AI"), ("Small 8B", "acme"), ("A: B: C", "A")],
)
def test_a_developer_is_called_as_the_name_begins_else_by_its_id(name: str, developer: str) -> None:
    assert facts_of(market_with(model_name=name))["developer"] == developer


@pytest.mark.parametrize("odd", ['"><b>x', "../etc", "a/b/c", "a/b?c=d"])
def test_an_odd_repository_has_no_page(odd: str) -> None:
    assert facts_of(market_with(hugging_face_id=odd))["hugging_face_url"] is None


def test_a_new_card_or_a_changed_fact_makes_the_mart_anew() -> None:
    market = market_with()
    assert facts_of(market)["licence"] is None

    add_card(market, "2026-11-30T06:37", licence="mit")
    assert facts_of(market)["licence"] == "mit"

    keep(market, "author", "acme", developer="Acme")
    assert facts_of(market)["developer"] == "Acme"
    market.database.execute("update raw.hand_kept_facts set value = 'Acme Inc.'")
    assert facts_of(market)["developer"] == "Acme Inc."
