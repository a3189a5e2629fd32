"""Probe runs over time: trailing windows, one row a run, runs that come in late."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from probe_samples import failed, sample, timed
from raw_market import RawMarket

from pipeline.building import build_all
from pipeline.probes.sample import Sample
from pipeline.sql_models import load_sql_models

MODELS = load_sql_models()
MARTS = ("probe_summary", "performance_history", "probe_samples")


def answer(ttft_ms: int, **changes: Any) -> Sample:
    return timed(ttft_ms, ttft_ms + 100, **{"request_id": f"r{ttft_ms}", **changes})


def steps(market: RawMarket) -> dict[str, int]:
    """Build, and return how many steps were computed of each model that has any."""
    results = build_all(market.database, MODELS)
    return {result.model: result.steps for result in results if result.steps}


def content(market: RawMarket) -> dict[str, list[Any]]:
    return {
        mart: market.database.rows(f"select * from marts.{mart} order by all") for mart in MARTS
    }


@pytest.fixture(scope="module")
def market() -> RawMarket:
    """A run of a TTFT of 100 ms now, and further ones longer and longer ago."""
    market = RawMarket()
    for at, ttft_ms in (
        ("2026-11-30T12:00:00", 100),
        ("2026-11-29T12:00:01", 200),  # a second inside 24 hours
        ("2026-11-29T12:00:00", 300),  # 24 hours
        ("2026-11-27T12:00:00", 400),  # 72 hours
        ("2026-11-16T12:00:01", 500),  # a second inside 14 days
        ("2026-11-16T12:00:00", 600),  # 14 days
    ):
        market.probe_run(at, [answer(ttft_ms)])
    market.probe_run("2026-11-25T00:00", [answer(700, target="b"), answer(50, phase="warm_up")])
    build_all(market.database, MODELS)
    return market


def test_a_window_holds_the_runs_that_began_in_the_hours_up_to_the_newest(
    market: RawMarket,
) -> None:
    assert market.database.rows(
        "select target, window_hours, runs, n, ttft_p50_ms from marts.probe_summary order by all"
    ) == [
        ("a", 24, 2, 2, 150),
        ("a", 72, 3, 3, 200),
        ("a", 336, 5, 5, 300),
        # Another target is there for as long as it is in a window.
        ("b", 336, 1, 1, 700),
    ]


def test_samples_are_those_of_the_longest_window(market: RawMarket) -> None:
    assert market.database.rows(
        "select request_id, ttft_ms from marts.probe_samples order by sent_at_utc"
    ) == [("r500", 500), ("r700", 700), ("r400", 400), ("r300", 300), ("r200", 200), ("r100", 100)]


def test_history_has_every_run(market: RawMarket) -> None:
    assert market.database.rows(
        "select target, ttft_p50_ms from marts.performance_history order by started_at_utc"
    ) == [("a", 600), ("a", 500), ("b", 700), ("a", 400), ("a", 300), ("a", 200), ("a", 100)]


def test_a_row_of_history_says_what_a_run_measured() -> None:
    market = RawMarket()
    market.probe_run(
        "2026-11-30T09:00",
        [
            answer(100, cost_usd=Decimal("0.001")),
            answer(200),
            answer(400),
            failed("timeout", request_id="f1", cost_usd=Decimal("0.002")),
            failed("cancelled_budget", request_id="f2"),
            answer(999, request_id="second", pair_id="p", turn=2),
            answer(800, batch=2),
        ],
        overloaded=[2],
        self_checks={1: 4.5},
    )
    build_all(market.database, MODELS)
    (row,) = market.database.records("select * from marts.performance_history")
    counts = (row["requests"], row["n"], row["failures"])
    assert counts == (7, 3, 1)
    assert row["started_at_utc"] == datetime(2026, 11, 30, 9, tzinfo=UTC)
    quartiles = (row["ttft_p25_ms"], row["ttft_p50_ms"], row["ttft_p75_ms"], row["ttft_p95_ms"])
    assert quartiles == (150, 200, 300, None)
    # One token after the first in 100 ms; two tokens in 200, 300 and 500 ms.
    assert (row["decode_tokens_per_s_p25"], row["decode_tokens_per_s_p75"]) == (10, 10)
    assert row["e2e_tokens_per_s_p50"] == pytest.approx(20 / 3)
    assert row["cost_usd"] == Decimal("0.003")
    # 2 % of 200 ms are 4 ms.
    assert row["is_trusted"] is False


def test_only_a_new_run_is_computed_and_sweeps_and_runs_leave_each_other_alone() -> None:
    market = RawMarket()
    market.sweep("2026-11-29T06:17", {"a/b": []})
    market.probe_run("2026-11-29T09:00", [sample()])
    assert set(steps(market).values()) == {1}
    assert steps(market) == {}
    market.probe_run("2026-11-30T09:00", [sample()])
    probe_models = {"intermediate.int_probe_requests": 1, "intermediate.int_probe_run_figures": 1}
    assert steps(market) == probe_models
    market.sweep("2026-11-30T10:17", {"a/b": []})
    assert not steps(market).keys() & probe_models.keys()


LATE = ("2026-11-29T09:00", [answer(300), answer(400, phase="cold_start", batch=2)])
ON_TIME = (("2026-11-28T09:00", [answer(100)]), ("2026-11-30T09:00", [answer(200)]))


def test_a_late_run_takes_its_place_as_if_it_had_come_in_time() -> None:
    late, in_order = RawMarket(), RawMarket()
    for at, samples in ON_TIME:
        late.probe_run(at, samples)
    build_all(late.database, MODELS)
    late.probe_run(*LATE)
    for at, samples in (ON_TIME[0], LATE, ON_TIME[1]):
        in_order.probe_run(at, samples)
    # The late one and the one after it.
    assert set(steps(late).values()) == {2}
    assert set(steps(in_order).values()) == {3}
    assert content(late) == content(in_order)
    assert len(content(late)["performance_history"]) == 4


@pytest.mark.parametrize("threads", [1, 2])
def test_figures_are_the_same_when_all_is_computed_again(market: RawMarket, threads: int) -> None:
    before = content(market)
    market.database.execute(f"set global threads = {threads}")
    for table in ("built_models", "built_probe_runs"):
        market.database.execute(f"delete from meta.{table}")
    assert set(steps(market).values()) == {7}
    assert content(market) == before


@pytest.mark.parametrize("sweeps", [0, 1])
def test_without_probes_their_tables_are_empty(sweeps: int) -> None:
    market = RawMarket()
    for _ in range(sweeps):
        market.sweep("2026-11-29T06:17", {"a/b": []})
    build_all(market.database, MODELS)
    assert content(market) == {mart: [] for mart in MARTS}
    assert (
        market.database.rows(
            "select check_name from marts.data_health where check_name like 'probe%'"
        )
        == []
    )
