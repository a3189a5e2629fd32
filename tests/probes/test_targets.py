"""Pinned targets against the list of endpoints: there, gone, or unchecked."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from pipeline.probes.config import DEFAULT_CONFIG, Pin, Price, Target, load_probe_config
from pipeline.probes.prompts import prompts_of
from pipeline.probes.spending import estimate
from pipeline.probes.targets import check_targets, listed_price

MODEL = "openai/gpt-oss-20b"


def target(tag: str | None, model: str = MODEL, **changes: Any) -> Target:
    return Target(
        name=f"{model}@{tag}",
        base_url="https://openrouter.ai/api/v1",
        model=model,
        provider=None if tag is None else Pin(only=(tag,)),
        **changes,
    )


def endpoint(tag: str, provider_name: str, prompt: str, completion: str) -> dict[str, Any]:
    return {
        "tag": tag,
        "provider_name": provider_name,
        "pricing": {"prompt": prompt, "completion": completion},
    }


GROQ = endpoint("groq", "Groq", "0.000000075", "0.0000003")
NOVITA = endpoint("novita/fp4", "Novita", "4e-8", "0.00000015")


def test_a_listed_target_gives_its_provider_and_price() -> None:
    (check,) = check_targets([target("groq")], lambda _: [NOVITA, GROQ])

    assert (check.status, check.provider_name, check.problem) == ("found", "Groq", None)
    assert check.listed_tags == ("novita/fp4", "groq")
    assert check.price == Price(
        input_usd_per_mtok=Decimal("0.075"), output_usd_per_mtok=Decimal("0.3")
    )


def test_a_target_that_is_gone_is_reported_with_the_tags_that_are_there() -> None:
    (check,) = check_targets([target("novita/fp8")], lambda _: [GROQ, NOVITA])

    assert (check.status, check.provider_name, check.price) == ("gone", None, None)
    assert check.problem == (
        "target openai/gpt-oss-20b@novita/fp8: openai/gpt-oss-20b has no endpoint novita/fp8 now; "
        "listed: groq, novita/fp4"
    )


def test_a_model_without_endpoints_has_none_of_its_targets() -> None:
    (check,) = check_targets([target("groq")], lambda _: [])

    assert check.status == "gone"
    assert check.problem is not None
    assert check.problem.endswith("listed: none")


def test_without_a_list_nothing_is_said_to_be_gone() -> None:
    (check,) = check_targets([target("groq")], lambda _: None)

    assert check.status == "unknown"
    assert check.problem is not None
    assert check.problem.endswith(
        "the endpoints of openai/gpt-oss-20b could not be had, groq is unchecked"
    )


def test_only_pinned_targets_are_checked_and_each_model_is_asked_for_once() -> None:
    asked: list[str] = []

    def listing(model_id: str) -> Sequence[dict[str, Any]]:
        asked.append(model_id)
        return [GROQ, NOVITA]

    targets = [target("groq"), target(None), target("novita/fp4"), target("groq", "a/b")]
    checks = check_targets(targets, listing)

    assert [check.target.tag for check in checks] == ["groq", "novita/fp4", "groq"]
    assert asked == [MODEL, "a/b"]


def test_another_provider_under_the_tag_is_a_problem_before_it_spoils_samples() -> None:
    (check,) = check_targets([target("groq", provider_name="GroqCloud")], lambda _: [GROQ])

    assert check.status == "found"
    assert check.problem is not None
    assert "groq is served by Groq, not by GroqCloud" in check.problem


def test_of_twins_under_one_tag_the_dearest_counts() -> None:
    twin = endpoint("groq", "Groq", "0.0000002", "0.0000001")

    (check,) = check_targets([target("groq")], lambda _: [twin, GROQ, twin])

    assert check.price is not None
    assert check.price.output_usd_per_mtok == Decimal("0.3")


@pytest.mark.parametrize(
    "pricing",
    [
        None,
        {},
        {"prompt": "0.1"},
        {"prompt": "-1", "completion": "-1"},
        {"prompt": "free", "completion": "0"},
    ],
)
def test_a_price_that_is_not_stated_is_unknown_not_zero(pricing: Any) -> None:
    assert listed_price({"tag": "a", "pricing": pricing}) is None


def test_a_listed_price_is_exact_and_has_its_cache_price() -> None:
    pricing = {
        "prompt": "0.00000008333333333333333334",
        "completion": "0",
        "input_cache_read": "2.5e-8",
    }

    price = listed_price({"tag": "a", "pricing": pricing})

    assert price is not None
    assert price.input_usd_per_mtok == Decimal("0.08333333333333333334")
    assert price.output_usd_per_mtok == 0
    assert price.cache_read_usd_per_mtok == Decimal("0.025")


@pytest.mark.recorded
def test_the_default_targets_are_found_in_every_recorded_sweep_and_cheap(recordings: Path) -> None:
    config = load_probe_config(DEFAULT_CONFIG)
    (prompts,) = prompts_of(config)
    (prompt,) = prompts.sequence(0)
    sweeps = sorted((recordings / "openrouter" / "mddb-endpoints").glob("*.json.gz"))
    assert sweeps
    for sweep in sweeps:
        rows = json.loads(gzip.decompress(sweep.read_bytes()))["data"]
        lists = {row["modelId"]: row["response"]["data"]["endpoints"] for row in rows}

        checks = check_targets(config.providers, lists.get)

        assert [check.status for check in checks] == ["found"] * 6
        requests = len(config.concurrency) * config.runs + sum(config.concurrency)
        run_usd = sum(
            requests * estimate(prompt, check.price) for check in checks if check.price is not None
        )
        assert 0 < run_usd < Decimal("0.02")
