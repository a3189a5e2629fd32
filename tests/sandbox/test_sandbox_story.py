"""The told history: what changed when, at instants picked by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest

from pipeline.sandbox.market import Market

MARKET = Market()
NOW = datetime(2026, 11, 30, 6, 17, tzinfo=UTC)
LLAMA = "meta-llama/llama-3.1-8b-instruct"


def days_ago(days: int) -> datetime:
    return NOW - timedelta(days=days)


def rows(model_id: str, at: datetime = NOW) -> list[dict[str, Any]]:
    answer = MARKET.endpoints(model_id, at)
    assert answer is not None
    return answer["endpoints"]


def row(model_id: str, tag: str, at: datetime = NOW) -> dict[str, Any]:
    (found,) = [r for r in rows(model_id, at) if r["tag"] == tag]
    return found


def tags(model_id: str, at: datetime = NOW) -> set[str]:
    return {r["tag"] for r in rows(model_id, at)}


def prices(model_id: str, tag: str, at: datetime = NOW) -> tuple[str, str]:
    pricing = row(model_id, tag, at)["pricing"]
    return pricing["prompt"], pricing["completion"]


def model(model_id: str, at: datetime = NOW) -> dict[str, Any]:
    (found,) = [m for m in MARKET.models(at) if m["id"] == model_id]
    return found


def test_llama_has_five_hosts_on_the_anchor_day() -> None:
    listed = [
        (
            r["provider_name"],
            r["pricing"]["prompt"],
            r["pricing"]["completion"],
            r["pricing"].get("input_cache_read"),
            r["context_length"],
            r["quantization"],
        )
        for r in rows(LLAMA)
    ]
    assert listed == [
        ("DeepInfra", "0.00000002", "0.00000004", None, 131072, "fp8"),
        ("Novita", "0.00000002", "0.00000005", None, 16384, "fp8"),
        ("Groq", "0.00000005", "0.00000008", "0.000000025", 131072, "unknown"),
        ("Cloudflare", "0.000000152", "0.000000287", None, 32000, "fp8"),
        ("CoreWeave", "0.00000022", "0.00000022", "0.00000022", 128000, "bf16"),
    ]
    assert all(round(r["uptime_last_1d"], 2) == 100 for r in rows(LLAMA))


def test_together_and_fireworks_left_a_week_ago() -> None:
    assert {"together", "fireworks"} <= tags(LLAMA, days_ago(8))
    assert "together" not in tags(LLAMA, days_ago(7))
    assert "fireworks" in tags(LLAMA, days_ago(7))
    assert "fireworks" not in tags(LLAMA, days_ago(6))
    assert prices(LLAMA, "together", days_ago(8)) == ("0.00000018", "0.00000018")


def test_prices_were_cut_in_two_steps() -> None:
    assert prices(LLAMA, "deepinfra/fp8", days_ago(59)) == ("0.00000003", "0.00000006")
    assert prices(LLAMA, "deepinfra/fp8", days_ago(40)) == ("0.00000002", "0.00000005")
    assert prices(LLAMA, "deepinfra/fp8", days_ago(20)) == ("0.00000002", "0.00000004")


def test_a_price_rose_and_another_rose_by_more_than_five_in_a_day() -> None:
    assert prices("qwen/qwen3-32b", "cerebras", days_ago(14)) == ("0.0000002", "0.0000004")
    assert prices("qwen/qwen3-32b", "cerebras", days_ago(13)) == ("0.0000004", "0.0000008")
    assert prices("z-ai/glm-4.5-air", "novita/fp8", days_ago(10))[0] == "0.00000002"
    assert prices("z-ai/glm-4.5-air", "novita/fp8", days_ago(9))[0] == "0.00000013"


def test_a_cache_price_and_a_smaller_context_came_without_any_other_change() -> None:
    before, after = (row(LLAMA, "groq", days_ago(day))["pricing"] for day in (36, 35))
    assert after == before | {"input_cache_read": "0.000000025"}
    contexts = [row(LLAMA, "novita/fp8", days_ago(day))["context_length"] for day in (31, 30)]
    assert contexts == [131072, 16384]


def test_a_quantization_changed_under_the_same_tag() -> None:
    found = [row("mistralai/mistral-nemo", "novita", days_ago(day)) for day in (27, 26)]
    assert [r["quantization"] for r in found] == ["bf16", "fp8"]


def test_one_provider_renamed_its_tags_overnight_at_unchanged_prices() -> None:
    renamed = [
        "qwen/qwen3-235b-a22b-2507",
        "qwen/qwen3-30b-a3b-instruct-2507",
        "qwen/qwen3-coder",
        "qwen/qwen3-next-80b-a3b-instruct",
        "qwen/qwen2.5-vl-72b-instruct",
    ]
    for model_id in renamed:
        before = row(model_id, "alibaba", days_ago(19))
        after = row(model_id, "alibaba/fp8", days_ago(18))
        assert (before["quantization"], after["quantization"]) == ("unknown", "fp8")
        assert before["pricing"] == after["pricing"]
        assert "alibaba" not in tags(model_id, days_ago(18))
    assert "alibaba" in tags("qwen/qwen3-max")


def test_a_promotion_began_and_ended() -> None:
    found = [
        row("minimax/minimax-m2", "friendli", days_ago(day))["pricing"] for day in (35, 30, 26)
    ]
    assert [p["discount"] for p in found] == [0, 0.5, 0]
    assert [p["prompt"] for p in found] == ["0.00000028", "0.00000014", "0.00000028"]


def test_an_endpoint_went_away_and_came_back() -> None:
    model_id, tag = "openai/gpt-oss-120b", "atlas-cloud/fp8"
    presence = [tag in tags(model_id, days_ago(day)) for day in (53, 52, 46, 45)]
    assert presence == [True, False, False, True]


def test_models_came_and_left() -> None:
    listed = {day: {m["id"] for m in MARKET.models(days_ago(day))} for day in (62, 40, 39, 22, 0)}
    assert "deepseek/deepseek-v4-flash" not in listed[40]
    assert "deepseek/deepseek-v4-flash" in listed[39]
    assert "openai/gpt-3.5-turbo-16k" in listed[62]
    assert "openai/gpt-3.5-turbo-16k" not in listed[40]
    assert "meta-llama/llama-3.1-405b-instruct" in listed[39]
    assert "meta-llama/llama-3.1-405b-instruct" not in listed[0]
    assert MARKET.endpoints("meta-llama/llama-3.1-405b-instruct", NOW) is None
    assert "deepseek/deepseek-r1-0528:free" in listed[22]
    assert "deepseek/deepseek-r1-0528:free" not in listed[0]


def test_the_batch_model_went_and_came_back_at_half_the_price() -> None:
    batch = "openai/gpt-5-mini:batch"
    presence = [MARKET.endpoints(batch, days_ago(day)) is not None for day in (32, 30, 28, 22, 20)]
    assert presence == [False, True, False, False, True]
    assert model(batch)["pricing"]["prompt"] == "0.000000125"
    assert model("openai/gpt-5-mini")["pricing"]["prompt"] == "0.00000025"


def test_an_alias_moved_to_the_new_model_on_its_first_day() -> None:
    alias = "~google/gemini-pro-latest"
    targets = [model(alias, days_ago(day))["alias_target"]["slug"] for day in (14, 13)]
    assert targets == ["google/gemini-2.5-pro", "google/gemini-3-pro-preview"]
    assert model(alias, days_ago(14))["pricing"]["prompt"] == "0.00000125"
    assert model(alias, days_ago(13))["pricing"]["prompt"] == "0.000002"


def test_a_price_was_free_without_a_free_row_and_then_was_not() -> None:
    assert prices("minimax/minimax-m2", "minimax", days_ago(56)) == ("0", "0")
    assert prices("minimax/minimax-m2", "minimax", days_ago(55)) == ("0.000000255", "0.00000102")


def test_tiers_are_half_and_double_the_standard_price() -> None:
    flex = prices("openai/gpt-5.1", "openai/flex")
    priority = prices("openai/gpt-5.1", "openai/priority")
    assert prices("openai/gpt-5.1", "openai") == ("0.00000125", "0.00001")
    assert flex == ("0.000000625", "0.000005")
    assert priority == ("0.0000025", "0.00002")


def test_the_top_price_is_that_of_the_hour_and_the_overrides_tile_the_day() -> None:
    model_id = "deepseek/deepseek-v3.2"
    by_time = {
        clock: row(model_id, "deepseek", datetime(2026, 11, 29, *clock, tzinfo=UTC))["pricing"]
        for clock in ((0, 29), (0, 30), (16, 29), (16, 30))
    }
    assert [p["prompt"] for p in by_time.values()] == [
        "0.00000014", "0.00000028", "0.00000028", "0.00000014",
    ]  # fmt: skip
    windows = [(o["utc_start"], o["utc_end"]) for o in by_time[0, 29]["overrides"]]
    assert windows == [(30, 1630), (1630, 30)]
    assert by_time[0, 29]["overrides"] == by_time[0, 30]["overrides"]


def test_long_prompts_cost_more_by_an_override() -> None:
    pricing = row("google/gemini-2.5-pro", "google-vertex")["pricing"]
    assert pricing["overrides"] == [
        {
            "min_prompt_tokens": 200000,
            "prompt": "0.0000025",
            "completion": "0.000015",
            "input_cache_read": "0.00000025",
        }
    ]
    assert model("google/gemini-2.5-pro")["pricing"]["overrides"] == pricing["overrides"]


def test_the_odd_rows_of_the_live_market_are_there() -> None:
    assert row("qwen/qwen3-coder-30b-a3b-instruct", "amazon-bedrock")["context_length"] == 0
    prompt, completion = prices("meta-llama/llama-guard-3-8b", "cloudflare")
    assert Decimal(completion) < Decimal(prompt)
    assert prices("openrouter/polaris-alpha", "stealth") == ("0", "0")
    assert row("anthropic/claude-sonnet-4.5", "anthropic/claude-on-aws")["provider_name"] == (
        "Amazon Bedrock"
    )
    assert model("openrouter/free")["expiration_date"] == "2098-12-31"
    assert model("anthropic/claude-3.5-haiku")["expiration_date"] == "2026-12-19"
    assert model("anthropic/claude-3.5-haiku", days_ago(43))["expiration_date"] is None


def test_an_outage_lowers_each_window_by_its_share_and_sets_the_status() -> None:
    # 90 % of Groq's requests fail from 18:00 to 23:00; two minutes of that are 2/5 of five minutes.
    two_minutes_in = row(LLAMA, "groq", datetime(2026, 11, 17, 18, 2, tzinfo=UTC))
    assert two_minutes_in["uptime_last_5m"] == pytest.approx(64, abs=0.1)
    assert two_minutes_in["uptime_last_30m"] == pytest.approx(94, abs=0.1)
    assert two_minutes_in["uptime_last_1d"] == pytest.approx(99.875, abs=0.01)
    assert two_minutes_in["status"] == -2
    an_hour_in = row(LLAMA, "groq", datetime(2026, 11, 17, 19, 0, tzinfo=UTC))
    assert an_hour_in["uptime_last_30m"] == pytest.approx(10, abs=0.1)
    assert an_hour_in["status"] == -5
    next_morning = row(LLAMA, "groq", datetime(2026, 11, 18, 6, 17, tzinfo=UTC))
    assert next_morning["uptime_last_1d"] == pytest.approx(81.25, abs=0.01)
    assert next_morning["status"] == 0


def test_every_week_of_the_last_90_days_has_changes_of_price() -> None:
    asked = ["qwen/qwen3-coder", "openai/gpt-oss-120b", "z-ai/glm-4.6", "deepseek/deepseek-v3.2"]

    def market_at(at: datetime) -> dict[tuple[str, str], dict[str, Any]]:
        return {(m, r["tag"]): r["pricing"] for m in asked for r in rows(m, at)}

    for before, after in pairwise(market_at(days_ago(day)) for day in range(91, -1, -7)):
        common = before.keys() & after.keys()
        changed = [key for key in common if before[key] != after[key]]
        assert 2 <= len(changed) < len(common) / 2
