"""Probes meet the market: which endpoint a target is, what it costs, what the tables say of it."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from probe_samples import failed, timed
from raw_market import RawMarket, endpoint

from pipeline.building import build_all
from pipeline.probes.sample import Sample
from pipeline.sql_models import load_sql_models

MODELS = load_sql_models()
MODEL, OTHER = "openai/gpt-oss-20b", "openai/gpt-oss-120b"
MARKET = [
    endpoint("Groq", "groq"),
    endpoint("Novita", "novita/fp4"),
    endpoint("Novita", "novita/bf16"),
    endpoint("Google", "google", context_length=32000),
    endpoint("Google", "google", context_length=262144),
]


def answer(target: str, **changes: Any) -> Sample:
    asked = {"target": target, "request_id": target, "batch": 1, **changes}
    return timed(200, 300, 400, **asked)


def endpoints_of(market: RawMarket, mart: str) -> dict[str, tuple[str, int] | None]:
    rows = market.database.rows(
        f"select target, endpoint_id is not null, now.tag, now.endpoint_ordinal from marts.{mart} "
        "left join intermediate.int_endpoints_now as now using (endpoint_id)"
    )
    return {target: (tag, ordinal) if found else None for target, found, tag, ordinal in rows}


def test_a_target_is_an_endpoint_that_is_listed_now() -> None:
    market = RawMarket()
    market.sweep("2026-11-29T06:17", {MODEL: [*MARKET, endpoint("Gone", "gone")], OTHER: MARKET})
    market.sweep("2026-11-30T06:17", {MODEL: MARKET, OTHER: MARKET})
    market.probe_run(
        "2026-11-30T09:00",
        [
            answer("pinned", tag="novita/fp4", provider_name="Novita"),
            answer("pinned, no name", tag="novita/fp4", provider_name=None),
            answer("twins", tag="google", provider_name="Google"),
            answer("gone", tag="gone", provider_name="Gone"),
            answer("direct", tag=None, provider_name="Groq"),
            answer("direct, one of two", tag=None, provider_name="Novita"),
            answer("direct, unknown", tag=None, provider_name=None),
            answer("own server", tag=None, provider_name="Groq", model_id="llama"),
        ],
    )
    build_all(market.database, MODELS)
    for mart in ("probe_summary", "performance_history", "probe_samples"):
        assert endpoints_of(market, mart) == {
            "pinned": ("novita/fp4", 1),
            "pinned, no name": ("novita/fp4", 1),
            "twins": ("google", 1),
            "gone": None,
            "direct": ("groq", 1),
            "direct, one of two": None,
            "direct, unknown": None,
            "own server": None,
        }


def test_a_target_finds_its_endpoint_when_a_later_sweep_lists_it() -> None:
    market = RawMarket()
    market.probe_run("2026-11-30T05:00", [answer("a", tag="groq")])
    build_all(market.database, MODELS)
    assert endpoints_of(market, "performance_history") == {"a": None}
    market.sweep("2026-11-30T06:17", {MODEL: MARKET})
    build_all(market.database, MODELS)
    assert endpoints_of(market, "performance_history") == {"a": ("groq", 1)}


def priced(price: str, cache_read: str | None = None) -> list[dict[str, Any]]:
    return [endpoint("Groq", "groq", input=price, output="0.5", cache_read=cache_read)]


def test_a_request_costs_the_listed_price_of_its_time() -> None:
    """0.10 USD per million of input until the 29th, 0.20 from then on; 0.5 of output."""
    market = RawMarket()
    market.sweep("2026-11-28T06:00", {MODEL: priced("0.10")})
    market.sweep("2026-11-29T06:00", {MODEL: priced("0.20")})
    market.sweep("2026-11-30T06:00", {MODEL: priced("0.20", cache_read="0.03")})
    tokens = {"tag": "groq", "prompt_tokens": 1000, "completion_tokens": 100}
    for at, name in (
        ("2026-11-28T05:59", "before it was listed"),
        ("2026-11-28T06:00", "first price"),
        ("2026-11-29T05:59", "last of the first price"),
        ("2026-11-29T06:00", "second price"),
    ):
        market.probe_run(at, [answer(name, **tokens)])
    market.probe_run("2026-11-29T07:00", [answer("cached, no price", cached_tokens=400, **tokens)])
    market.probe_run(
        "2026-11-30T07:00",
        [
            answer("cached", cached_tokens=400, **tokens),
            answer("cached beyond belief", cached_tokens=4000, **tokens),
            answer("uncounted", **(tokens | {"prompt_tokens": None})),
            failed("rate_limited", target="failed", request_id="failed", tag="groq"),
            answer("reported", cost_usd=Decimal("0.000123456789"), **tokens),
        ],
    )
    build_all(market.database, MODELS)
    costs = market.database.rows("select target, cost_listed_usd from marts.probe_samples")
    assert dict(costs) == {
        "before it was listed": None,
        "first price": Decimal("0.00015"),
        "last of the first price": Decimal("0.00015"),
        "second price": Decimal("0.00025"),
        "cached, no price": Decimal("0.00025"),
        # 600 at 0.20, 400 at 0.03, 100 at 0.5.
        "cached": Decimal("0.000182"),
        "cached beyond belief": Decimal("0.00008"),
        "uncounted": None,
        "failed": None,
        "reported": Decimal("0.00025"),
    }
    paid = market.database.rows(
        "select target, cost_usd, cost_listed_usd, output_usd_per_mtok_paid "
        "from marts.probe_summary where window_hours = 24 and target in ('cached', 'reported')"
    )
    # What was reported goes before the list.
    assert sorted(paid) == [
        ("cached", None, Decimal("0.000182"), pytest.approx(1.82)),
        ("reported", Decimal("0.000123456789"), Decimal("0.00025"), pytest.approx(1.23456789)),
    ]


def test_the_provider_table_shows_short_chats_at_the_lowest_concurrency() -> None:
    market = RawMarket()
    market.sweep("2026-11-30T06:00", {MODEL: MARKET})
    groq = {"tag": "groq", "provider_name": "Groq"}
    market.probe_run("2026-11-25T09:00", [answer("groq", **groq)])
    for hour, ttft_ms in ((9, 100), (12, 300)):
        market.probe_run(
            f"2026-11-30T{hour:02}:00",
            [
                timed(ttft_ms, ttft_ms + 100, target="groq", batch=1, concurrency=4, **groq),
                timed(50, 60, target="groq", request_id="more", batch=2, concurrency=16, **groq),
                timed(
                    *(40, 50),
                    target="groq",
                    request_id="long",
                    batch=3,
                    prompt_set="10k_in",
                    **groq,
                ),
                timed(
                    *(30, 40), target="groq", request_id="cold", batch=4, phase="cold_start", **groq
                ),
                timed(*(20, 30), target="groq", request_id="open", batch=5, loop="open", **groq),
                timed(
                    *(10, 20),
                    target="asked directly",
                    request_id="direct",
                    batch=6,
                    concurrency=4,
                    tag=None,
                    provider_name="Groq",
                ),
            ],
            self_checks={4: 0.5},
        )
    build_all(market.database, MODELS)
    rows = market.database.records(
        "select provider_name, columns('^probe_') from marts.provider_table order by all"
    )
    assert rows[2] == {
        "provider_name": "Groq",
        "probe_ttft_p50_ms": 200.0,
        "probe_ttft_p95_ms": None,
        "probe_tokens_per_s_p50": 10.0,
        "probe_tokens_per_s_p05": None,
        "probe_n": 2,
        "probe_ok_pct": 100.0,
        "probe_is_trusted": True,
        "probe_last_at_utc": datetime(2026, 11, 30, 12, tzinfo=UTC),
    }
    assert {value for row in rows[:2] + rows[3:] for value in list(row.values())[1:]} == {None}


def health(market: RawMarket) -> dict[str, tuple[str, str, str]]:
    build_all(market.database, MODELS)
    rows = market.database.rows(
        "select check_name, status, value, detail from marts.data_health "
        "where check_name like 'probe%'"
    )
    return {
        name.removeprefix("probe "): (status, value, text) for name, status, value, text in rows
    }


def test_health_is_that_of_the_newest_run() -> None:
    market = RawMarket()
    market.sweep("2026-11-30T12:00", {MODEL: MARKET})
    market.probe_run("2026-11-29T06:00", [failed("timeout")], self_checks={1: 50})
    market.probe_run("2026-11-30T06:00", [answer("groq", tag="groq")])
    newest = "20261130T060000Z-00000000"
    assert health(market) == {
        "age": ("ok", "6.0 h", f"from the newest probe run, {newest}, to the newest sweep"),
        "targets": ("ok", "0", "every target of the newest probe run was asked"),
        "failures": ("ok", "0", "of 1 requests of the newest probe run failed"),
        "instrument": (
            "ok",
            "0",
            "of 1 rows of figures are not to be trusted; p99 of the error in TTFT: 0.1 ms; "
            "the probe was overloaded in 0 requests",
        ),
        "quarantine": (
            "ok",
            "0",
            "requests of the newest probe run that broke a hard rule and were kept out of the "
            "figures",
        ),
    }


def test_health_tells_of_old_runs_gone_targets_failures_and_a_bad_instrument() -> None:
    market = RawMarket()
    market.probe_run(
        "2026-11-30T06:00",
        [
            answer("groq", tag="groq"),
            answer("late", batch=2),
            *(failed("timeout", target="groq", request_id=f"t{n}") for n in range(2)),
            failed("rate_limited", target="groq", request_id="429"),
            *(
                failed(
                    "refused_config",
                    target="old",
                    request_id=f"old{n}",
                    batch=3,
                    reason="target old: it has no endpoint old now",
                )
                for n in range(3)
            ),
        ],
        self_checks={1: 12.5},
        overloaded=[2],
    )
    market.sweep("2026-12-01T18:01", {MODEL: MARKET})
    found = health(market)
    assert found["age"][:2] == ("warn", "36.0 h")
    assert found["targets"] == (
        "warn",
        "1",
        "targets not asked: target old: it has no endpoint old now",
    )
    assert found["failures"] == (
        "error",
        "3",
        "of 5 requests of the newest probe run failed: timeout 2, rate_limited 1",
    )
    assert found["instrument"] == (
        "warn",
        "1",
        "of 3 rows of figures are not to be trusted; p99 of the error in TTFT: 12.5 ms; "
        "the probe was overloaded in 1 requests",
    )
