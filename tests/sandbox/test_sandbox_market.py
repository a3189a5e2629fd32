"""The made-up market keeps the shapes and rules that the live API's answers have."""

from __future__ import annotations

import json
import re
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from pipeline.sandbox.market import Market

NOW = datetime(2026, 11, 30, 6, 17, tzinfo=UTC)
MODEL_ID = re.compile(r"^~?[a-z0-9][a-z0-9._-]*/[A-Za-z0-9._-]+(:[a-z]+)?$")
PRICE = re.compile(r"^\d+(\.\d+)?$")
MODEL_KEYS = {
    "id", "canonical_slug", "hugging_face_id", "name", "created", "description", "context_length",
    "architecture", "pricing", "top_provider", "per_request_limits", "supported_parameters",
    "default_parameters", "supported_voices", "knowledge_cutoff", "expiration_date", "links",
}  # fmt: skip
LATER_MODEL_KEYS = {"reasoning", "benchmarks", "alias_target"}
ENDPOINT_KEYS = {
    "name", "model_id", "model_name", "context_length", "pricing", "provider_name", "tag",
    "quantization", "max_completion_tokens", "max_prompt_tokens", "supported_parameters", "status",
    "uptime_last_30m", "uptime_last_5m", "uptime_last_1d", "supports_implicit_caching",
    "latency_last_30m", "throughput_last_30m",
}  # fmt: skip
LATER_ENDPOINT_KEYS = {
    "supports_tool_choice", "supports_voice_cloning", "perf_last_30m_by_workload",
}  # fmt: skip
PRICE_KEYS = {
    "prompt", "completion", "input_cache_read", "input_cache_write", "input_cache_write_1h",
    "web_search", "image", "audio", "input_audio_cache", "internal_reasoning",
}  # fmt: skip


@pytest.fixture(scope="module")
def market() -> Market:
    return Market()


@pytest.fixture(scope="module")
def models(market: Market) -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in market.models(NOW)}


@pytest.fixture(scope="module")
def endpoints(market: Market, models: dict[str, Any]) -> list[dict[str, Any]]:
    answers = [market.endpoints(model_id, NOW, is_authenticated=True) for model_id in models]
    return [row for answer in answers if answer for row in answer["endpoints"]]


def test_the_market_has_the_size_that_was_asked_for(
    market: Market, models: dict[str, Any], endpoints: list[Any]
) -> None:
    assert 55 <= len(models) <= 75
    assert 200 <= len(endpoints) <= 260
    assert 28 <= len(market.providers(NOW)) <= 40


def test_a_model_row_has_the_keys_of_the_live_list(models: dict[str, Any]) -> None:
    for row in models.values():
        assert row.keys() >= MODEL_KEYS
        assert row.keys() <= MODEL_KEYS | LATER_MODEL_KEYS
        assert MODEL_ID.match(row["id"])
        assert row["architecture"].keys() == {
            "modality", "input_modalities", "output_modalities", "tokenizer", "instruct_type",
        }  # fmt: skip
        assert row["top_provider"].keys() == {
            "context_length", "max_completion_tokens", "is_moderated",
        }  # fmt: skip
        assert "discount" not in row["pricing"]
    for key in LATER_MODEL_KEYS:
        assert 0 < sum(key in row for row in models.values()) < len(models)


def test_an_endpoint_row_has_the_keys_of_the_live_answer(endpoints: list[dict[str, Any]]) -> None:
    for row in endpoints:
        assert row.keys() >= ENDPOINT_KEYS
        assert row.keys() <= ENDPOINT_KEYS | LATER_ENDPOINT_KEYS
    for key in LATER_ENDPOINT_KEYS:
        assert 0 < sum(key in row for row in endpoints) < len(endpoints)


