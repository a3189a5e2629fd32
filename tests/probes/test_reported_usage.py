"""Tokens, cost and server times are read as the provider reports them, wherever it does."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from probe_transcripts import DONE, STOP, delta, event, read, usage


def test_tokens_are_those_of_the_usage() -> None:
    sample = read(
        delta(content="Hi there all"),
        STOP,
        usage(
            prompt_tokens=60,
            completion_tokens=33,
            completion_tokens_details={"reasoning_tokens": 30},
            prompt_tokens_details={"cached_tokens": 12},
        ),
        DONE,
    )
    assert (sample.prompt_tokens, sample.cached_tokens) == (60, 12)
    assert (sample.completion_tokens, sample.reasoning_tokens) == (33, 30)
    assert (sample.token_source, len(sample.chunk_ns)) == ("usage", 1)


@pytest.mark.parametrize("place", ["first", "with text", "last choice", "within the choice"])
def test_usage_counts_wherever_it_stands(place: str) -> None:
    stated = {"prompt_tokens": 60, "completion_tokens": 4}
    choice = {"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}
    streams = {
        "first": [usage(**stated), delta(content="Hi"), STOP],
        "with text": [event({"choices": [choice], "usage": stated})],
        "last choice": [
            delta(content="Hi"),
            event({"choices": [{"index": 0, "delta": {}}], "usage": stated}),
        ],
        "within the choice": [event({"choices": [{**choice, "usage": stated}]})],
    }
    sample = read(*streams[place], DONE)
    assert (sample.prompt_tokens, sample.completion_tokens) == (60, 4)
    assert (sample.token_source, len(sample.chunk_ns)) == ("usage", 1)


def test_the_last_usage_counts_and_a_null_erases_none() -> None:
    sample = read(
        usage(prompt_tokens=60, completion_tokens=1, estimated_cost=None),
        delta(content="Hi"),
        usage(prompt_tokens=60, completion_tokens=5, estimated_cost=0.5),
        usage(prompt_tokens=60, completion_tokens=7, estimated_cost=None),
        event({"choices": [], "usage": None}),
        event({"choices": [], "usage": {}}),
        DONE,
    )
    assert (sample.completion_tokens, sample.cost_usd) == (7, Decimal("0.5"))


def test_groqs_own_usage_is_read_and_named() -> None:
    sample = read(
        delta(content="Hi"),
        event(
            {
                "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}],
                "x_groq": {
                    "id": "req",
                    "usage": {"prompt_tokens": 9, "completion_tokens": 3, "total_time": 0.25},
                },
            }
        ),
        DONE,
    )
    assert (sample.prompt_tokens, sample.completion_tokens) == (9, 3)
    assert (sample.token_source, len(sample.chunk_ns)) == ("x_groq", 1)
    assert json.loads(sample.server_timing_json or "") == {"usage": {"total_time": 0.25}}


def test_a_usage_of_the_common_kind_comes_before_groqs_own() -> None:
    chunk = {
        "choices": [],
        "x_groq": {"usage": {"completion_tokens": 3}},
        "usage": {"completion_tokens": 4},
    }
    sample = read(delta(content="Hi"), event(chunk), DONE)
    assert (sample.completion_tokens, sample.token_source) == (4, "usage")


@pytest.mark.parametrize(
    "stated",
    [
        None,
        {},
        {"prompt_tokens": 9},
        {"completion_tokens": 0},
        {"completion_tokens": -1},
        {"completion_tokens": "5"},
        {"completion_tokens": True},
        {"completion_tokens": 2**31},
    ],
)
def test_without_a_usable_count_tokens_are_chunks_and_say_so(stated: Any) -> None:
    last = event({"choices": [], "usage": stated})
    sample = read(delta(reasoning="a"), delta(content="b"), delta(content="c"), STOP, last, DONE)
    assert (sample.completion_tokens, sample.token_source) == (3, "chunks")
    assert sample.outcome == "ok"


def test_odd_details_leave_the_rest_of_the_usage_readable() -> None:
    odd = usage(
        prompt_tokens=9,
        completion_tokens=3.0,
        prompt_tokens_details=None,
        completion_tokens_details=[1],
    )
    sample = read(delta(content="Hi"), odd)
    assert (sample.prompt_tokens, sample.completion_tokens) == (9, 3)
    assert (sample.reasoning_tokens, sample.cached_tokens) == (None, None)


@pytest.mark.parametrize(
    ("stated", "reasoning", "cached"),
    [
        ({"reasoning_tokens": 4, "cached_tokens": 5}, 4, 5),
        ({"prompt_cache_hit_tokens": 320, "prompt_cache_miss_tokens": 19}, None, 320),
        (
            {"completion_tokens_details": {"reasoning_tokens": 0}, "reasoning_tokens": 4},
            0,
            None,
        ),
    ],
)
def test_reasoning_and_cached_tokens_are_read_in_each_of_their_places(
    stated: dict[str, Any], reasoning: int | None, cached: int | None
) -> None:
    sample = read(delta(content="Hi"), usage(**stated))
    assert (sample.reasoning_tokens, sample.cached_tokens) == (reasoning, cached)


def test_more_reasoning_than_completion_is_kept_as_reported() -> None:
    details = {"reasoning_tokens": 2590}
    sample = read(
        delta(content="x"), usage(completion_tokens=2567, completion_tokens_details=details)
    )
    assert (sample.completion_tokens, sample.reasoning_tokens) == (2567, 2590)


@pytest.mark.parametrize(
    ("total", "completion"),
    [
        pytest.param(976, 231, id="xAI: 745 + 5 + 226, reasoning beside the completion"),
        pytest.param(750, 5, id="745 + 5, reasoning within"),
        pytest.param(977, 5, id="neither"),
        pytest.param(None, 5, id="no total"),
    ],
)
def test_reasoning_that_is_counted_beside_the_completion_is_added_to_it(
    total: int | None, completion: int
) -> None:
    stated = {"prompt_tokens": 745, "completion_tokens": 5, "total_tokens": total}
    details = {"reasoning_tokens": 226}
    sample = read(delta(content="x"), usage(**stated, completion_tokens_details=details))
    assert (sample.completion_tokens, sample.reasoning_tokens) == (completion, 226)


def test_an_answer_that_is_all_reasoning_has_its_tokens_when_they_are_counted_beside() -> None:
    stated = {"prompt_tokens": 12, "completion_tokens": 0, "total_tokens": 302}
    sample = read(delta(reasoning="Hm"), usage(**stated, reasoning_tokens=290))
    assert (sample.completion_tokens, sample.token_source) == (290, "usage")


def test_reasoning_that_was_paid_but_not_shown_is_hidden() -> None:
    paid = usage(completion_tokens=40, completion_tokens_details={"reasoning_tokens": 30})
    free = usage(completion_tokens=40, completion_tokens_details={"reasoning_tokens": 0})
    assert read(delta(content="x"), paid).is_reasoning_hidden
    assert not read(delta(reasoning="r"), delta(content="x"), paid).is_reasoning_hidden
    assert not read(delta(content="x"), free).is_reasoning_hidden
    assert not read(delta(content="x")).is_reasoning_hidden


@pytest.mark.parametrize(
    ("stated", "cost"),
    [
        ('{"cost": 0.0076509169000000005}', "0.0076509169000000005"),
        ('{"cost": 1e-7}', "0.0000001"),
        ('{"cost": 0}', "0"),
        ('{"cost": null}', None),
        ('{"cost": -1}', None),
        ('{"cost": true}', None),
        ('{"cost": "0.5"}', None),
        ('{"cost": 1e999999999}', None),
        ('{"estimated_cost": 0.00078635}', "0.00078635"),
        ('{"cost": {"input_tokens_cost": 0.1, "total_cost": 0.3}}', "0.3"),
        ('{"cost_in_usd_ticks": 1466250}', "0.000146625"),
        ('{"cost_details": {"upstream_inference_cost": 0.2}}', "0.2"),
        ('{"cost": 0.2, "cost_details": {"upstream_inference_cost": 0.2}}', "0.2"),
        (
            '{"cost": 0.01, "is_byok": true, "cost_details": {"upstream_inference_cost": 0.2}}',
            "0.21",
        ),
        (
            '{"cost": 0.01, "is_byok": true, "cost_details": {"upstream_inference_cost": null}}',
            "0.01",
        ),
    ],
)
def test_the_cost_is_exact_and_read_in_each_of_its_shapes(stated: str, cost: str | None) -> None:
    sample = read(delta(content="Hi"), event(f'{{"choices": [], "usage": {stated}}}'), DONE)
    assert sample.cost_usd == (None if cost is None else Decimal(cost))


def test_the_usage_is_kept_whole() -> None:
    stated = {"prompt_tokens": 9, "cost": 0.5, "cost_details": {"upstream_inference_cost": 0.25}}
    assert json.loads(read(usage(**stated)).usage_json or "") == stated
    assert read(delta(content="Hi")).usage_json is None


@pytest.mark.parametrize(
    ("chunk", "timing"),
    [
        ({"timings": {"predicted_per_second": 9.5}}, {"timings": {"predicted_per_second": 9.5}}),
        ({"time_info": {"queue_time": 0.5}}, {"time_info": {"queue_time": 0.5}}),
        ({"openrouter_metadata": {"region": "x"}}, {"openrouter_metadata": {"region": "x"}}),
        (
            {"usage": {"time_to_first_token": 0.5, "total_latency": 2, "prompt_tokens": 9}},
            {"usage": {"time_to_first_token": 0.5, "total_latency": 2}},
        ),
        (
            {"usage": {"time_to_first_token_ms": 75.5, "tokens_per_second": 9.5}},
            {"usage": {"time_to_first_token_ms": 75.5, "tokens_per_second": 9.5}},
        ),
    ],
)
def test_the_servers_own_times_are_kept(chunk: dict[str, Any], timing: dict[str, Any]) -> None:
    sample = read(delta(content="Hi"), event({"choices": [], **chunk}), STOP, DONE)
    assert json.loads(sample.server_timing_json or "") == timing


def test_times_in_headers_are_kept_beside() -> None:
    name = "fireworks-server-time-to-first-token"
    sample = read(DONE, headers={name: "0.12", "server": "x"})
    assert json.loads(sample.server_timing_json or "") == {"headers": {name: "0.12"}}
    assert read(DONE).server_timing_json is None
