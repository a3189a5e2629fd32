"""The columns of the provider table: the choice, their cells, the glossary, and subscriptions."""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
from html_tables import cells
from provider_rows import NOW, endpoint, endpoints

from app.components.provider_columns import COLUMNS, NAME, columns_on_offer, usual_keys
from app.components.provider_notes import column_glossary
from app.components.provider_sorting import FIRST_DIRECTIONS
from app.components.provider_table import provider_table

DASH = "\u2013"
METHODOLOGY = Path(__file__).resolve().parents[2] / "docs" / "methodology.md"


def heads(table: str) -> list[str]:
    return [re.sub(r"<[^>]+>", "", head) for head in re.findall(r"<th [^>]*col.*?</th>", table)]


def test_the_columns_are_those_that_are_asked_for_in_their_own_order() -> None:
    frame = endpoints(endpoint(1, "A", headquarters="NL", datacenters=["FI", "US"]))

    shown = provider_table(
        frame, now=NOW, keys=("value", "datacenters", "headquarters", "nonsense")
    )

    assert heads(shown) == ["Provider", "Based in", "Runs in", "Value"]
    assert cells(shown)[0][1:] == ["NL", "FI, US", DASH]


def test_the_usual_columns_are_those_of_every_page_and_the_rest_can_be_chosen() -> None:
    shown = heads(provider_table(endpoints(endpoint(1, "A")), now=NOW))

    assert shown == [
        "Provider",
        "Type",
        "Input $/M",
        "Output $/M",
        "Cache $/M",
        "Tok/s p50",
        "Latency ms p50",
        "Uptime 1 day",
        "Context tokens",
        "Max output tokens",
        "Quant.",
        "Value",
    ]
    on_offer = columns_on_offer(has_probes=False)
    assert on_offer.keys() - set(usual_keys(on_offer.values())) == {
        "cache_write",
        "discount",
        "headquarters",
        "datacenters",
        "policy",
    }
    assert columns_on_offer(has_probes=True).keys() - on_offer.keys() == {
        "our_ttft",
        "our_speed",
        "our_n",
    }


def test_max_output_cache_write_and_discount_have_columns() -> None:
    frame = endpoints(
        endpoint(
            1,
            "A",
            max_completion_tokens=16384,
            cache_write_usd_per_mtok=Decimal("1.875"),
            discount=Decimal("0.125"),
        ),
        endpoint(2, "B", discount=Decimal("-0.05")),
    )

    shown = provider_table(frame, now=NOW, keys=("max_output", "cache_write", "discount"))

    assert [row[1:] for row in cells(shown)] == [
        ["1.875", "12.5", "16,384"],
        [DASH, "\u22125", DASH],
    ]


def test_a_policy_column_links_to_the_providers_own_pages_only() -> None:
    frame = endpoints(
        endpoint(1, "A", privacy_policy_url="https://a.example/p", terms_of_service_url="ftp://a"),
        endpoint(2, "B"),
    )

    shown = provider_table(frame, now=NOW, keys=("policy",))

    assert [row[1] for row in cells(shown)] == ["privacy", DASH]


def test_the_share_of_our_requests_that_were_answered_stands_by_their_number() -> None:
    frame = endpoints(
        endpoint(
            1, "A", probe_n=53, probe_ok_pct=88.25, probe_is_trusted=True, probe_last_at_utc=NOW
        )
    )

    shown = provider_table(frame, now=NOW, keys=("our_n",))

    assert " ".join(cells(shown)[0][1].split()) == "53 88.2% ok, just now"


def test_every_head_explains_itself_in_the_table_and_in_the_glossary() -> None:
    glossary = column_glossary(COLUMNS)
    anchors = {
        head.lower().replace(" ", "-")
        for head in re.findall(r"^#+ (.+)$", METHODOLOGY.read_text(), re.MULTILINE)
    }

    assert NAME.help
    for shown in COLUMNS:
        assert shown.column.help.endswith(".")
        assert shown.method in anchors
    assert glossary.count("<dt>") == len(COLUMNS)
    assert 'href="methodology#prices"' in glossary


def test_every_column_that_sorts_has_an_order() -> None:
    keys = {shown.column.sort_key for shown in COLUMNS if shown.column.sort_key}

    assert keys <= FIRST_DIRECTIONS.keys()


def offers(*rows: dict[str, Any]) -> pl.DataFrame:
    usual = {"model_pattern": "acme/*", "source": "their page", "as_of": date(2026, 11, 1)}
    return pl.DataFrame(
        [usual | {"url": None} | row for row in rows],
        schema_overrides={"usd_per_month": pl.Decimal(18, 6), "url": pl.String},
    )


def test_subscriptions_stand_last_in_every_order_with_their_price_a_month() -> None:
    frame = endpoints(endpoint(1, "A"), endpoint(2, "B"))
    plans = offers(
        {"provider_name": "Zed", "plan": "Max", "usd_per_month": Decimal(100)},
        {"provider_name": "Acme", "plan": "Pro", "usd_per_month": Decimal("9.99")},
    )

    shown = cells(provider_table(frame, now=NOW, keys=("type", "input", "value"), offers=plans))

    assert [row[0].split()[0] for row in shown] == ["A", "B", "Acme", "Zed"]
    assert [row[1:] for row in shown[2:]] == [
        ["Subscription", DASH, "$9.99/mo"],
        ["Subscription", DASH, "$100.00/mo"],
    ]
    assert "their page, 2026-11-01" in " ".join(shown[2][0].split())


def test_a_plan_of_two_patterns_stands_once_and_its_link_is_not_followed() -> None:
    plan = {"provider_name": "Acme", "plan": "Pro", "usd_per_month": Decimal(9)}
    plans = offers(
        plan | {"url": "https://acme.example/plans"}, plan | {"model_pattern": "*", "url": None}
    )

    shown = provider_table(endpoints(endpoint(1, "A")), now=NOW, offers=plans)

    assert len(cells(shown)) == 2
    assert 'href="https://acme.example/plans" target="_blank" rel="nofollow' in shown


def test_a_hostile_subscription_is_text() -> None:
    bad = "<script>alert(1)</script>"
    plans = offers(
        {"provider_name": bad, "plan": bad, "usd_per_month": Decimal(1), "source": bad}
        | {"url": "javascript:alert(1)"}
    )

    shown = provider_table(endpoints(endpoint(1, "A")), now=NOW, offers=plans)

    assert "<script" not in shown
    assert "javascript:" not in shown
