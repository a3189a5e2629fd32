"""Every request comes out one way, with the reason in one line."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from probe_transcripts import DONE, STOP, answered, delta, event

from pipeline.probes.exchange import Fault, FaultKind
from pipeline.probes.reading import read_sample
from pipeline.probes.transcript import Transcript

TOKEN = delta(content="Hi")
ANSWER = TOKEN + STOP + DONE
HTML = b"<html><head><title>522: Connection timed out</title></head><body>\n<p>Error</p>"


def outcome_of(*body: bytes, **changes: Any) -> tuple[str, str | None]:
    return verdict(answered((5_000_000, b"".join(body)), **changes))


def verdict(transcript: Transcript) -> tuple[str, str | None]:
    sample = read_sample(transcript)
    return sample.outcome, sample.reason


def refused(status: int, body: bytes, content_type: str = "application/json") -> str | None:
    sample = read_sample(
        answered((5_000_000, body), status=status, headers={"content-type": content_type})
    )
    assert sample.outcome == "http_error"
    assert sample.first_event_ns is None
    return sample.reason


def test_a_whole_stream_is_ok() -> None:
    assert outcome_of(ANSWER) == ("ok", None)


def test_a_stream_without_done_but_with_a_finish_reason_is_ok() -> None:
    assert outcome_of(TOKEN, STOP) == ("ok", None)


def test_a_stream_without_finish_reason_but_with_done_is_ok() -> None:
    assert outcome_of(TOKEN, DONE) == ("ok", None)


def test_a_done_whose_blank_line_was_left_out_counts() -> None:
    sample = read_sample(answered((5_000_000, TOKEN + b"data: [DONE]")))
    assert (sample.outcome, sample.is_done_seen) == ("ok", True)


def test_a_stream_that_ends_without_either_is_truncated() -> None:
    assert outcome_of(TOKEN) == (
        "truncated",
        "the stream ended without finish_reason and without [DONE]",
    )


def test_a_stream_that_ends_within_a_chunk_is_truncated_not_unreadable() -> None:
    assert outcome_of(TOKEN, b'data: {"choices": [{"ind')[0] == "truncated"
    assert outcome_of(TOKEN, b"data: 12")[0] == "truncated"


@pytest.mark.parametrize("body", [b"", delta(role="assistant", content="")])
def test_an_answer_without_a_token_is_truncated(body: bytes) -> None:
    assert outcome_of(body) == ("truncated", "no token came (finish_reason missing)")


def test_an_answer_that_reasoning_used_up_is_truncated() -> None:
    assert outcome_of(delta("length", content=""), DONE) == (
        "truncated",
        "no token came (finish_reason length)",
    )


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (429, "rate_limited"),
        (503, "overloaded"),
        (529, "overloaded"),
        *((status, "http_error") for status in (400, 401, 402, 403, 404, 408, 410, 500, 502, 504)),
        (302, "http_error"),
    ],
)
def test_a_refusal_comes_out_by_its_status(status: int, outcome: str) -> None:
    body = b'{"error": {"message": "not now", "code": 500}}'
    assert outcome_of(body, status=status) == (outcome, f"HTTP {status}: not now")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"error": {"message": "No endpoints found", "code": 404}}', "No endpoints found"),
        (b'{"error": "model not found"}', "model not found"),
        (b'{"error": true, "message": "gone"}', "gone"),
        (b'{"detail": "Not Found"}', "Not Found"),
        (b'{"object": "error", "message": "too long", "code": 400}', "too long"),
        (b'{"success": false, "errors": [{"code": 7003, "message": "no route"}]}', "no route"),
        (b'[{"error": {"code": 400, "message": "bad", "status": "INVALID"}}]', "bad"),
        (b'{"error": {"kind": "odd"}}', '{"kind":"odd"}'),
        (b'["odd"]', '["odd"]'),
        (b"upstream\r\n\tconnect\x00 error", "upstream connect error"),
        (HTML, "522: Connection timed out Error"),
    ],
)
def test_the_reason_holds_what_the_body_says(body: bytes, message: str) -> None:
    assert refused(400, body) == f"HTTP 400: {message}"


def test_what_openrouter_was_told_by_the_provider_comes_to_its_own_message() -> None:
    body = (
        b'{"error": {"message": "Provider returned error", "code": 400, '
        b'"metadata": {"raw": "max_tokens too small", "provider_name": "Azure"}}}'
    )
    assert refused(400, body) == "HTTP 400: Provider returned error: max_tokens too small"


def test_a_refusal_without_a_body_has_its_status_for_a_reason() -> None:
    assert refused(502, b"") == "HTTP 502"


def test_a_refusal_whose_body_was_cut_keeps_its_status() -> None:
    assert outcome_of(b'{"err', status=429, fault=Fault("cut", "reset"))[0] == "rate_limited"


def test_a_reason_is_short_and_printable() -> None:
    reason = refused(400, b"e\x1b[31m\xe2\x80\xae " + b"word " * 100, "text/plain")
    assert reason is not None
    assert reason.startswith("HTTP 400: e [31m word word")
    assert reason.endswith("…")
    assert len(reason) == len("HTTP 400: ") + 200
    assert reason.isprintable()


@pytest.mark.parametrize(
    "secret",
    [
        "sk-or-v1-0123456789abcdef",
        "gsk_abcdEFGH1234",
        "sk-proj-****abcd",
        "0123456789abcdef0123456789abcdef",
        "01234567-89ab-cdef-0123-456789abcdef",
        "Bearer abc.def",
    ],
)
def test_a_key_that_the_provider_repeats_is_hidden(secret: str) -> None:
    body = f'{{"error": {{"message": "Incorrect API key: {secret} given"}}}}'.encode()
    assert refused(401, body) == "HTTP 401: Incorrect API key: [hidden] given"


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        ({"message": "boom", "code": 502}, "stream_error"),
        ({"message": "boom", "code": "server_error"}, "stream_error"),
        ({"message": "boom"}, "stream_error"),
        ("boom", "stream_error"),
        ({"message": "boom", "code": 429}, "rate_limited"),
        ({"message": "boom", "code": "429"}, "rate_limited"),
        ({"message": "boom", "code": "rate_limit_exceeded"}, "rate_limited"),
        ({"message": "boom", "http_status": 429}, "rate_limited"),
        ({"message": "boom", "code": 503}, "overloaded"),
        ({"message": "boom", "code": 529}, "overloaded"),
        ({"message": "boom", "type": "overloaded_error"}, "overloaded"),
    ],
)
def test_an_error_within_a_stream_comes_out_by_its_code(error: Any, outcome: str) -> None:
    chunk = event({"choices": [{"index": 0, "delta": {"content": ""}}], "error": error})
    assert outcome_of(TOKEN, chunk, DONE) == (outcome, "boom")


@pytest.mark.parametrize(
    "events",
    [
        b'event: error\ndata: {"error": {"message": "boom", "code": 500}}\n\n',
        b'event: error\ndata: {"message": "boom"}\n\n',
        b"event: error\ndata: boom\n\n",
        event({"object": "error", "message": "boom", "code": 400}),
        event({"x_groq": {"id": "req", "error": "boom"}, "choices": []}),
        event({"choices": [{"index": 0, "delta": {}, "error": {"message": "boom"}}]}),
    ],
)
def test_an_error_is_seen_wherever_it_stands(events: bytes) -> None:
    assert outcome_of(TOKEN, events, DONE) == ("stream_error", "boom")


def test_a_finish_reason_error_is_an_error() -> None:
    assert outcome_of(TOKEN, delta("error"), DONE) == ("stream_error", "finish_reason error")


def test_the_first_error_is_the_reason() -> None:
    assert outcome_of(event({"error": "one"}), event({"error": "two"}))[1] == "one"


@pytest.mark.parametrize("error", [None, {}, ""])
def test_an_empty_error_is_none(error: Any) -> None:
    assert outcome_of(event({"choices": [], "error": error}), ANSWER) == ("ok", None)


def test_an_error_before_the_cut_is_the_reason_and_its_tokens_are_kept() -> None:
    transcript = answered(
        (5_000_000, TOKEN), (6_000_000, event({"error": "boom"})), fault=Fault("cut", "reset")
    )
    assert verdict(transcript) == ("stream_error", "boom")
    assert read_sample(transcript).chunk_ns == (5_000_000,)


@pytest.mark.parametrize("text", ["<html>", '"text"', "[1]", "7", "{", "[DONE", '{"a": NaN}'])
def test_an_event_that_is_no_chunk_is_an_error(text: str) -> None:
    assert outcome_of(TOKEN, event(text), ANSWER) == (
        "stream_error",
        f"event 2 is no JSON object: {text}",
    )


@pytest.mark.parametrize(
    "events",
    [
        b": ping\n\n",
        b"data:\n\n",
        b"event: ping\ndata: now\n\n",
        b'event: ping\ndata: {"type": "ping"}\n\n',
        event({}),
    ],
)
def test_a_sign_of_life_is_no_error(events: bytes) -> None:
    assert outcome_of(events, TOKEN, events, STOP, DONE) == ("ok", None)


def test_what_comes_after_done_is_no_part_of_the_answer() -> None:
    assert outcome_of(ANSWER, event("goodbye"), event({"error": "late"})) == ("ok", None)


@pytest.mark.parametrize(
    ("content_type", "body", "reason"),
    [
        (
            "application/json",
            b'{"object": "chat.completion", "choices": [{"message": {"content": "Hi"}}]}',
            "one JSON document came instead of a stream",
        ),
        (
            "text/html; charset=utf-8",
            HTML,
            "text/html came instead of a stream: 522: Connection timed out Error",
        ),
        ("application/json", b'{"error": {"message": "boom", "code": 500}}', "boom"),
        ("text/event-stream", b'{"error": {"message": "boom"}}', "boom"),
    ],
)
def test_another_body_than_a_stream_is_an_error(
    content_type: str, body: bytes, reason: str
) -> None:
    headers = {"content-type": content_type}
    assert outcome_of(body, headers=headers) == ("stream_error", reason)


def test_an_error_document_with_status_200_comes_out_by_its_code() -> None:
    body = b'{"error": {"message": "slow down", "code": 429}}'
    headers = {"content-type": "application/json"}
    assert outcome_of(body, headers=headers) == ("rate_limited", "slow down")


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-ndjson", ""])
def test_a_stream_under_a_wrong_content_type_is_read(content_type: str) -> None:
    assert outcome_of(ANSWER, headers={"content-type": content_type}) == ("ok", None)


@pytest.mark.parametrize(
    ("kind", "outcome"),
    [
        ("connect", "http_error"),
        ("timeout", "timeout"),
        ("cut", "truncated"),
        ("protocol", "stream_error"),
        ("stopped", "truncated"),
    ],
)
def test_a_fault_is_the_outcome_with_or_without_a_part_of_the_answer(
    kind: FaultKind, outcome: str
) -> None:
    fault = Fault(kind, "what happened")
    assert outcome_of(status=None, fault=fault) == (outcome, "what happened")
    assert outcome_of(TOKEN, fault=fault) == (outcome, "what happened")
    assert outcome_of(TOKEN, STOP, fault=fault) == (outcome, "what happened")
    assert outcome_of(b": OPENROUTER PROCESSING\n\n", fault=fault) == (outcome, "what happened")


def test_a_fault_after_done_is_no_failure() -> None:
    assert outcome_of(ANSWER, fault=Fault("timeout", "idle")) == ("ok", None)


def test_a_stream_that_the_budget_stopped_is_cancelled_not_truncated() -> None:
    fault = Fault("stopped", "the budget of the run is spent")
    assert outcome_of(TOKEN, fault=fault) == ("cancelled_budget", "the budget of the run is spent")


def served(by: str | None, **pin: str) -> tuple[str, str | None]:
    chunk = {"choices": [{"index": 0, "delta": {"content": "Hi"}}], "provider": by}
    return outcome_of(event(chunk), STOP, DONE, **pin)


@pytest.mark.parametrize(
    ("tag", "by"),
    [
        ("novita/fp8", "Novita"),
        ("amazon-bedrock", "Amazon Bedrock"),
        ("google-vertex/us-south1", "Google"),
        ("sambanova-turbo", "SambaNova"),
        ("xai", "xAI"),
        ("together", None),
    ],
)
def test_a_tag_is_served_by_the_provider_whose_name_it_begins(tag: str, by: str | None) -> None:
    assert served(by, tag=tag) == ("ok", None)


def test_another_provider_than_the_pinned_one_is_a_wrong_provider() -> None:
    assert served("xAI", tag="novita/fp8") == (
        "wrong_provider",
        "served by xAI, not by novita/fp8",
    )


def test_a_provider_whose_name_is_known_must_have_that_very_name() -> None:
    assert served("Google", tag="google-vertex", provider_name="Google") == ("ok", None)
    assert served("Google AI Studio", tag="google-vertex", provider_name="Google") == (
        "wrong_provider",
        "served by Google AI Studio, not by Google",
    )


def test_a_provider_that_was_asked_directly_may_call_itself_what_it_likes() -> None:
    assert served("whoever") == ("ok", None)


def test_the_failure_of_a_wrong_provider_is_not_the_pinned_ones() -> None:
    chunk = event({"provider": "xAI", "error": {"message": "boom", "code": 429}})
    assert outcome_of(chunk, tag="novita")[0] == "wrong_provider"


@pytest.mark.parametrize("why", ["refused_config", "cancelled_budget"])
def test_a_request_that_was_never_sent_says_why_and_has_no_times(why: Any) -> None:
    transcript = replace(answered(), exchange=None, not_sent=why, not_sent_reason="too dear")
    sample = read_sample(transcript)
    assert (sample.outcome, sample.reason) == (why, "too dear")
    assert (sample.scheduled_ns, sample.sent_ns, sample.first_token_ns) == (None, None, None)
    assert (sample.chunk_ns, sample.token_source, sample.cost_usd) == ((), None, None)
    assert sample.scheduled_at_utc.isoformat() == "2026-06-01T00:00:00+00:00"
    assert sample.sent_at_utc is None