def test_prices_are_plain_decimal_texts_and_the_discount_is_a_number(
    endpoints: list[dict[str, Any]],
) -> None:
    for row in endpoints:
        pricing = dict(row["pricing"])
        discount, overrides = pricing.pop("discount"), pricing.pop("overrides", [])
        assert 0 <= discount < 1
        assert {"prompt", "completion"} <= pricing.keys() <= PRICE_KEYS
        conditions = {"min_prompt_tokens", "utc_start", "utc_end"}
        texts = [pricing, *({k: o[k] for k in o.keys() - conditions} for o in overrides)]
        assert all(PRICE.match(text) for prices in texts for text in prices.values())
        cache_read = pricing.get("input_cache_read", "0")
        assert Decimal(cache_read) <= Decimal(pricing["prompt"])
    decimals = [row["pricing"]["prompt"].partition(".")[2] for row in endpoints]
    assert max(map(len, decimals)) == 23


def test_status_follows_from_the_30_minute_uptime(endpoints: list[dict[str, Any]]) -> None:
    for row in endpoints:
        uptime = row["uptime_last_30m"]
        expected = 0 if uptime is None or uptime >= 95 else -2 if uptime >= 80 else -5
        assert row["status"] == expected
    assert Counter(row["status"] for row in endpoints).keys() == {0, -2, -5}


def test_uptimes_are_percentages_and_null_more_often_for_shorter_windows(
    endpoints: list[dict[str, Any]],
) -> None:
    windows = ["uptime_last_5m", "uptime_last_30m", "uptime_last_1d"]
    for row in endpoints:
        assert all(row[key] is None or 0 <= row[key] <= 100 for key in windows)
        if row["uptime_last_1d"] is None:
            assert row["uptime_last_30m"] is None
    nulls = [sum(row[key] is None for row in endpoints) for key in windows]
    assert nulls[0] > nulls[1] > nulls[2] > 0


def test_tags_have_all_the_real_forms(endpoints: list[dict[str, Any]]) -> None:
    tags = {row["tag"] for row in endpoints}
    assert {
        "groq", "deepinfra/fp8", "deepinfra/turbo", "google-vertex/us-east5", "openai/priority",
        "google-vertex/global/flex", "anthropic/2", "anthropic/claude-on-aws",
        "moonshotai/highspeed",
    } <= tags  # fmt: skip
    quantizations = {"fp4", "fp8", "fp16", "bf16", "mxfp4"}
    for row in endpoints:
        suffix = row["tag"].rpartition("/")[2]
        if suffix in quantizations:
            assert row["quantization"] == suffix


def test_only_the_planned_twins_share_model_and_tag(endpoints: list[dict[str, Any]]) -> None:
    keys = Counter((row["model_id"], row["tag"]) for row in endpoints)
    assert {key for key, count in keys.items() if count > 1} == {
        ("qwen/qwen3-235b-a22b-2507", "google-vertex/us-south1"),
        ("google/gemma-4-31b-it", "together"),
        ("moonshotai/kimi-k2-0905", "baseten/fp4"),
    }


def test_every_endpoint_is_served_by_a_listed_provider(
    market: Market, endpoints: list[dict[str, Any]]
) -> None:
    providers = market.providers(NOW)
    assert all(
        row.keys()
        == {
            "name", "slug", "privacy_policy_url", "terms_of_service_url", "status_page_url",
            "headquarters", "datacenters",
        }
        for row in providers
    )  # fmt: skip
    assert {row["provider_name"] for row in endpoints} <= {row["name"] for row in providers}


def test_the_headline_price_is_that_of_the_first_endpoint(
    market: Market, models: dict[str, Any]
) -> None:
    for model_id, row in models.items():
        answer = market.endpoints(model_id, NOW)
        assert answer is not None
        if answer["endpoints"]:
            first = answer["endpoints"][0]
            assert first["tag"].rpartition("/")[2] not in {"flex", "priority"}
            assert row["pricing"]["prompt"] == first["pricing"]["prompt"]
            assert row["top_provider"]["context_length"] == first["context_length"]


