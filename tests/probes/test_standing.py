"""What a run learns of a target: when to leave it alone, and when to give it up."""

from __future__ import annotations

from typing import Any

import pytest
from probe_plans import config_of
from probe_samples import failed, sample

from pipeline.probes.planning import WARM_UP, PlannedBatch, PlannedRequest
from pipeline.probes.standing import Standing
from pipeline.probes.transcript import Phase


def batch(phase: Phase = "measure") -> PlannedBatch:
    target = config_of().providers[0]
    return PlannedBatch(target, "short_chat", phase, 1, 1, (PlannedRequest(WARM_UP),))


def refused(status: int) -> Any:
    return failed("http_error", http_status=status, reason=f"HTTP {status}: no")


@pytest.mark.parametrize("status", [401, 402, 403, 404, 410])
def test_a_target_is_given_up_when_it_refuses_twice_in_a_row(status: int) -> None:
    standing = Standing()

    standing.heed(batch("warm_up"), [refused(status)])
    assert standing.is_doubtful
    assert standing.refusal is None

    standing.heed(batch(), [refused(status)])
    assert standing.refusal == f"refused 2 times in a row: HTTP {status}: no"


def test_a_target_is_not_given_up_before_it_was_measured() -> None:
    standing = Standing()

    standing.heed(batch("warm_up"), [refused(401)] * 4)

    assert standing.is_doubtful
    assert standing.refusal is None


@pytest.mark.parametrize(
    "between", [sample(), refused(403), failed("timeout"), failed("overloaded", http_status=503)]
)
def test_two_refusals_with_something_else_between_are_no_reason_to_give_up(between: Any) -> None:
    standing = Standing()

    standing.heed(batch(), [refused(401), between])
    standing.heed(batch(), [refused(401)])

    assert standing.refusal is None


def test_failures_that_may_pass_are_no_reason_to_give_up() -> None:
    standing = Standing()

    standing.heed(batch(), [failed("rate_limited", http_status=429)] * 5 + [refused(500)] * 5)

    assert standing.refusal is None
    assert not standing.is_doubtful


@pytest.mark.parametrize(("asked_s", "waits_s"), [(2.5, 2.5), (3600.0, 30.0)])
def test_a_target_is_left_alone_as_long_as_it_asks_for_but_not_for_ever(
    asked_s: float, waits_s: float
) -> None:
    now = [100.0]
    standing = Standing(monotonic=lambda: now[0])

    standing.heed(batch(), [failed("rate_limited", http_status=429, retry_after_s=asked_s)])

    assert standing.wait_s == waits_s
    now[0] += 60
    assert standing.wait_s == 0


def test_a_batch_of_bad_requests_is_sent_once_more_without_stream_options() -> None:
    standing = Standing()

    assert standing.refuses_usage([400, 400])
    assert not standing.asks_for_usage
    assert not standing.refuses_usage([200, 200])
    assert not standing.asks_for_usage


def test_stream_options_that_were_not_the_reason_go_with_later_requests_again() -> None:
    standing = Standing()

    assert standing.refuses_usage([400])
    assert not standing.refuses_usage([400])
    assert standing.asks_for_usage
    assert not standing.refuses_usage([400])


def test_a_bad_request_after_a_good_one_is_an_outcome() -> None:
    standing = Standing()

    assert not standing.refuses_usage([200, 429])
    assert not standing.refuses_usage([400, 400])
    assert standing.asks_for_usage


@pytest.mark.parametrize("statuses", [[400, 429], [None], [503]])
def test_what_tells_nothing_of_stream_options_leaves_the_question_open(
    statuses: list[int | None],
) -> None:
    standing = Standing()

    assert not standing.refuses_usage(statuses)
    assert standing.refuses_usage([400])


def test_the_mean_latency_is_that_of_answers() -> None:
    standing = Standing()
    assert standing.mean_latency_s is None

    # A sample's last token comes 500 ms after it was sent.
    standing.heed(batch(), [sample(), failed("timeout")])
    standing.heed(batch(), [failed("timeout")])

    assert standing.mean_latency_s == 0.5
