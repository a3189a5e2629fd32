"""Price tiers of an endpoint: when each holds, in words, and what it costs."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from html_tables import cells
from provider_rows import endpoint

from app.components.provider_more import more_row
from app.components.provider_tiers import condition_text, tier_table

DASH = "\u2013"


@pytest.mark.parametrize(
    ("tier", "text"),
    [
        ({"min_prompt_tokens": 200000, "prompt": "1"}, "prompt over 200,000 tokens"),
        ({"utc_start": 1630, "utc_end": 30}, "16:30 to 00:30 UTC"),
        ({"utc_start": 0, "utc_end": 830}, "00:00 to 08:30 UTC"),
        ({"utc_end": 2400, "utc_start": 1600}, "16:00 to 24:00 UTC"),
        ({"utc_days": ["sat", "sun"], "min_prompt_tokens": 5}, "prompt over 5 tokens; on sat, sun"),
        ({"utc_days": 6}, "on 6"),
        ({"prompt": "0.1"}, "always"),
    ],
)
def test_a_condition_is_said_in_words(tier: dict[str, Any], text: str) -> None:
    assert condition_text(tier) == text


def test_the_table_holds_the_listed_prices_and_what_each_tier_changes() -> None:
    tiers = [
        {"min_prompt_tokens": 200000, "prompt": "0.0000025", "completion": "0.000015"},
        {"utc_start": 1630, "utc_end": 30, "prompt": "0.000000625"},
    ]
    shown = tier_table(
        endpoint(
            1,
            "A",
            input_usd_per_mtok=Decimal("1.25"),
            output_usd_per_mtok=Decimal("10"),
            overrides_json=json.dumps(tiers),
        )
    )

    assert shown is not None
    assert [[cell.strip(" \u2007") for cell in row] for row in cells(shown)] == [
        ["listed", "1.25", "10.00", DASH, DASH],
        ["prompt over 200,000 tokens", "2.50", "15.00", DASH, DASH],
        ["16:30 to 00:30 UTC", "0.625", DASH, DASH, DASH],
    ]


def test_an_endpoint_of_one_price_has_no_tiers() -> None:
    assert tier_table(endpoint(1, "A")) is None
    assert "later one counts" not in more_row(endpoint(1, "A"))


def test_the_row_below_says_what_has_no_column() -> None:
    shown = more_row(
        endpoint(
            1,
            "A",
            discount=Decimal("0.5"),
            input_usd_per_mtok=Decimal("0.03"),
            cache_write_usd_per_mtok=Decimal("0.0375"),
            other_prices_json='{"web_search": "0.01"}',
            overrides_json='[{"min_prompt_tokens": 9, "audio": "0.000001"}]',
            reported_ttft_p50_ms=3446.0,
            reported_ttft_p90_ms=7986.0,
            reported_ttft_p99_ms=21556.0,
            status=-2,
            provider_slug="a/b",
        )
    )

    assert "50% discount on an input price of 0.06 $/M" in shown
    assert "0.0375" in shown
    assert "web search 0.01, audio 0.000001 (prompt over 9 tokens)" in shown
    assert "3,446, 7,986, 21,556" in shown
    assert "not normal (-2)" in shown
    assert 'href="https://openrouter.ai/provider/a%2Fb"' in shown


def test_what_is_not_known_is_left_out_of_the_row_below() -> None:
    shown = more_row(endpoint(1, "A"))

    assert "<dd>\u2013</dd>" not in shown
    assert "Based in" not in shown
    assert "own pages" not in shown


def test_only_web_addresses_become_links_and_they_are_not_followed() -> None:
    shown = more_row(
        endpoint(
            1,
            "A",
            privacy_policy_url="https://a.example/privacy?x=1&y=2",
            terms_of_service_url="javascript:alert(1)",
            status_page_url="//a.example/status",
        )
    )

    assert shown.count("<a ") == 1
    assert 'href="https://a.example/privacy?x=1&amp;y=2"' in shown
    assert 'rel="nofollow noopener noreferrer"' in shown
    assert "javascript:" not in shown
    assert "a.example/status" not in shown


def test_hostile_conditions_are_text() -> None:
    hostile = "<img src=x>"
    tiers = json.dumps([{"min_prompt_tokens": hostile, "utc_start": hostile, hostile: hostile}])

    shown = more_row(endpoint(1, hostile, overrides_json=tiers))

    assert "<img" not in shown
    assert "prompt over &lt;img src=x&gt; tokens" in shown


def test_a_price_that_is_no_number_is_a_dash() -> None:
    shown = tier_table(endpoint(1, "A", overrides_json='[{"prompt": "soon"}]'))

    assert shown is not None
    assert cells(shown)[1] == ["always", DASH, DASH, DASH, DASH]
