"""An endpoint's line through time: what joins it, what splits it, what ends it."""

from __future__ import annotations

from typing import Any

import pytest
from raw_market import RawMarket, endpoint, models_behind

from pipeline.building import build_all
from pipeline.sql_models import load_sql_models

MODELS = load_sql_models()
STATES = models_behind("intermediate.int_endpoint_states", MODELS)
MODEL = "acme/small-8b"


@pytest.fixture
def market() -> RawMarket:
    return RawMarket()


def states(market: RawMarket, columns: str = "event, tag") -> list[tuple[Any, ...]]:
    build_all(market.database, STATES)
    return market.database.rows(
        f"select {columns} from intermediate.int_endpoint_states "
        "order by sweep_started_at_utc, sweep_id, provider_name, tag, endpoint_ordinal"
    )


def endpoint_count(market: RawMarket) -> int:
    return int(
        market.database.value(
            "select count(distinct endpoint_id) from intermediate.int_endpoint_states"
        )
    )


def test_an_unchanged_endpoint_has_one_state_however_often_it_is_seen(market: RawMarket) -> None:
    for day in (1, 2, 3):
        market.sweep(f"2026-11-0{day}T06:17", {MODEL: [endpoint()]})
    assert states(market) == [("first", "acme")]


def test_a_price_change_starts_a_new_state_of_the_same_endpoint(market: RawMarket) -> None:
    market.sweep("2026-11-01T06:17", {MODEL: [endpoint(input="0.152")]})
    market.sweep("2026-11-02T06:17", {MODEL: [endpoint(input="0.149")]})
    assert states(market, "event, left(input_usd_per_mtok::varchar, 5)") == [
        ("first", "0.152"),
        ("changed", "0.149"),
    ]
    assert endpoint_count(market) == 1


def test_an_endpoint_missing_from_its_models_answer_is_gone_and_can_come_back(
    market: RawMarket,
) -> None:
    other = endpoint("Other", "other")
    market.sweep("2026-11-01T06:17", {MODEL: [endpoint(), other]})
    market.sweep("2026-11-02T06:17", {MODEL: [other]})
    market.sweep("2026-11-03T06:17", {MODEL: [other]})
    market.sweep("2026-11-04T06:17", {MODEL: [endpoint(), other]})
    rows = states(
        market, "event, tag, seen_from_utc::date::varchar, last_seen_before_utc::date::varchar"
    )
    assert rows == [
        ("first", "acme", "2026-11-01", None),
        ("first", "other", "2026-11-01", None),
        ("gone", "acme", "2026-11-02", "2026-11-01"),
        ("back", "acme", "2026-11-04", None),
    ]
    assert endpoint_count(market) == 2


def test_a_partial_sweep_never_removes_an_endpoint(market: RawMarket) -> None:
    market.sweep("2026-11-01T06:17", {MODEL: [endpoint()], "acme/big": [endpoint()]})
    market.sweep("2026-11-02T06:17", {MODEL: None, "acme/big": [endpoint()]})
    assert states(market, "event, partition_date::varchar") == [("first", "2026-11-01")] * 2


def test_a_sweep_without_a_model_list_removes_nothing(market: RawMarket) -> None:
    market.sweep("2026-11-01T06:17", {MODEL: [endpoint()]})
    market.sweep("2026-11-02T06:17", {}, status="failed")
    assert states(market) == [("first", "acme")]


def test_a_record_in_quarantine_does_not_make_its_endpoint_look_removed(
    market: RawMarket,
) -> None:
    other = endpoint("Other", "other")
    market.sweep("2026-11-01T06:17", {MODEL: [endpoint(), other]})
    market.sweep("2026-11-02T06:17", {MODEL: [other]}, quarantined=[MODEL])
    assert [row[0] for row in states(market)] == ["first", "first"]


def test_a_model_no_longer_listed_takes_its_endpoints_along(market: RawMarket) -> None:
    stays = {f"acme/stays-{number}": [endpoint()] for number in range(9)}
    market.sweep("2026-11-01T06:17", {**stays, MODEL: [endpoint()]})
    market.sweep("2026-11-02T06:17", stays)
    assert ("gone", MODEL) in states(market, "event, model_id")


