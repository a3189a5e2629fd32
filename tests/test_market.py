"""From landed answers to frames: which answer counts, what a row holds, where bad data goes."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from answered_market import (
    ARRIVED,
    FINISHED,
    MODEL,
    answer,
    endpoint,
    endpoints_answer,
    manifest,
    model,
    models_answer,
    provider,
    providers_answer,
    read,
    sweep,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pipeline
from pipeline.duck import Database
from pipeline.landing import RequestFailure
from pipeline.market import MarketBatch, read_market
from pipeline.warehouse import RAW_TABLES

RAW_SCHEMA = Path(pipeline.__file__).with_name("raw_schema.sql").read_text()


def frames(batch: MarketBatch) -> dict[str, pl.DataFrame]:
    return {table: getattr(batch, "sweep" if table == "sweeps" else table) for table in RAW_TABLES}


def only(frame: pl.DataFrame) -> dict[str, Any]:
    assert frame.height == 1
    return frame.row(0, named=True)


def coverage(batch: MarketBatch) -> dict[str, tuple[str, str | None]]:
    return {
        row["model_id"]: (row["outcome"], row["reason"])
        for row in batch.model_coverage.rows(named=True)
    }


def quarantined(batch: MarketBatch) -> list[tuple[str, str, str, str]]:
    return batch.quarantine.select("table_name", "row_key", "rule", "reason").rows()


def flagged(batch: MarketBatch) -> list[tuple[str, str, str]]:
    return batch.flags.select("row_key", "rule", "detail").rows()


def test_every_frame_has_the_columns_and_types_of_its_table() -> None:
    database = Database.in_memory()
    database.execute(RAW_SCHEMA)
    batch = read(
        [
            *sweep({MODEL: [endpoint(), endpoint(tag=" ")]}),
            models_answer([model(), model("x"), model("acme/old", expiration_date="2026-01-01")]),
        ]
    )
    for table, frame in frames(batch).items():
        assert frame.height
        database.insert(f"raw.{table}", frame)
        kept = database.frame(f"select * from raw.{table}")
        assert kept.columns == frame.columns, table
        assert [_plain(dtype) for dtype in kept.dtypes] == [_plain(d) for d in frame.dtypes], table
        assert kept.select(pl.struct(pl.all()).hash()).equals(
            frame.cast(dict(kept.schema)).select(pl.struct(pl.all()).hash())
        ), table
    database.close()


def _plain(dtype: pl.DataType) -> str:
    # DuckDB hands instants out in its own name of the same zone.
    return str(dtype).replace("Etc/UTC", "UTC")


def test_an_endpoint_becomes_a_row() -> None:
    batch = read(
        sweep(
            {
                MODEL: [
                    endpoint(
                        pricing={
                            "prompt": "0.00000005",
                            "completion": "0.00000008",
                            "input_cache_read": "0.00000000833333333333333",
                            "input_cache_write": "0.0000001",
                            "web_search": "0.010",
                            "image": "0",
                            "discount": 0.25,
                            "overrides": [{"min_prompt_tokens": 32000, "prompt": "0.0000001"}],
                        },
                        status=-2,
                        uptime_last_5m=82,
                        uptime_last_30m=91.5,
                        latency_last_30m={"p50": 320, "p75": 400.5, "p90": 512, "p99": 2000},
                        throughput_last_30m={"p50": 91, "p75": 100, "p90": 120, "p99": 140},
                        perf_last_30m_by_workload={
                            "text_generation": {
                                "latency": None,
                                "throughput": None,
                                "request_count": 81060,
                            }
                        },
                    )
                ]
            }
        )
    )
    assert only(batch.endpoints) == {
        "sweep_id": "20261130T061700Z-00000001",
        "partition_date": date(2026, 11, 30),
        "observed_at_utc": ARRIVED,
        "model_id": MODEL,
        "provider_name": "Acme",
        "tag": "acme",
        "endpoint_ordinal": 1,
        "list_position": 1,
        "endpoint_name": "Acme | acme/small-8b-20260901",
        "quantization": "fp8",
        "context_length": 131072,
        "max_completion_tokens": 16384,
        "max_prompt_tokens": None,
        "tier": "standard",
        "is_free": False,
        "input_usd_per_token": Decimal("0.00000005"),
        "output_usd_per_token": Decimal("0.00000008"),
        "cache_read_usd_per_token": Decimal("0.00000000833333333333333"),
        "cache_write_usd_per_token": Decimal("0.0000001"),
        "discount": Decimal("0.25"),
        "other_prices_json": '{"web_search":"0.01"}',
        "overrides_json": '[{"min_prompt_tokens":32000,"prompt":"0.0000001"}]',
        "pricing_json": '{"prompt":"0.00000005","completion":"0.00000008",'
        '"input_cache_read":"0.00000000833333333333333","input_cache_write":"0.0000001",'
        '"web_search":"0.010","image":"0","discount":0.25,'
        '"overrides":[{"min_prompt_tokens":32000,"prompt":"0.0000001"}]}',
        "status": -2,
        "uptime_5m_pct": 82.0,
        "uptime_30m_pct": 91.5,
        "uptime_1d_pct": 100.0,
        "reported_ttft_p50_ms": 320.0,
        "reported_ttft_p75_ms": 400.5,
        "reported_ttft_p90_ms": 512.0,
        "reported_ttft_p99_ms": 2000.0,
        "reported_tokens_per_s_p50": 91.0,
        "reported_tokens_per_s_p75": 100.0,
        "reported_tokens_per_s_p90": 120.0,
        "reported_tokens_per_s_p99": 140.0,
        "reported_requests_30m": 81060,
        "supports_implicit_caching": False,
        "supported_parameters": ["max_tokens"],
    }
    assert (quarantined(batch), flagged(batch)) == ([], [])


def test_a_model_becomes_a_row() -> None:
    entry = model(
        "acme/small-8b:free",
        hugging_face_id="",
        pricing={"prompt": "0", "completion": "0", "input_cache_read": None},
        knowledge_cutoff="2026-03-31",
        expiration_date="2026-12-24",
        reasoning={"mandatory": False},
        benchmarks={"artificial_analysis": {"coding_index": 5.4}},
    )
    batch = read([models_answer([entry])])
    assert only(batch.models) == {
        "sweep_id": "20261130T061700Z-00000001",
        "partition_date": date(2026, 11, 30),
        "observed_at_utc": ARRIVED,
        "model_id": "acme/small-8b:free",
        "canonical_slug": "acme/small-8b:free-20260901",
        "author": "acme",
        "variant": "free",
        "kind": "standard",
        "alias_target": None,
        "model_name": "Acme: Small 8B",
        "description": "A small model.",
        "hugging_face_id": None,
        "created_utc": datetime(2026, 9, 1, tzinfo=UTC),
        "context_length": 131072,
        "max_completion_tokens": 16384,
        "is_moderated": False,
        "modality": "text->text",
        "input_modalities": ["text"],
        "output_modalities": ["text"],
        "tokenizer": "Other",
        "instruct_type": None,
        "supported_parameters": ["max_tokens", "temperature"],
        "knowledge_cutoff": date(2026, 3, 31),
        "expiration_date": date(2026, 12, 24),
        "input_usd_per_token": Decimal(0),
        "output_usd_per_token": Decimal(0),
        "cache_read_usd_per_token": None,
        "cache_write_usd_per_token": None,
        "pricing_json": '{"prompt":"0","completion":"0","input_cache_read":null}',
        "reasoning_json": '{"mandatory":false}',
        "benchmarks_json": '{"artificial_analysis":{"coding_index":5.4}}',
    }


def test_a_provider_becomes_a_row() -> None:
    batch = read([models_answer([model()]), providers_answer([provider(headquarters=None)])])
    assert only(batch.providers.drop("sweep_id", "partition_date")) == {
        "observed_at_utc": ARRIVED,
        "provider_name": "Acme",
        "provider_slug": "acme",
        "headquarters": None,
        "datacenters": ["US", "DE"],
        "privacy_policy_url": "https://acme.example/privacy",
        "terms_of_service_url": None,
        "status_page_url": None,
    }


def test_a_router_states_no_price_and_an_alias_names_its_target() -> None:
    router = model("openrouter/auto", pricing={"prompt": "-1", "completion": "-1"})
    alias = model("~acme/small-latest", alias_target={"slug": MODEL, "name": "Acme: Small 8B"})
    batch = read([models_answer([router, alias])])
    rows = batch.models.select(
        "kind", "author", "alias_target", "input_usd_per_token", "output_usd_per_token"
    ).rows()
    assert rows == [
        ("router", "openrouter", None, None, None),
        ("alias", "acme", MODEL, Decimal("0.00000005"), Decimal("0.00000008")),
    ]
    assert coverage(batch) == {
        "openrouter/auto": ("not_asked", "router: has no endpoints of its own"),
        "~acme/small-latest": ("not_asked", "alias: has no endpoints of its own"),
    }
    assert only(batch.sweep)["status"] == "complete"
    assert (quarantined(batch), flagged(batch)) == ([], [])


def test_a_free_router_states_that_it_is_free() -> None:
    limits = {"context_length": None, "max_completion_tokens": None, "is_moderated": False}
    free = model("openrouter/free", top_provider=limits, pricing={"prompt": "0", "completion": "0"})
    row = only(read([models_answer([free])]).models)
    assert (row["kind"], row["input_usd_per_token"]) == ("router", Decimal(0))


@pytest.mark.parametrize(
    ("prices", "is_free"),
    [
        ({"prompt": "0", "completion": "0"}, True),
        ({"prompt": "0.0", "completion": 0}, True),
        ({"prompt": "0", "completion": "0.0000001"}, False),
        ({"prompt": "0"}, False),
        ({}, False),
    ],
)
def test_free_is_a_price_of_exactly_zero_on_both_sides(
    prices: dict[str, Any], is_free: bool
) -> None:
    batch = read(sweep({MODEL: [endpoint(pricing=prices)]}))
    assert only(batch.endpoints)["is_free"] is is_free


@pytest.mark.parametrize(
    ("model_id", "tag", "tier"),
    [
        (MODEL, "acme", "standard"),
        (MODEL, "acme/turbo", "standard"),
        (MODEL, "acme/global/flex", "flex"),
        (MODEL, "acme/priority", "priority"),
        ("acme/small-8b:batch", "acme", "batch"),
        ("acme/small-8b:batch", "acme/flex", "flex"),
    ],
)
def test_the_tier_is_in_the_tag_or_in_the_variant(model_id: str, tag: str, tier: str) -> None:
    batch = read(sweep({model_id: [endpoint(tag=tag, model_id=model_id)]}))
    assert only(batch.endpoints)["tier"] == tier


def test_twins_are_numbered_by_what_they_offer_not_by_their_place() -> None:
    small = endpoint(context_length=32000, max_completion_tokens=None)
    large = endpoint(context_length=262144)
    dear = endpoint(
        context_length=262144,
        pricing={"prompt": "0.00000006", "completion": "0.00000008", "discount": 0},
    )
    other = endpoint(tag="acme/fast")
    for order in ([small, large, dear, other], [other, dear, large, small]):
        rows = read(sweep({MODEL: order})).endpoints.rows(named=True)
        assert {
            (row["endpoint_ordinal"], row["tag"], row["context_length"], row["pricing_json"][11:21])
            for row in rows
        } == {
            (1, "acme", 32000, "0.00000005"),
            (2, "acme", 262144, "0.00000005"),
            (3, "acme", 262144, "0.00000006"),
            (1, "acme/fast", 131072, "0.00000005"),
        }
        assert [row["list_position"] for row in rows] == [1, 2, 3, 4]


def test_twins_without_limits_come_last_and_equal_ones_by_their_place() -> None:
    offers = [endpoint(quantization=None), endpoint(), endpoint(), endpoint(quantization="")]
    rows = read(sweep({MODEL: offers})).endpoints
    assert rows["endpoint_ordinal"].to_list() == [4, 2, 3, 1]


def test_the_last_answer_that_passes_its_check_counts() -> None:
    later = ARRIVED + timedelta(seconds=9)
    batch = read(
        [
            models_answer([model("old/one")]),
            answer("/models", b"<html>", attempt=2),
            models_answer([model()]),
            endpoints_answer([endpoint(tag="first")]),
            endpoints_answer([endpoint(tag="second")], arrived_at_utc=later),
            endpoints_answer([endpoint(tag="third")], says="acme/other"),
            endpoints_answer([], status=502),
            answer("/providers", {"data": None}),
        ]
    )
    row = only(batch.endpoints)
    assert (row["tag"], row["observed_at_utc"]) == ("second", later)
    assert only(batch.model_coverage)["observed_at_utc"] == later
    assert batch.models["model_id"].to_list() == [MODEL]
    assert only(batch.sweep)["status"] == "complete"


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        ([], "no answer in the sweep"),
        ([endpoints_answer([], status=502)], "HTTP 502"),
        (
            [endpoints_answer([], status=502), endpoints_answer([endpoint()], says="acme/big-70b")],
            "asked for acme/small-8b, got acme/big-70b",
        ),
        (
            [answer("/models/acme/small-8b/endpoints", b"<html>522", subject=MODEL)],
            "body is not JSON (Expecting value at 0): '<html>522'",
        ),
        (
            [answer("/models/acme/small-8b/endpoints", {"data": {"id": MODEL}}, subject=MODEL)],
            "data.endpoints is not a list",
        ),
    ],
)
def test_a_model_without_a_sound_answer_is_failed_with_the_reason(
    answers: list[Any], reason: str
) -> None:
    batch = read([models_answer([model(), model("acme/none")]), *answers])
    assert coverage(batch)[MODEL] == ("failed", reason)
    assert batch.model_coverage["observed_at_utc"].to_list() == [FINISHED, FINISHED]
    assert batch.endpoints.height == 0
    swept = only(batch.sweep)
    assert swept["status"] == "partial"
    assert (swept["models_listed"], swept["models_expected"], swept["models_answered"]) == (2, 2, 0)


def test_a_request_that_gave_up_says_best_why() -> None:
    batch = read(
        [models_answer([model()]), endpoints_answer([], status=429)],
        [
            RequestFailure("/providers", None, "timed out"),
            RequestFailure("/models/acme/small-8b/endpoints", MODEL, "no answer within 60 s"),
        ],
    )
    assert coverage(batch) == {MODEL: ("failed", "no answer within 60 s")}


def test_one_model_without_answer_makes_a_sweep_partial_and_harms_no_other() -> None:
    answers = [
        models_answer([model(), model("acme/none"), model("acme/empty")]),
        endpoints_answer([endpoint()]),
        endpoints_answer([], "acme/empty"),
    ]
    batch = read(answers)
    assert coverage(batch) == {
        MODEL: ("answered", None),
        "acme/none": ("failed", "no answer in the sweep"),
        "acme/empty": ("answered", None),
    }
    assert batch.endpoints.height == 1
    assert only(batch.sweep)["status"] == "partial"


def test_without_a_model_list_nothing_is_believed() -> None:
    batch = read([answer("/models", b"", status=503), endpoints_answer([endpoint()])])
    assert only(batch.sweep)["status"] == "failed"
    assert [batch.models.height, batch.endpoints.height, batch.model_coverage.height] == [0, 0, 0]


def test_all_pages_of_the_model_list_are_read() -> None:
    first = models_answer([model("a/one")], links={"next": "/api/v1/models?offset=1"})
    second = models_answer([model("b/two")], "/models?offset=1", total_count=2)
    swept = [endpoints_answer([], "a/one"), endpoints_answer([], "b/two")]
    batch = read([first, second, *swept])
    assert batch.models["model_id"].to_list() == ["a/one", "b/two"]
    assert only(batch.sweep)["status"] == "complete"
    assert only(batch.sweep)["unknown_keys_json"] == "{}"


@pytest.mark.parametrize("second", [[], [answer("/models?offset=1", b"", status=500)]])
def test_a_model_list_that_lacks_a_page_makes_the_sweep_partial(second: list[Any]) -> None:
    first = models_answer([model("a/one")], links={"next": "/api/v1/models?offset=1"})
    batch = read([first, *second, endpoints_answer([], "a/one")])
    assert coverage(batch) == {"a/one": ("answered", None)}
    assert only(batch.sweep)["status"] == "partial"


def test_the_sweep_row_counts() -> None:
    batch = read(
        [
            models_answer([model(), model("acme/none"), model("~acme/x-latest"), model("../up")]),
            endpoints_answer([endpoint(), endpoint(status=9), endpoint(tag="")]),
            providers_answer([provider(), provider("Other", "other")]),
        ]
    )
    assert only(batch.sweep) == {
        "sweep_id": "20261130T061700Z-00000001",
        "partition_date": date(2026, 11, 30),
        "started_at_utc": datetime(2026, 11, 30, 6, 17, tzinfo=UTC),
        "finished_at_utc": FINISHED,
        "market": "live",
        "base_url": "https://openrouter.ai/api/v1",
        "is_authenticated": False,
        "is_interrupted": False,
        "status": "partial",
        "has_whole_model_list": True,
        "models_listed": 3,
        "models_expected": 2,
        "models_answered": 1,
        "endpoints": 2,
        "providers": 2,
        "quarantined": 2,
        "flagged": 1,
        "unknown_keys_json": "{}",
        "landing_sha256": "0" * 64,
    }


BAD_ENDPOINTS: list[tuple[Any, str, str, str]] = [
    (
        "no object",
        "acme/small-8b | None | None",
        "malformed",
        "record: Input should be a valid dictionary or instance of EndpointAnswer",
    ),
    (
        endpoint(tag=None),
        "acme/small-8b | Acme | None",
        "malformed",
        "tag: Input should be a valid string",
    ),
    (
        endpoint("Acme\nCloud", pricing=None, status="0"),
        "acme/small-8b | Acme Cloud | acme",
        "malformed",
        "pricing: Input should be a valid dictionary (and 1 more)",
    ),
    (
        endpoint(context_length=True),
        "acme/small-8b | Acme | acme",
        "malformed",
        "context_length: Input should be a valid integer",
    ),
    (
        endpoint(max_prompt_tokens=2**63),
        "acme/small-8b | Acme | acme",
        "malformed",
        "max_prompt_tokens: Input should be less than 9223372036854775808",
    ),
    (
        endpoint(uptime_last_1d=True),
        "acme/small-8b | Acme | acme",
        "malformed",
        "uptime_last_1d: Value error, a boolean is no number",
    ),
    (
        endpoint(uptime_last_1d=10**400),
        "acme/small-8b | Acme | acme",
        "malformed",
        "uptime_last_1d: Input should be a valid number",
    ),
    (
        endpoint(latency_last_30m={"p50": "fast"}),
        "acme/small-8b | Acme | acme",
        "malformed",
        "latency_last_30m.p50: Input should be a valid number, unable to parse string as a number",
    ),
    (
        endpoint(pricing={"prompt": "cheap"}),
        "acme/small-8b | Acme | acme",
        "price_unreadable",
        "pricing.prompt: 'cheap' is no price",
    ),
    (
        endpoint(pricing={"prompt": "-0.1", "completion": "0"}),
        "acme/small-8b | Acme | acme",
        "price_negative",
        'pricing_json \'{"prompt":"-0.1","completion":"0"}\'',
    ),
    (
        endpoint(uptime_last_5m=101),
        "acme/small-8b | Acme | acme",
        "uptime_out_of_range",
        "uptime_5m_pct 101.0, uptime_30m_pct 99.97, uptime_1d_pct 100.0",
    ),
]


@pytest.mark.parametrize(("record", "row_key", "rule", "reason"), BAD_ENDPOINTS)
def test_a_bad_endpoint_goes_to_quarantine_and_leaves_its_siblings(
    record: Any, row_key: str, rule: str, reason: str
) -> None:
    batch = read(sweep({MODEL: [endpoint(tag="acme/a"), record, endpoint(tag="acme/b")]}))
    assert batch.endpoints["tag"].to_list() == ["acme/a", "acme/b"]
    assert batch.endpoints["list_position"].to_list() == [1, 3]
    assert quarantined(batch) == [("endpoints", row_key, rule, reason)]
    kept = only(batch.quarantine)
    assert (kept["model_id"], kept["observed_at_utc"]) == (MODEL, ARRIVED)
    assert json.loads(kept["record_json"]) == record
    assert coverage(batch) == {MODEL: ("answered", None)}


def test_a_bad_model_goes_to_quarantine_and_is_still_asked_for() -> None:
    batch = read(
        [
            models_answer([model(created=1.7e12), model("../up"), model("b/two"), model("b/two")]),
            endpoints_answer([endpoint()]),
            endpoints_answer([], "b/two"),
        ]
    )
    assert quarantined(batch) == [
        ("models", MODEL, "malformed", "created: Input should be a valid integer"),
        ("models", "../up", "model_id_unusable", "id '../up' is no author/slug[:variant]"),
        ("models", "b/two", "duplicate", "model_id 'b/two'"),
    ]
    assert batch.quarantine["model_id"].to_list() == [MODEL, None, "b/two"]
    assert batch.models["model_id"].to_list() == ["b/two"]
    assert batch.endpoints["model_id"].to_list() == [MODEL]
    assert only(batch.sweep)["status"] == "complete"


def test_a_bad_provider_goes_to_quarantine() -> None:
    again = provider("Acme", "acme-2")
    batch = read([*sweep({MODEL: []}), providers_answer([provider(), again, {"name": "Nameless"}])])
    assert quarantined(batch) == [
        ("providers", "Nameless", "malformed", "slug: Field required"),
        ("providers", "Acme", "duplicate", "provider_name 'Acme', provider_slug 'acme-2'"),
    ]
    assert batch.providers["provider_slug"].to_list() == ["acme"]


def test_what_a_row_no_longer_shows_is_flagged() -> None:
    fine = "0.0000000500000000000000001"
    batch = read(
        [
            models_answer([model(knowledge_cutoff="2026-03", expiration_date="2098-12-31")]),
            endpoints_answer(
                [endpoint(pricing={"prompt": fine, "completion": "1e-7"}, model_id="acme/x")]
            ),
            providers_answer([provider(status_page_url="javascript:alert(1)")]),
        ]
    )
    assert flagged(batch) == [
        (MODEL, "date_unreadable", "knowledge_cutoff '2026-03'"),
        (
            f"{MODEL} | Acme | acme",
            "price_precision",
            f'rounded: prompt of {{"prompt":"{fine}","completion":"1e-7"}}',
        ),
        (f"{MODEL} | Acme | acme", "model_id_other", f"listed under {MODEL}, says 'acme/x'"),
        ("Acme", "link_refused", "status_page_url 'javascript:alert(1)'"),
    ]
    assert only(batch.endpoints)["input_usd_per_token"] == Decimal("0.00000005")
    assert only(batch.models)["knowledge_cutoff"] is None
    assert only(batch.models)["expiration_date"] is None
    assert only(batch.providers)["status_page_url"] is None


def test_a_flag_names_the_twin_that_it_is_about() -> None:
    batch = read(sweep({MODEL: [endpoint(), endpoint(quantization="int2")]}))
    assert flagged(batch) == [
        (f"{MODEL} | Acme | acme | 2", "quantization_unknown", "quantization 'int2'")
    ]


def test_providers_are_only_missed_when_there_is_a_list_of_them() -> None:
    offers = {MODEL: [endpoint("Nobody", "nobody")]}
    assert flagged(read([a for a in sweep(offers) if a.request != "/providers"])) == []
    assert flagged(read(sweep(offers))) == [
        (f"{MODEL} | Nobody | nobody", "provider_unknown", "provider_name 'Nobody'")
    ]


def test_unknown_keys_are_counted_and_refuse_nothing() -> None:
    pricing = {
        "prompt": "0.0000001",
        "completion": "0.0000002",
        "per_page": "0.01",
        "overrides": [{"weather": "rain", "prompt": "0.0000002"}],
    }
    batch = read(
        [
            models_answer([model(colour="red"), model("b/two", colour=1)], mood="good"),
            endpoints_answer([endpoint(native_tools={}, region="eu", pricing=pricing)]),
            endpoints_answer([endpoint(latency_last_30m={"p50": 1, "p95": 2})], "b/two"),
            providers_answer([provider(motto="fast")]),
        ]
    )
    assert json.loads(only(batch.sweep)["unknown_keys_json"]) == {
        "endpoint": {"region": 1},
        "endpoint.latency_last_30m": {"p95": 1},
        "endpoint.pricing": {"per_page": 1},
        "endpoint.pricing.overrides": {"weather": 1},
        "model": {"colour": 2},
        "models_answer": {"mood": 1},
        "provider": {"motto": 1},
    }
    assert batch.quarantine.height == 0
    assert batch.endpoints.height == 2


def test_reading_the_same_answers_again_gives_the_same_frames() -> None:
    answers = [
        *sweep({MODEL: [endpoint(), endpoint(), endpoint(tag=""), endpoint(x=1, y=2, status=9)]}),
        models_answer([model(), model(), model("..")]),
    ]
    first, second = frames(read(answers)), frames(read(answers))
    for table, frame in first.items():
        assert frame.equals(second[table]), table


def test_an_interrupted_sweep_says_so() -> None:
    batch = read_market(manifest(is_interrupted=True), sweep({MODEL: []}), "0" * 64)
    assert only(batch.sweep)["is_interrupted"] is True
    assert only(batch.sweep)["status"] == "complete"


def test_json_that_is_nested_to_the_edge_of_reason_does_not_stop_a_sweep() -> None:
    for depth in range(960, 1000):
        deep = "[" * depth + "]" * depth
        entries = [model("a/one", benchmarks="@"), model("b/two", pricing={"prompt": "@"})]
        body = json.dumps({"data": entries}).replace('"@"', deep).encode()
        batch = read([answer("/models", body)])
        assert only(batch.sweep)["status"] in ("partial", "failed")


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=6)
    | st.sampled_from(["0", "-1", "0.000001", "1e-6", "fp8", "acme", "a/b", "2026-01-01"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=6,
)


def changed(entry: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Give ``entry`` with some of its keys, also inner ones, replaced by anything."""
    inner = {key: value for key, value in entry.items() if isinstance(value, dict) and value}
    return JSON | st.builds(
        lambda outer, parts: entry | {key: inner[key] | parts[key] for key in inner} | outer,
        st.dictionaries(st.sampled_from(sorted(entry)), JSON, max_size=2),
        st.fixed_dictionaries(
            {
                key: st.dictionaries(st.sampled_from(sorted(value)), JSON, max_size=2)
                for key, value in inner.items()
            }
        ),
    )


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(
    models=st.lists(changed(model()), max_size=3),
    endpoints=st.lists(changed(endpoint()), max_size=4),
    providers=st.lists(changed(provider()), max_size=3),
)
def test_every_record_ends_up_in_its_table_or_in_quarantine(
    models: list[Any], endpoints: list[Any], providers: list[Any]
) -> None:
    entries = [model(), *models]
    batch = read([models_answer(entries), endpoints_answer(endpoints), providers_answer(providers)])
    put_aside = batch.quarantine["table_name"].to_list()
    assert batch.models.height + put_aside.count("models") == len(entries)
    assert batch.endpoints.height + put_aside.count("endpoints") == len(endpoints)
    assert batch.providers.height + put_aside.count("providers") == len(providers)
    assert all("\n" not in reason for reason in batch.quarantine["reason"])


@settings(deadline=None, max_examples=60)
@given(
    bodies=st.lists(
        st.tuples(
            st.sampled_from(["/models", "/models?offset=1", "/providers", "endpoints", "/x"]),
            st.binary(max_size=40) | JSON | st.fixed_dictionaries({"data": JSON}),
        ),
        max_size=4,
    )
)
def test_no_body_ever_stops_a_sweep(bodies: list[tuple[str, Any]]) -> None:
    answers = [
        answer(f"/models/{MODEL}/endpoints", body, subject=MODEL)
        if request == "endpoints"
        else answer(request, body)
        for request, body in bodies
    ]
    batch = read([models_answer([model()]), *answers])
    assert MODEL in coverage(batch) or batch.models.height + batch.quarantine.height > 0
