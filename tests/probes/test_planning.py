"""The plan of a run: how many requests of what go out together, and in which order."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from probe_plans import NOON, config_of, target

from pipeline.probes.planning import PlannedBatch, plan_run, shares, waves


def plan(*targets: dict[str, Any], **config: Any) -> list[PlannedBatch]:
    return plan_run(config_of(*targets, **({"seed": 1} | config)), {}, NOON)


def sizes(batches: list[PlannedBatch]) -> list[tuple[str, int]]:
    return [(batch.phase, len(batch.requests)) for batch in batches]


@pytest.mark.parametrize(
    ("total", "parts", "expected"),
    [(10, 3, [4, 3, 3]), (50, 1, [50]), (4, 4, [1, 1, 1, 1]), (2, 3, [1, 1, 0])],
)
def test_shares_are_even_and_exact(total: int, parts: int, expected: list[int]) -> None:
    assert shares(total, parts) == expected


def test_every_wave_has_a_request_for_each_stream() -> None:
    assert waves(10, 4) == [5, 5]
    assert waves(3, 4) == [3]


def test_a_stream_is_warmed_up_once_before_it_is_measured() -> None:
    assert sizes(plan(runs=6, concurrency=3, rounds=2)) == [
        ("warm_up", 3),
        ("measure", 3),
        ("measure", 3),
    ]
    assert sizes(plan(runs=6, warm_up=0)) == [("measure", 6)]
    assert sizes(plan(runs=6, warm_up=2, concurrency=3))[0] == ("warm_up", 6)


def test_a_warm_up_asks_for_few_tokens() -> None:
    warm_up, measured = plan(runs=1)

    assert warm_up.requests[0].prompt.max_tokens == 16
    assert measured.requests[0].prompt.max_tokens == 300


def test_rounds_share_the_runs_of_every_combination() -> None:
    batches = plan(
        target("a"), target("b"), runs=10, rounds=3, concurrency=[1, 2], warm_up=0,
        prompts=["short_chat", "10k_in"],
    )  # fmt: skip

    requests = Counter[tuple[str, str, int]]()
    for batch in batches:
        combination = (batch.target.name, batch.prompt_set, batch.concurrency)
        requests[combination] += len(batch.requests)
    assert len(requests) == 8
    assert set(requests.values()) == {10}
    assert [batch.round for batch in batches] == [1] * 8 + [2] * 8 + [3] * 8


def test_the_order_of_combinations_differs_by_round_and_is_that_of_the_seed() -> None:
    targets = [target(name) for name in "abcdefgh"]

    def order(seed: int) -> list[list[str]]:
        batches = plan(*targets, runs=2, rounds=2, warm_up=0, seed=seed)
        names = [batch.target.name for batch in batches]
        return [names[:8], names[8:]]

    first, second = order(7)
    assert first != second
    assert sorted(first) == sorted(second) == list("abcdefgh")
    assert order(7) == [first, second]
    assert order(8) != [first, second]


def test_a_closed_loop_sends_at_least_one_request_a_stream() -> None:
    assert sizes(plan(runs=10, concurrency=16, rounds=3, warm_up=0)) == [("measure", 16)]
    assert sizes(plan(runs=40, concurrency=16, rounds=3, warm_up=0)) == [
        ("measure", 20),
        ("measure", 20),
    ]


def test_an_open_loop_takes_its_concurrency_for_a_limit_only() -> None:
    (batch,) = plan(
        runs=4, concurrency=16, warm_up=0, arrival={"kind": "constant", "rate_per_s": 8}
    )

    assert (batch.loop, batch.offered_rate_per_s) == ("open", 8)
    assert batch.due_s == (0, 0.125, 0.25, 0.375)


def test_an_open_loop_warms_up_no_more_connections_than_it_can_use() -> None:
    batches = plan(runs=4, concurrency=16, arrival={"kind": "poisson", "rate_per_s": 8})

    assert sizes(batches) == [("warm_up", 4), ("measure", 4)]


def test_turns_of_a_pair_follow_each_other_in_batches_of_one_request_a_stream() -> None:
    batches = plan(runs=8, concurrency=2, warm_up=0, prompts=["cached_prefix"])

    assert [[request.turn for request in batch.requests] for batch in batches] == [
        [1, 1],
        [2, 2],
        [1, 1],
        [2, 2],
    ]
    pairs = [[request.pair_id for request in batch.requests] for batch in batches]
    assert pairs[0] == pairs[1] == ["a/cached_prefix/2/1", "a/cached_prefix/2/2"]
    assert pairs[2] == pairs[3] == ["a/cached_prefix/2/3", "a/cached_prefix/2/4"]


def test_a_pair_is_never_sent_by_half() -> None:
    assert sizes(plan(runs=5, warm_up=0, prompts=["cached_prefix"])) == [("measure", 1)] * 6


def test_a_cold_start_is_the_first_of_all_and_once_for_each_target() -> None:
    batches = plan(target("a"), target("b"), runs=2, rounds=2, prompts=["short_chat", "cold_start"])

    cold = batches[:2]
    assert sizes(cold) == [("cold_start", 1), ("cold_start", 1)]
    assert {batch.target.name for batch in cold} == {"a", "b"}
    assert all(batch.uses_new_connections for batch in cold)
    assert "cold_start" not in {batch.phase for batch in batches[2:]}


def test_a_target_that_was_asked_just_now_has_no_cold_start() -> None:
    config = config_of(target("a"), target("b"), prompts=["cold_start"], warm_up=0)
    asked = {"a": NOON - timedelta(minutes=9), "b": NOON - timedelta(minutes=10)}

    assert [batch.target.name for batch in plan_run(config, asked, NOON)] == ["b"]


def test_every_target_gets_the_same_prompts(tmp_path: Any) -> None:
    own = tmp_path / "own.jsonl"
    own.write_text("".join(f'{{"prompt": "p{n}"}}\n' for n in range(3)))
    batches = plan(
        target("a"), target("b"), runs=4, rounds=2, warm_up=0, prompts=[{"jsonl": str(own)}]
    )

    asked: dict[str, list[str]] = {"a": [], "b": []}
    for batch in batches:
        asked[batch.target.name] += [
            request.prompt.messages[0]["content"] for request in batch.requests
        ]
    assert asked == {"a": ["p0", "p1", "p2", "p0"], "b": ["p0", "p1", "p2", "p0"]}


def test_part_of_a_batch_keeps_its_due_times() -> None:
    (batch,) = plan(
        runs=4, concurrency=16, warm_up=0, arrival={"kind": "constant", "rate_per_s": 8}
    )

    rest = batch.part(1)

    assert rest.due_s == (0.125, 0.25, 0.375)
    assert len(rest.requests) == 3