def test_a_list_that_lost_a_fifth_of_its_models_at_once_is_not_believed(
    market: RawMarket,
) -> None:
    full = {f"acme/model-{number}": [endpoint()] for number in range(10)}
    short = dict(list(full.items())[:7])
    market.sweep("2026-11-01T06:17", full)
    market.sweep("2026-11-02T06:17", short)
    assert {row[0] for row in states(market)} == {"first"}
    market.sweep("2026-11-03T06:17", short)
    assert [row[0] for row in states(market)].count("gone") == 3


def test_a_model_list_that_lacks_a_page_removes_nothing(market: RawMarket) -> None:
    full = {f"acme/model-{number}": [endpoint()] for number in range(10)}
    market.sweep("2026-11-01T06:17", full)
    market.sweep("2026-11-02T06:17", dict(list(full.items())[:9]), has_whole_model_list=False)
    assert {row[0] for row in states(market)} == {"first"}


def test_a_drifting_tag_keeps_the_line_of_its_endpoint(market: RawMarket) -> None:
    groq = endpoint("Groq", "groq")
    market.sweep("2026-11-01T06:17", {MODEL: [groq, endpoint("Alibaba", "alibaba")]})
    market.sweep("2026-11-02T06:17", {MODEL: [groq, endpoint("Alibaba", "alibaba/fp8")]})
    assert states(market) == [
        ("first", "alibaba"),
        ("first", "groq"),
        ("changed", "alibaba/fp8"),
    ]
    assert endpoint_count(market) == 2


def test_an_ambiguous_drift_is_not_joined(market: RawMarket) -> None:
    market.sweep(
        "2026-11-01T06:17",
        {MODEL: [endpoint("Pool", "pool/bf16"), endpoint("Pool", "pool/fp8")]},
    )
    market.sweep("2026-11-02T06:17", {MODEL: [endpoint("Pool", "pool/fp4")]})
    assert states(market) == [
        ("first", "pool/bf16"),
        ("first", "pool/fp8"),
        ("gone", "pool/bf16"),
        ("new", "pool/fp4"),
        ("gone", "pool/fp8"),
    ]


def test_a_tier_does_not_take_the_place_of_another(market: RawMarket) -> None:
    market.sweep("2026-11-01T06:17", {MODEL: [endpoint("OpenAI", "openai")]})
    market.sweep("2026-11-02T06:17", {MODEL: [endpoint("OpenAI", "openai/flex", tier="flex")]})
    assert states(market)[1:] == [("gone", "openai"), ("new", "openai/flex")]


def test_twins_are_kept_apart_when_their_order_flips(market: RawMarket) -> None:
    cheap = endpoint("Google", "google-vertex", input="0.22", context_length=32000)
    dear = endpoint("Google", "google-vertex", input="0.25", context_length=262144)
    market.sweep("2026-11-01T06:17", {MODEL: [cheap, dear]})
    market.sweep("2026-11-02T06:17", {MODEL: [dear, cheap]})
    rows = states(market, "event, context_length")
    assert rows[:2] == [("first", 32000), ("first", 262144)]
    assert endpoint_count(market) == 2
    build_all(market.database, MODELS)
    assert market.database.rows("select * from marts.price_changes") == []


def test_a_twin_that_vanishes_leaves_the_line_of_the_other_alone(market: RawMarket) -> None:
    cheap = endpoint("Google", "google-vertex", input="0.22", context_length=32000)
    dear = endpoint("Google", "google-vertex", input="0.25", context_length=262144)
    market.sweep("2026-11-01T06:17", {MODEL: [cheap, dear]})
    market.sweep("2026-11-02T06:17", {MODEL: [dear]})
    build_all(market.database, MODELS)
    changes = market.database.rows("select kind, old_value, new_value from marts.price_changes")
    assert changes == [("gone", "google-vertex", None)]
    assert market.database.rows(
        "select context_length from marts.provider_table where not is_stale"
    ) == [(262144,)]


def test_the_headline_price_of_a_timetable_follows_the_clock_and_is_no_change(
    market: RawMarket,
) -> None:
    timetable = '[{"prompt":"0.0000005","utc_end":1600,"utc_start":830}]'
    market.sweep("2026-11-01T06:17", {MODEL: [endpoint(input="1", overrides_json=timetable)]})
    market.sweep("2026-11-01T12:17", {MODEL: [endpoint(input="0.5", overrides_json=timetable)]})
    assert [row[0] for row in states(market)] == ["first"]
    later = timetable.replace("1600", "1700")
    market.sweep("2026-11-02T06:17", {MODEL: [endpoint(input="1", overrides_json=later)]})
    assert [row[0] for row in states(market)] == ["first", "changed"]