def test_routers_aliases_and_an_unserved_model_have_no_endpoints(
    market: Market, models: dict[str, Any]
) -> None:
    answers = {model_id: market.endpoints(model_id, NOW) for model_id in models}
    empty = {model_id for model_id, answer in answers.items() if answer and not answer["endpoints"]}
    aliases = {model_id for model_id in models if model_id.startswith("~")}
    routers = {"openrouter/auto", "openrouter/bodybuilder", "openrouter/free"}
    assert empty == aliases | routers | {"allenai/olmo-3-32b-think"}
    assert models["openrouter/auto"]["pricing"] == {"prompt": "-1", "completion": "-1"}
    assert models["openrouter/free"]["top_provider"]["context_length"] is None
    for alias in aliases:
        target = models[models[alias]["alias_target"]["slug"]]
        assert models[alias]["pricing"] == target["pricing"]


def test_a_free_row_shares_its_slug_with_the_paid_one_and_costs_nothing(
    market: Market, models: dict[str, Any]
) -> None:
    free = [row for row in models.values() if row["id"].endswith(":free")]
    assert len(free) >= 4
    for row in free:
        paid = models[row["id"].removesuffix(":free")]
        assert row["canonical_slug"] == paid["canonical_slug"]
        assert row["links"]["details"] == f"/api/v1/models/{paid['canonical_slug']}/endpoints"
        assert row["pricing"]["prompt"] == row["pricing"]["completion"] == "0"
        answer = market.endpoints(row["id"], NOW)
        assert answer is not None
        assert all(e["model_id"] == row["id"] for e in answer["endpoints"])


def test_latency_and_throughput_need_a_key(market: Market, endpoints: list[dict[str, Any]]) -> None:
    bare = market.endpoints("openai/gpt-oss-120b", NOW)
    assert bare is not None
    for row in bare["endpoints"]:
        assert row["latency_last_30m"] is None
        assert row["throughput_last_30m"] is None
        assert "perf_last_30m_by_workload" not in row
    measured = [row for row in endpoints if row["latency_last_30m"]]
    assert 0.85 < len(measured) / len(endpoints) < 1
    for row in measured:
        for percentiles in (row["latency_last_30m"], row["throughput_last_30m"]):
            assert list(percentiles) == ["p50", "p75", "p90", "p99"]
            assert list(percentiles.values()) == sorted(percentiles.values())


def test_the_same_instant_gives_the_same_bytes_in_any_order_of_calls() -> None:
    instants = [NOW - timedelta(days=days, minutes=7 * days) for days in range(0, 40, 9)]

    def answers(market: Market, order: list[datetime]) -> dict[datetime, str]:
        return {
            at: json.dumps(
                [
                    market.models(at),
                    market.endpoints("z-ai/glm-4.6", at, is_authenticated=True),
                    market.endpoints("openai/gpt-oss-120b", at),
                    market.providers(at),
                ]
            )
            for at in order
        }

    assert answers(Market(), instants) == answers(Market(), instants[::-1])
    assert answers(Market(), instants) != answers(Market(seed=21), instants)


def test_an_instant_may_be_given_in_any_time_zone(market: Market) -> None:
    elsewhere = NOW.astimezone(datetime.fromisoformat("2026-01-01T00:00+09:00").tzinfo)
    assert market.models(elsewhere) == market.models(NOW)
    assert market.endpoints("z-ai/glm-4.6", elsewhere) == market.endpoints("z-ai/glm-4.6", NOW)


def test_the_anchor_day_stands_as_planned_whenever_it_is() -> None:
    later = Market(anchor=date(2027, 3, 5))
    then = datetime(2027, 3, 5, 6, 17, tzinfo=UTC)
    answer = later.endpoints("meta-llama/llama-3.1-8b-instruct", then)
    week_ago = later.endpoints("meta-llama/llama-3.1-8b-instruct", then - timedelta(days=8))
    assert answer is not None
    assert week_ago is not None
    gone = {row["tag"] for row in week_ago["endpoints"]} - {
        row["tag"] for row in answer["endpoints"]
    }
    assert gone == {"together", "fireworks"}


@pytest.mark.parametrize("days_ago", [3650, 400, -300])
def test_the_market_answers_at_instants_far_from_its_story(market: Market, days_ago: int) -> None:
    at = NOW - timedelta(days=days_ago)
    assert len(market.models(at)) > 55
    assert market.endpoints("meta-llama/llama-3.3-70b-instruct", at)
