"""Every rule of the contracts, each with a row that breaks it and the words it is told in."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import polars as pl
import pytest
from answered_market import ARRIVED, MODEL, endpoint, model, provider

from pipeline.contracts.endpoints import ENDPOINTS, provider_rules
from pipeline.contracts.models import MODELS
from pipeline.contracts.providers import PROVIDERS
from pipeline.contracts.rules import Contract, ContractError, Finding, Verdict
from pipeline.market.rows import read_endpoint, read_model, read_provider
from pipeline.raw_tables import frame_of

OF_SWEEP = {
    "sweep_id": "20261130T061700Z-00000001",
    "partition_date": date(2026, 11, 30),
    "observed_at_utc": ARRIVED,
}
SOUND: dict[str, tuple[Contract, dict[str, Any]]] = {
    "endpoints": (ENDPOINTS, OF_SWEEP | read_endpoint(endpoint(), MODEL, 1).row),
    "models": (MODELS, OF_SWEEP | read_model(model()).row),
    "providers": (PROVIDERS, OF_SWEEP | read_provider(provider()).row),
}


def judge(table: str, *rows: Mapping[str, Any]) -> Verdict:
    """Hold rows, given as changes to a sound one, against the contract of ``table``."""
    contract, sound = SOUND[table]
    return contract.enforce(frame_of([sound | row for row in rows], contract.columns))


@pytest.mark.parametrize("table", SOUND)
def test_a_sound_row_is_accepted_without_a_word(table: str) -> None:
    verdict = judge(table, {})
    assert verdict.accepted.rows(named=True) == [SOUND[table][1]]
    assert (verdict.refused, verdict.flags) == ([], [])


@pytest.mark.parametrize("table", SOUND)
def test_no_rows_break_no_rule(table: str) -> None:
    verdict = judge(table)
    assert verdict.accepted.height == 0
    assert (verdict.refused, verdict.flags) == ([], [])


ABSURD = "above 10,000 USD/M: input 10000.000001 USD/M, output 0.08 USD/M, "
HARD: list[tuple[str, str, dict[str, Any], str]] = [
    ("endpoints", "name_missing", {"provider_name": " "}, "provider_name ' ', tag 'acme'"),
    ("endpoints", "name_missing", {"tag": ""}, "provider_name 'Acme', tag ''"),
    (
        "endpoints",
        "price_negative",
        {"cache_write_usd_per_token": Decimal("-0.000001"), "pricing_json": "{}"},
        "pricing_json '{}'",
    ),
    (
        "endpoints",
        "price_negative",
        {"other_prices_json": '{"web_search":"-0.01"}', "pricing_json": "{}"},
        "pricing_json '{}'",
    ),
    (
        "endpoints",
        "price_negative",
        {"overrides_json": '[{"min_prompt_tokens":5,"prompt":"-1"}]', "pricing_json": "{}"},
        "pricing_json '{}'",
    ),
    (
        "endpoints",
        "price_absurd",
        {"input_usd_per_token": Decimal("0.010000000001")},
        f"{ABSURD}cache_read not stated, cache_write not stated",
    ),
    ("endpoints", "discount_out_of_range", {"discount": Decimal(1)}, "discount 1"),
    (
        "endpoints",
        "tokens_out_of_range",
        {"context_length": -1},
        "context_length -1, max_completion_tokens 16384, max_prompt_tokens None",
    ),
    (
        "endpoints",
        "tokens_out_of_range",
        {"max_prompt_tokens": 100_000_001},
        "context_length 131072, max_completion_tokens 16384, max_prompt_tokens 100000001",
    ),
    (
        "endpoints",
        "uptime_out_of_range",
        {"uptime_5m_pct": 100.1},
        "uptime_5m_pct 100.1, uptime_30m_pct 99.97, uptime_1d_pct 100.0",
    ),
    (
        "endpoints",
        "uptime_out_of_range",
        {"uptime_1d_pct": -0.5},
        "uptime_5m_pct None, uptime_30m_pct 99.97, uptime_1d_pct -0.5",
    ),
    ("models", "model_id_unusable", {"model_id": "acme/.."}, "model_id 'acme/..'"),
    ("models", "name_missing", {"model_name": ""}, "model_name ''"),
    (
        "models",
        "price_negative",
        {"output_usd_per_token": Decimal(-1), "pricing_json": "{}"},
        "pricing_json '{}'",
    ),
    (
        "models",
        "price_absurd",
        {"input_usd_per_token": Decimal("0.010000000001")},
        f"{ABSURD}cache_read not stated, cache_write not stated",
    ),
    (
        "models",
        "tokens_out_of_range",
        {"context_length": 2**40},
        "context_length 1099511627776, max_completion_tokens 16384",
    ),
    (
        "providers",
        "name_missing",
        {"provider_slug": None},
        "provider_name 'Acme', provider_slug None",
    ),
]


@pytest.mark.parametrize(("table", "rule", "changes", "reason"), HARD)
def test_a_row_that_breaks_a_hard_rule_is_refused_and_harms_no_other(
    table: str, rule: str, changes: dict[str, Any], reason: str
) -> None:
    other = {
        "endpoints": {"tag": "acme/fp8"},
        "models": {"model_id": "acme/other"},
        "providers": {"provider_name": "Other", "provider_slug": "other"},
    }[table]
    verdict = judge(table, changes, other)
    assert verdict.refused == [Finding(0, rule, reason)]
    assert verdict.accepted.rows(named=True) == [SOUND[table][1] | other]
    assert verdict.flags == []


ONCE = {
    "endpoints": "model_id 'acme/small-8b', provider_name 'Acme', tag 'acme', endpoint_ordinal 1",
    "models": "model_id 'acme/small-8b'",
    "providers": "provider_name 'Acme', provider_slug 'acme'",
}


@pytest.mark.parametrize("table", SOUND)
def test_of_rows_with_one_key_the_first_is_kept(table: str) -> None:
    verdict = judge(table, {}, {"observed_at_utc": ARRIVED + timedelta(seconds=1)}, {})
    assert verdict.accepted["observed_at_utc"].to_list() == [ARRIVED]
    assert verdict.refused == [
        Finding(1, "duplicate", ONCE[table]),
        Finding(2, "duplicate", ONCE[table]),
    ]


def test_every_hard_rule_has_a_row_that_breaks_it() -> None:
    tried = {(table, rule) for table, rule, _, _ in HARD} | {(t, "duplicate") for t in SOUND}
    assert tried == {(table, rule) for table, (kept, _) in SOUND.items() for rule in kept.hard}


def test_a_refused_row_names_its_first_broken_rule_and_all_reasons() -> None:
    verdict = judge("endpoints", {"discount": Decimal(2), "tag": "", "status": 7})
    assert verdict.refused == [
        Finding(0, "name_missing", "provider_name 'Acme', tag ''; discount 2")
    ]
    assert verdict.flags == []


HIGH = "above 1,000 USD/M: input 0.05 USD/M, output 1000.000001 USD/M, "
SOFT: list[tuple[str, str, dict[str, Any], str]] = [
    (
        "endpoints",
        "price_high",
        {"output_usd_per_token": Decimal("0.001000000001")},
        f"{HIGH}cache_read not stated, cache_write not stated",
    ),
    (
        "endpoints",
        "cache_read_above_input",
        {"cache_read_usd_per_token": Decimal("0.00000006")},
        "cache_read 0.06 USD/M, input 0.05 USD/M",
    ),
    (
        "endpoints",
        "output_below_input",
        {"output_usd_per_token": Decimal("0.00000004")},
        "output 0.04 USD/M, input 0.05 USD/M",
    ),
    ("endpoints", "context_missing", {"context_length": 0}, "context_length 0"),
    ("endpoints", "context_missing", {"context_length": None}, "context_length None"),
    (
        "endpoints",
        "output_limit_above_context",
        {"max_completion_tokens": 131073},
        "max_completion_tokens 131073, context_length 131072",
    ),
    (
        "endpoints",
        "price_missing",
        {"input_usd_per_token": None},
        "input not stated, output 0.08 USD/M",
    ),
    (
        "endpoints",
        "half_free",
        {"input_usd_per_token": Decimal(0)},
        "input 0 USD/M, output 0.08 USD/M",
    ),
    (
        "endpoints",
        "free_variant_with_price",
        {"model_id": "acme/small-8b:free"},
        "input 0.05 USD/M, output 0.08 USD/M",
    ),
    ("endpoints", "discount_unusual", {"discount": Decimal("-0.1")}, "discount -0.1"),
    ("endpoints", "discount_unusual", {"discount": Decimal("0.96")}, "discount 0.96"),
    ("endpoints", "quantization_unknown", {"quantization": "int2"}, "quantization 'int2'"),
    (
        "endpoints",
        "tag_against_quantization",
        {"tag": "acme/us/bf16"},
        "tag 'acme/us/bf16', quantization 'fp8'",
    ),
    (
        "endpoints",
        "tag_against_quantization",
        {"tag": "acme/fp8", "quantization": None},
        "tag 'acme/fp8', quantization None",
    ),
    ("endpoints", "status_unknown", {"status": -4}, "status -4"),
    (
        "endpoints",
        "status_against_uptime",
        {"uptime_30m_pct": 94.9},
        "status 0, uptime_30m_pct 94.9",
    ),
    (
        "endpoints",
        "status_against_uptime",
        {"status": -2, "uptime_30m_pct": 79.9},
        "status -2, uptime_30m_pct 79.9",
    ),
    (
        "endpoints",
        "status_against_uptime",
        {"status": -5, "uptime_30m_pct": None},
        "status -5, uptime_30m_pct None",
    ),
    (
        "endpoints",
        "uptime_1d_missing",
        {"uptime_1d_pct": None},
        "uptime_1d_pct None, uptime_30m_pct 99.97",
    ),
    (
        "endpoints",
        "measurement_negative",
        {"reported_requests_30m": -1},
        "reported_ttft_p50_ms None, reported_ttft_p75_ms None, reported_ttft_p90_ms None, "
        "reported_ttft_p99_ms None, reported_tokens_per_s_p50 None, "
        "reported_tokens_per_s_p75 None, reported_tokens_per_s_p90 None, "
        "reported_tokens_per_s_p99 None, reported_requests_30m -1",
    ),
    (
        "endpoints",
        "ttft_out_of_order",
        {"reported_ttft_p50_ms": 20.0, "reported_ttft_p75_ms": 10.5},
        "reported_ttft_p50_ms 20.0, reported_ttft_p75_ms 10.5, reported_ttft_p90_ms None, "
        "reported_ttft_p99_ms None",
    ),
    (
        "endpoints",
        "speed_out_of_order",
        {"reported_tokens_per_s_p90": 20.0, "reported_tokens_per_s_p99": 10.0},
        "reported_tokens_per_s_p50 None, reported_tokens_per_s_p75 None, "
        "reported_tokens_per_s_p90 20.0, reported_tokens_per_s_p99 10.0",
    ),
    (
        "models",
        "price_high",
        {"output_usd_per_token": Decimal("0.001000000001")},
        f"{HIGH}cache_read not stated, cache_write not stated",
    ),
    (
        "models",
        "cache_read_above_input",
        {"cache_read_usd_per_token": Decimal("0.00000006")},
        "cache_read 0.06 USD/M, input 0.05 USD/M",
    ),
    (
        "models",
        "output_below_input",
        {"output_usd_per_token": Decimal("0.00000004")},
        "output 0.04 USD/M, input 0.05 USD/M",
    ),
    ("models", "context_missing", {"context_length": 0}, "context_length 0"),
    (
        "models",
        "output_limit_above_context",
        {"max_completion_tokens": 131073},
        "max_completion_tokens 131073, context_length 131072",
    ),
    (
        "models",
        "price_missing",
        {"output_usd_per_token": None},
        "input 0.05 USD/M, output not stated",
    ),
    (
        "models",
        "free_variant_with_price",
        {"variant": "free"},
        "input 0.05 USD/M, output 0.08 USD/M",
    ),
    ("models", "variant_unknown", {"variant": "turbo"}, "variant 'turbo'"),
    (
        "models",
        "modality_unknown",
        {"input_modalities": ["text", "smell"]},
        "input_modalities ['text', 'smell'], output_modalities ['text']",
    ),
    (
        "models",
        "created_in_future",
        {"created_utc": ARRIVED + timedelta(days=1, seconds=1)},
        "created_utc datetime.datetime(2026, 12, 1, 6, 17, 6, tzinfo=zoneinfo.ZoneInfo(key='UTC'))",
    ),
    (
        "models",
        "listed_after_expiration",
        {"expiration_date": date(2026, 11, 29)},
        "expiration_date 2026-11-29",
    ),
    (
        "providers",
        "country_unknown",
        {"headquarters": "Germany"},
        "headquarters 'Germany', datacenters ['US', 'DE']",
    ),
    (
        "providers",
        "country_unknown",
        {"datacenters": ["US", "eu-west"]},
        "headquarters 'US', datacenters ['US', 'eu-west']",
    ),
]


@pytest.mark.parametrize(("table", "rule", "changes", "detail"), SOFT)
def test_a_row_that_breaks_a_soft_rule_is_accepted_and_flagged(
    table: str, rule: str, changes: dict[str, Any], detail: str
) -> None:
    verdict = judge(table, changes)
    assert verdict.flags == [Finding(0, rule, detail)]
    assert verdict.accepted.rows(named=True) == [SOUND[table][1] | changes]
    assert verdict.refused == []


def test_a_slug_that_two_providers_share_is_flagged_at_the_second() -> None:
    verdict = judge("providers", {}, {"provider_name": "Acme Cloud"})
    assert verdict.flags == [
        Finding(1, "slug_repeated", "provider_name 'Acme Cloud', provider_slug 'acme'")
    ]


def test_every_soft_rule_has_a_row_that_breaks_it() -> None:
    tried = {(table, rule) for table, rule, _, _ in SOFT} | {("providers", "slug_repeated")}
    assert tried == {
        (table, rule.name) for table, (contract, _) in SOUND.items() for rule in contract.soft
    }


@pytest.mark.parametrize(
    ("table", "changes"),
    [
        # Edges that the recordings have, or that stand just inside a bound.
        ("endpoints", {"uptime_30m_pct": 95.0, "uptime_1d_pct": 0.9967}),
        ("endpoints", {"status": -2, "uptime_30m_pct": 80.0}),
        ("endpoints", {"status": -5, "uptime_30m_pct": 0.0, "uptime_1d_pct": 0.0}),
        ("endpoints", {"status": None}),
        ("endpoints", {"uptime_30m_pct": None, "uptime_5m_pct": 100.0, "uptime_1d_pct": None}),
        ("endpoints", {"quantization": None}),
        ("endpoints", {"quantization": "unknown", "tag": "acme/us-east5"}),
        ("endpoints", {"tag": "anthropic/2"}),
        ("endpoints", {"discount": Decimal("0.95")}),
        ("endpoints", {"discount": None}),
        ("endpoints", {"max_completion_tokens": None, "max_prompt_tokens": 0}),
        ("endpoints", {"other_prices_json": '{"note":"a:-1"}'}),
        ("models", {"variant": "thinking", "knowledge_cutoff": date(2030, 1, 1)}),
        ("models", {"expiration_date": date(2026, 11, 30)}),
        ("models", {"input_modalities": None, "output_modalities": []}),
        ("models", {"kind": "router", "input_usd_per_token": None, "output_usd_per_token": None}),
        ("providers", {"headquarters": None, "datacenters": None}),
        ("providers", {"datacenters": []}),
    ],
)
def test_what_the_market_really_shows_is_no_surprise(table: str, changes: dict[str, Any]) -> None:
    verdict = judge(table, changes)
    assert (verdict.refused, verdict.flags) == ([], [])


def test_endpoints_are_tied_to_the_provider_list() -> None:
    contract, sound = SOUND["endpoints"]
    rows = [
        sound,
        sound | {"provider_name": "Nobody"},
        sound | {"tag": "other/fp8"},
    ]
    verdict = contract.enforce(
        frame_of(rows, contract.columns), also=provider_rules({"Acme": "acme"})
    )
    assert verdict.flags == [
        Finding(1, "provider_unknown", "provider_name 'Nobody'"),
        Finding(2, "tag_against_provider", "tag 'other/fp8', slug 'acme'"),
    ]


def test_a_frame_of_other_columns_is_a_fault_of_ours() -> None:
    contract, sound = SOUND["providers"]
    frame = frame_of([sound], contract.columns)
    with pytest.raises(ContractError, match="headquarters"):
        contract.enforce(frame.drop("headquarters"))
    with pytest.raises(ContractError, match="extra"):
        contract.enforce(frame.with_columns(extra=pl.lit(1)))
    with pytest.raises(ContractError, match="headquarters"):
        contract.enforce(frame.with_columns(headquarters=pl.lit(1)))


@pytest.mark.parametrize("table", SOUND)
def test_the_pandera_schema_takes_a_sound_frame_as_it_is(table: str) -> None:
    contract, sound = SOUND[table]
    frame = frame_of([sound], contract.columns)
    assert contract.schema.validate(frame, lazy=True).equals(frame)


def test_instants_keep_their_zone() -> None:
    observed = judge("models", {}).accepted["observed_at_utc"].item()
    assert observed == datetime.fromisoformat("2026-11-30T06:17:05+00:00")