def test_an_endpoint_of_a_model_that_never_answered_before_is_not_called_new(
    market: RawMarket,
) -> None:
    market.sweep("2026-11-01T06:17", {MODEL: None, "acme/big": [endpoint()]})
    market.sweep("2026-11-02T06:17", {MODEL: [endpoint()], "acme/big": [endpoint()]})
    market.sweep(
        "2026-11-03T06:17",
        {MODEL: [endpoint()], "acme/big": [endpoint()], "acme/fresh": [endpoint()]},
    )
    assert states(market, "event, model_id") == [
        ("first", "acme/big"),
        ("first", MODEL),
        ("new", "acme/fresh"),
    ]


def test_a_sweep_that_comes_in_late_takes_its_place_in_time(market: RawMarket) -> None:
    """A backfilled day gives the same states as if it had been there from the start."""
    days = {
        "2026-11-01T06:17": {MODEL: [endpoint(input="1")]},
        "2026-11-02T06:17": {MODEL: [endpoint(input="2")]},
        "2026-11-03T06:17": {MODEL: [endpoint(input="1")]},
    }
    in_order = RawMarket()
    for at, listing in days.items():
        in_order.sweep(at, listing)
    for at in ("2026-11-01T06:17", "2026-11-03T06:17"):
        market.sweep(at, days[at])
    assert [row[0] for row in states(market)] == ["first"]
    market.sweep("2026-11-02T06:17", days["2026-11-02T06:17"])
    assert states(market, "*") == states(in_order, "*")
    assert len(states(market)) == 3


def test_building_twice_changes_nothing(market: RawMarket) -> None:
    market.sweep("2026-11-01T06:17", {MODEL: [endpoint(input="1")]})
    market.sweep("2026-11-02T06:17", {MODEL: [endpoint(input="2")]})
    build_all(market.database, MODELS)
    once = states(market, "*")
    results = build_all(market.database, MODELS)
    assert states(market, "*") == once
    assert all(result.steps == 0 for result in results)


def test_several_sweeps_of_one_day_each_count(market: RawMarket) -> None:
    market.sweep("2026-11-01T06:17", {MODEL: [endpoint(input="1")]})
    states(market)
    market.sweep("2026-11-01T12:17", {MODEL: [endpoint(input="3")]})
    states(market)
    market.sweep("2026-11-01T18:17", {MODEL: [endpoint(input="1")]})
    assert [row[0] for row in states(market)] == ["first", "changed", "changed"]


def test_every_table_keeps_its_contract_when_all_of_this_happens(market: RawMarket) -> None:
    stays = {f"acme/stays-{number}": [endpoint()] for number in range(9)}
    twin = endpoint("Google", "google-vertex", input="0.22", context_length=32000)
    other_twin = twin | {"context_length": 262144}
    timetable = '[{"prompt":"0.0000005","utc_end":1600,"utc_start":830}]'
    bands = endpoint("Bands", "bands", overrides_json=timetable)
    market.sweep(
        "2026-11-01T06:17",
        {
            **stays,
            MODEL: [endpoint(), endpoint("Alibaba", "alibaba"), bands],
            "acme/twins": [twin, other_twin],
            "acme/pool": [endpoint("Pool", "pool/bf16"), endpoint("Pool", "pool/fp8")],
            "acme/later": None,
            "acme/leaves": [endpoint()],
        },
    )
    market.sweep(
        "2026-11-02T06:17",
        {
            **stays,
            MODEL: [endpoint("Alibaba", "alibaba/fp8"), bands],
            "acme/twins": [other_twin, twin],
            "acme/pool": [endpoint("Pool", "pool/fp4")],
            "acme/later": [endpoint("OpenAI", "openai")],
        },
        quarantined=["acme/later"],
    )
    market.sweep("2026-11-03T06:17", {}, status="failed")
    market.sweep("2026-11-04T06:17", {**stays, MODEL: [endpoint()]}, has_whole_model_list=False)
    market.sweep(
        "2026-11-04T18:17",
        {
            **stays,
            MODEL: [endpoint(input="3")],
            "acme/twins": [twin],
            "acme/pool": None,
            "acme/later": [endpoint("OpenAI", "openai/flex", tier="flex")],
        },
    )

    build_all(market.database, MODELS)

    events = market.database.rows("select distinct event from intermediate.int_endpoint_states")
    assert {event for (event,) in events} == {"first", "new", "changed", "gone", "back"}
