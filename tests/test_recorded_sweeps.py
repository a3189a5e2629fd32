"""Real answers of the market, recorded by others: the figures counted by hand come out again."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from answered_market import answer, endpoints_answer, models_answer, providers_answer, read

from pipeline.contracts.endpoints import ENDPOINTS
from pipeline.contracts.models import MODELS
from pipeline.contracts.providers import PROVIDERS
from pipeline.landing import Answer
from pipeline.market import MarketBatch
from pipeline.sources.openrouter import endpoints_request

pytestmark = pytest.mark.recorded

PROVIDERS_FILE = "aiscanner/providers_2026-05-07T1117.json.gz"


def load(path: Path) -> Any:
    return json.loads(gzip.decompress(path.read_bytes()))


def recorded_on(path: Path) -> datetime:
    """Give the day in the name of a recording."""
    return datetime.fromisoformat(path.name.split("_")[1][:10]).replace(tzinfo=UTC)


@dataclass(frozen=True)
class Counted:
    """What was counted in a recorded sweep, independently of this project."""

    endpoints: int
    providers: int
    null_pct: tuple[float, float, float]  # of uptime 5m, 30m, 1d
    statuses: tuple[int, int, int]  # 0, -2, -5
    keys_shared_by_provider: tuple[int, int]  # (model, provider) keys, rows with them


SWEEPS = {
    "2026-05-16T0947Z": Counted(800, 64, (35.4, 21.9, 3.1), (761, 33, 6), (46, 96)),
    "2026-05-16T1018Z": Counted(800, 64, (36.2, 21.9, 3.1), (757, 29, 14), (46, 96)),
    "2026-05-16T1700Z": Counted(800, 64, (33.6, 21.6, 3.2), (751, 36, 13), (46, 96)),
    "2026-05-16T2217Z": Counted(796, 63, (34.5, 25.3, 3.6), (753, 32, 11), (46, 96)),
    "2026-05-18T2053Z": Counted(805, 64, (34.3, 22.6, 3.1), (757, 35, 13), (47, 98)),
}
# The list recorded nearest before; the market listed the same models all of that day.
MODELS_OF = {
    "2026-05-16T0947Z": "models_2026-05-16T0947Z.json.gz",
    "2026-05-16T1018Z": "models_2026-05-16T0947Z.json.gz",
    "2026-05-16T1700Z": "models_2026-05-16T0947Z.json.gz",
    "2026-05-16T2217Z": "models_2026-05-16T2217Z.json.gz",
    "2026-05-18T2053Z": "models_2026-05-18T2053Z.stripped.json.gz",
}


def recorded_sweep(folder: Path, name: str) -> list[Answer]:
    models = folder / "mddb-models" / MODELS_OF[name]
    wrapped = load(folder / "mddb-endpoints" / f"endpoints_{name}.json.gz")["data"]
    return [
        answer("/models", gzip.decompress(models.read_bytes()), arrived_at_utc=recorded_on(models)),
        providers_answer(load(folder / PROVIDERS_FILE)["data"]),
        *(
            answer(endpoints_request(row["modelId"]), row["response"], subject=row["modelId"])
            for row in wrapped
        ),
    ]


@pytest.fixture(scope="module", params=SWEEPS)
def swept(request: pytest.FixtureRequest, recordings: Path) -> tuple[Counted, MarketBatch]:
    answers = recorded_sweep(recordings / "openrouter", request.param)
    return SWEEPS[request.param], read(answers)


Swept = tuple[Counted, MarketBatch]


def test_a_recorded_sweep_has_the_figures_that_were_counted(swept: Swept) -> None:
    counted, batch = swept
    endpoints = batch.endpoints
    assert endpoints.height == counted.endpoints
    assert endpoints["provider_name"].n_unique() == counted.providers
    uptimes = ("uptime_5m_pct", "uptime_30m_pct", "uptime_1d_pct")
    null_pct = tuple(
        round(100 * endpoints[name].null_count() / endpoints.height, 1) for name in uptimes
    )
    assert null_pct == counted.null_pct
    statuses = Counter(endpoints["status"])
    assert (statuses[0], statuses[-2], statuses[-5]) == counted.statuses
    assert statuses.total() == sum(counted.statuses)
    shared = endpoints.group_by("model_id", "provider_name").len().filter(pl.col("len") > 1)
    assert (shared.height, shared["len"].sum()) == counted.keys_shared_by_provider
    assert endpoints.filter(pl.col("discount") != 0).height == 46


def test_of_a_recorded_sweep_every_model_is_accounted_for(swept: Swept) -> None:
    _, batch = swept
    coverage = batch.model_coverage
    assert coverage.height == 356
    assert Counter(coverage["outcome"]) == {"answered": 317, "failed": 27, "not_asked": 12}
    # They were asked for without their variant, and got the endpoints of another model.
    failed = coverage.filter(pl.col("outcome") == "failed")
    assert all(
        reason.startswith(f"asked for {model_id}, got ")
        for model_id, reason in failed.select("model_id", "reason").iter_rows()
    )
    assert Counter(id.partition(":")[2] for id in failed["model_id"]) == {
        "free": 24,
        "thinking": 1,
        "": 2,
    }
    not_asked = coverage.filter(pl.col("outcome") == "not_asked")
    assert Counter(not_asked["kind"]) == {"alias": 8, "router": 4}
    assert batch.endpoints["model_id"].n_unique() == 317
    assert batch.sweep["status"].item() == "partial"


def test_nothing_of_a_recorded_sweep_is_put_aside(swept: Swept) -> None:
    _, batch = swept
    assert batch.quarantine.height == 0
    assert batch.models.height == 356
    assert batch.providers.height == 81
    assert batch.sweep["unknown_keys_json"].item() == "{}"


def test_a_recorded_sweep_has_one_pair_of_twins(swept: Swept) -> None:
    _, batch = swept
    twins = batch.endpoints.filter(pl.len().over("model_id", "provider_name", "tag") > 1).sort(
        "endpoint_ordinal"
    )
    assert twins.select("model_id", "tag", "endpoint_ordinal").rows() == [
        ("qwen/qwen3-235b-a22b-2507", "google-vertex/us-south1", 1),
        ("qwen/qwen3-235b-a22b-2507", "google-vertex/us-south1", 2),
    ]
    prices = twins["input_usd_per_token"].to_list()
    assert [f"{price * 1_000_000:.2f}" for price in prices] == ["0.22", "0.25"]


def test_a_recorded_sweep_surprises_only_where_it_is_known_to(swept: Swept) -> None:
    _, batch = swept
    rules = Counter(batch.flags.select("table_name", "rule").iter_rows())
    assert rules == {
        ("endpoints", "context_missing"): 1,  # qwen3-coder-30b at amazon-bedrock: 0
        ("endpoints", "output_below_input"): 2,  # gpt-5-image-mini, llama-guard-3-8b
        ("endpoints", "output_limit_above_context"): 5,
        ("endpoints", "tag_against_provider"): 1,  # sambanova-turbo
        ("models", "output_below_input"): 2,
        ("models", "output_limit_above_context"): 4,
    }


def test_the_pandera_schemas_themselves_take_a_recorded_sweep(swept: Swept) -> None:
    _, batch = swept
    for contract, frame in (
        (ENDPOINTS, batch.endpoints),
        (MODELS, batch.models),
        (PROVIDERS, batch.providers),
    ):
        contract.schema.validate(frame, lazy=True)


def test_a_recorded_price_is_kept_to_the_last_digit(swept: Swept) -> None:
    _, batch = swept
    for row in batch.endpoints.rows(named=True):
        pricing = json.loads(row["pricing_json"])
        assert row["input_usd_per_token"] == Decimal(pricing["prompt"])
        assert row["output_usd_per_token"] == Decimal(pricing["completion"])


def test_the_authenticated_rows_bring_latency_and_throughput(recordings: Path) -> None:
    folder = recordings / "openrouter" / "aiscanner"
    stamp = "2026-05-07T1117"
    lines = gzip.decompress((folder / f"endpoints_authenticated_{stamp}.jsonl.gz").read_bytes())
    models = load(folder / f"models_{stamp}.json.gz")["data"]
    offers: dict[str, list[Any]] = {entry["id"]: [] for entry in models}
    for line in lines.splitlines():
        row = json.loads(line)
        measured = row.pop("performance")
        del row["model_creator"]
        offers[row["model_id"]].append(
            row
            | {
                "uptime_last_5m": measured["uptime_5m"],
                "uptime_last_30m": measured["uptime_30m"],
                "uptime_last_1d": measured["uptime_24h"],
                "latency_last_30m": measured["latency_30m"],
                "throughput_last_30m": measured["throughput_30m"],
            }
        )
    batch = read(
        [
            models_answer(models, arrived_at_utc=datetime(2026, 5, 7, tzinfo=UTC)),
            providers_answer(load(folder / f"providers_{stamp}.json.gz")["data"]),
            *(endpoints_answer(rows, model_id) for model_id, rows in offers.items()),
        ]
    )
    endpoints = batch.endpoints
    assert batch.quarantine.height == 0
    assert batch.sweep["status"].item() == "complete"
    assert endpoints.height == 854
    assert batch.providers.height == 81
    measured_rows = endpoints.filter(pl.col("reported_ttft_p50_ms").is_not_null())
    assert measured_rows.height == 799
    assert measured_rows["reported_tokens_per_s_p99"].null_count() == 0
    without = {model_id for model_id, rows in offers.items() if not rows}
    assert len(without) == 13
    assert "allenai/olmo-3-32b-think" in without
    free = endpoints.filter(pl.col("model_id").str.ends_with(":free"))
    assert free["is_free"].all()
    assert free.height == 25
    assert set(batch.flags["rule"]) <= {
        "context_missing",
        "output_below_input",
        "output_limit_above_context",
        "tag_against_provider",
    }


@pytest.mark.parametrize(
    ("file", "model_id", "tags", "with_latency"),
    [
        ("endpoints_gpt-4o_unauthenticated", "openai/gpt-4o", ["openai", "azure"], 0),
        (
            "endpoints_deepseek-v4.1-flash_2026-09_trimmed",
            "deepseek/deepseek-v4.1-flash",
            ["relace", "wafer"],
            0,
        ),
        (
            "endpoints_kimi-k3_2026-08-25_trimmed",
            "moonshotai/kimi-k3",
            ["fireworks", "alibaba", "fireworks/fast", "morph/fast"],
            4,
        ),
    ],
)
def test_answers_with_later_keys_are_read(
    recordings: Path, file: str, model_id: str, tags: list[str], with_latency: int
) -> None:
    fixture = (recordings / "openrouter" / "fixtures" / f"{file}.json").read_bytes()
    entry = {
        "id": model_id,
        "name": "recorded",
        "pricing": {"prompt": "1e-6", "completion": "1e-6"},
    }
    batch = read(
        [
            models_answer([entry]),
            answer(endpoints_request(model_id), fixture, subject=model_id),
        ]
    )
    assert batch.endpoints["tag"].to_list() == tags
    assert batch.endpoints["reported_ttft_p50_ms"].is_not_null().sum() == with_latency
    assert batch.quarantine.height == 0
    assert batch.sweep["unknown_keys_json"].item() == "{}"
    assert set(batch.flags["table_name"]) <= {"models"}


@pytest.mark.parametrize(
    "folder",
    ["mddb-models", "sui414/models", "wayback-models", "xiechengqi-models", "aiscanner"],
)
def test_every_recorded_model_list_is_taken_whole(recordings: Path, folder: str) -> None:
    files = sorted((recordings / "openrouter" / folder).glob("models_*.json.gz"))
    assert files
    for path in files:
        payload = load(path)
        # One source published the list without what was around it.
        entries = payload if isinstance(payload, list) else payload["data"]
        batch = read([models_answer(entries, arrived_at_utc=recorded_on(path))])
        assert batch.quarantine.height == 0, path.name
        assert batch.models["model_id"].to_list() == [entry["id"] for entry in entries], path.name
        assert batch.sweep["unknown_keys_json"].item() == "{}", path.name
        routers = {entry["id"] for entry in entries if entry["pricing"]["prompt"] == "-1"}
        unpriced = batch.models.filter(pl.col("input_usd_per_token").is_null())
        assert set(unpriced["model_id"]) == routers, path.name
        assert set(batch.flags["rule"]) <= {
            "context_missing",
            "output_below_input",
            "output_limit_above_context",
        }, path.name
