"""How a transcript becomes a sample: times, texts, names, blocks and limits."""

from __future__ import annotations

import json
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

import pytest
from probe_transcripts import ASK, DONE, MS, ROLE, STOP, answered, delta, event, read, usage

from pipeline.probes.reading import read_sample
from pipeline.probes.sample import Sample


def test_the_first_token_is_the_first_text_not_the_role() -> None:
    sample = read(ROLE, delta(role="assistant", content=None), delta(content="Hi"), STOP, DONE)
    assert sample.first_event_ns == 1 * MS
    assert sample.first_token_ns == sample.first_answer_ns == 3 * MS


def test_reasoning_is_a_token_and_the_answer_is_stamped_apart() -> None:
    sample = read(ROLE, delta(reasoning_content="Hm"), delta(content="Hi"), STOP, DONE)
    assert sample.first_reasoning_ns == sample.first_token_ns == 2 * MS
    assert sample.first_answer_ns == sample.last_token_ns == 3 * MS


def test_reasoning_alone_has_no_answer() -> None:
    sample = read(delta(reasoning="Hm"), STOP, DONE)
    assert (sample.first_token_ns, sample.first_answer_ns) == (1 * MS, None)
    assert sample.outcome == "ok"


def test_the_first_stamp_is_written_once_and_usage_sets_no_time() -> None:
    sample = read(
        delta(content="a"),
        delta(content="b"),
        STOP,
        usage(prompt_tokens=3, completion_tokens=2),
        DONE,
    )
    assert sample.first_token_ns == 1 * MS
    assert sample.last_token_ns == 2 * MS
    assert sample.chunk_ns == (1 * MS, 2 * MS)
    assert sample.end_ns == 5 * MS


def test_a_comment_is_no_event() -> None:
    comment = b": OPENROUTER PROCESSING\n\n"
    sample = read(comment, comment, ROLE, comment, delta(content="Hi"), STOP, DONE)
    assert (sample.first_event_ns, sample.first_token_ns) == (3 * MS, 5 * MS)
    assert sample.events == 3


def test_no_token_has_no_time_rather_than_zero() -> None:
    sample = read(ROLE, DONE)
    assert (sample.first_token_ns, sample.first_answer_ns, sample.last_token_ns) == (None,) * 3
    assert (sample.chunk_ns, sample.chunk_bytes, sample.token_source) == ((), (), None)


def test_a_token_has_the_stamp_of_the_piece_that_completed_its_event() -> None:
    one, two = delta(content="a"), delta(content="b")
    sample = read_sample(
        answered((10, one[:5]), (20, one[5:-1]), (30, one[-1:] + two[:20]), (40, two[20:] + DONE))
    )
    assert sample.chunk_ns == (30, 40)


def test_chunks_of_one_piece_share_its_stamp_and_are_counted() -> None:
    one, two, three = (delta(content=text) for text in "abc")
    sample = read_sample(answered((10, ROLE + one + two), (20, three), (30, STOP + DONE)))
    assert sample.chunk_ns == (10, 10, 20)
    assert sample.coalesced_chunks == 1


def test_the_size_of_a_chunk_is_that_of_its_text_in_utf8() -> None:
    sample = read(delta(content="ü"), delta(reasoning="🚆", content="a"), delta(content="  "))
    assert sample.chunk_bytes == (2, 5, 2)


def test_half_of_a_surrogate_pair_is_a_token_too() -> None:
    sample = read(event(r'{"choices": [{"delta": {"content": "\ud83d"}}]}'), STOP)
    assert sample.chunk_bytes == (3,)


def test_stamps_that_go_back_are_held() -> None:
    sample = read_sample(answered((20, delta(content="a")), (10, delta(content="b")), (30, DONE)))
    assert sample.chunk_ns == (20, 20)


def test_instants_are_utc_and_stand_where_the_clock_says() -> None:
    sample = read(DONE)
    assert sample.scheduled_at_utc == datetime(2026, 6, 1, tzinfo=UTC)
    assert sample.sent_at_utc == datetime(2026, 6, 1, 0, 0, 0, 1000, tzinfo=UTC)
    assert sample.scheduled_at_utc.tzinfo is UTC


def test_what_was_asked_and_exchanged_is_in_the_sample() -> None:
    sample = read(delta(content="Hi"), STOP, DONE, tag="novita/fp8")
    for name in {field.name for field in fields(ASK)} - {"base_url", "scheduled_at_utc", "tag"}:
        assert getattr(sample, name) == getattr(ASK, name)
    assert sample.tag == "novita/fp8"
    assert (sample.run_id, sample.peer, sample.http_status) == ("run", "192.0.2.1", 200)
    assert (sample.sent_ns, sample.first_byte_ns, sample.stamp_source) == (MS, 2 * MS, "kernel")


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"content": "Hi"}, b"Hi"),
        ({"content": " "}, b" "),
        ({"content": ["a", {"type": "text", "text": "b"}, 7]}, b"ab"),
        ({"refusal": "No"}, b"No"),
        ({"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": ""}}]}, b"f"),
        ({"tool_calls": [{"index": 0, "function": {"arguments": '{"a'}}]}, b'{"a'),
        ({"tool_calls": [{"function": {"name": "f"}}, {"function": {"name": "g"}}]}, b"fg"),
    ],
)
def test_what_the_model_says_to_the_asker_is_an_answer_token(
    values: dict[str, Any], text: bytes
) -> None:
    sample = read(ROLE, delta(**values), STOP, DONE)
    assert sample.first_answer_ns == sample.first_token_ns == 2 * MS
    assert sample.first_reasoning_ns is None
    assert sample.chunk_bytes == (len(text),)


@pytest.mark.parametrize(
    "values",
    [
        {"reasoning": "Hmm"},
        {"reasoning_content": "Hmm", "content": ""},
        {"reasoning": "Hmm", "reasoning_content": "Hmm"},
        {"reasoning": "Hmm", "reasoning_details": [{"type": "reasoning.text", "text": "Hmm"}]},
        {"reasoning": None, "reasoning_details": [{"type": "reasoning.text", "text": "Hmm"}]},
        {"reasoning_details": [{"type": "reasoning.summary", "summary": "Hmm"}]},
        {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Hmm"}]}]},
        {"content": [{"type": "thinking", "thinking": "Hmm"}]},
    ],
)
def test_reasoning_is_read_in_each_of_its_shapes_and_once(values: dict[str, Any]) -> None:
    sample = read(ROLE, delta(**values), delta(content="Hi"), STOP, DONE)
    assert sample.first_reasoning_ns == sample.first_token_ns == 2 * MS
    assert sample.first_answer_ns == 3 * MS
    assert sample.chunk_bytes == (3, 2)


@pytest.mark.parametrize(
    "chunk",
    [
        {},
        {"choices": []},
        {"choices": None},
        {"choices": [None]},
        {"choices": [{}]},
        {"choices": [{"delta": None}]},
        {"choices": [{"delta": {"content": ""}}]},
        {"choices": [{"delta": {"content": []}}]},
        {"choices": [{"delta": {"content": {"text": "x"}}}]},
        {"choices": [{"delta": {"reasoning": "", "reasoning_content": None}}]},
        {"choices": [{"delta": {"reasoning_details": [{"type": "reasoning.encrypted"}]}}]},
        {"choices": [{"delta": {"reasoning_details": [{"data": "x", "signature": "x"}, 1]}}]},
        {"choices": [{"delta": {"tool_calls": [{"id": "call", "function": {"arguments": ""}}]}}]},
        {"choices": [{"delta": {"tool_calls": [None, {"function": None}]}}]},
        {"choices": [{"delta": {"annotations": [{"url_citation": {"content": "x"}}]}}]},
        {"choices": [{"delta": {}, "message": {"content": "all so far"}}]},
        {"choices": [{"index": 1, "delta": {"content": "another choice"}}]},
        {"choices": [], "prompt_filter_results": [], "obfuscation": "x", "p": "abc"},
    ],
)
def test_what_the_model_did_not_say_is_no_token(chunk: dict[str, Any]) -> None:
    sample = read(event(chunk), delta(content="Hi"), STOP, DONE)
    assert (sample.first_event_ns, sample.first_token_ns) == (1 * MS, 2 * MS)
    assert (sample.events, len(sample.chunk_ns), sample.outcome) == (3, 1, "ok")


def test_a_choice_without_an_index_is_the_first() -> None:
    assert read(event({"choices": [{"delta": {"content": "Hi"}}]})).first_token_ns == MS


def test_a_multi_line_event_is_one_chunk() -> None:
    lines = b'data: {"choices":\r\ndata: [{"delta": {"content": "Hi"}}]}\r\n\r\n'
    assert read(lines).chunk_bytes == (2,)


def test_the_first_name_that_is_not_empty_counts() -> None:
    chunks = (
        {"id": "", "model": "", "choices": []},
        {"id": "gen-1", "model": "m-1", "provider": "Novita", "choices": []},
        {"id": "gen-2", "model": "m-2", "choices": []},
    )
    sample = read(*map(event, chunks))
    assert (sample.generation_id, sample.served_model) == ("gen-1", "m-1")
    assert sample.served_by == "Novita"


def test_a_refusal_has_the_generation_id_of_its_header() -> None:
    assert read(b"{}", status=502, headers={"x-generation-id": "gen-9"}).generation_id == "gen-9"


def test_the_last_finish_reason_counts_and_a_null_erases_none() -> None:
    sample = read(delta("stop", content="Hi"), delta("length"), delta(content=""), DONE)
    assert sample.finish_reason == "length"


def steadily(*gaps_ns: int) -> Sample:
    """Read a stream of tokens which came ``gaps_ns`` after one another."""
    pieces, at = [(MS, delta(content="a"))], MS
    for gap_ns in gaps_ns:
        at += gap_ns
        pieces.append((at, delta(content="b")))
    return read_sample(answered(*pieces, (at + MS, STOP + DONE)))


def test_a_steady_stream_is_not_buffered() -> None:
    assert not steadily(*[10 * MS] * 63).is_buffered


def test_a_fast_stream_is_not_buffered() -> None:
    assert not steadily(*[MS // 2] * 63).is_buffered


def test_a_stream_that_stalls_once_is_not_buffered() -> None:
    assert not steadily(*[2 * MS] * 30, 60_000 * MS, *[2 * MS] * 30).is_buffered


def test_a_stream_that_comes_in_small_groups_is_not_buffered() -> None:
    assert not steadily(*[10 * MS, 0, 0, 0] * 20).is_buffered


def test_a_stream_whose_blocks_hold_many_chunks_is_buffered() -> None:
    block = [300 * MS, *[20_000] * 31]
    assert steadily(*block * 4).is_buffered


def test_a_stream_that_comes_all_at_once_is_buffered() -> None:
    assert steadily(*[0] * 9).is_buffered
    assert steadily(*[50_000] * 9).is_buffered


def test_many_tokens_in_one_chunk_are_buffered_and_a_few_are_not() -> None:
    assert read(delta(content="x" * 40), usage(completion_tokens=8)).is_buffered
    assert not read(delta(content="x"), usage(completion_tokens=7)).is_buffered
    assert read(delta(content="x") * 8, usage(completion_tokens=1)).is_buffered
    assert not read(ROLE).is_buffered


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7.0),
        (" 2.5 ", 2.5),
        ("0", 0.0),
        ("Mon, 01 Jun 2026 00:00:30 GMT", 30.0),
        ("Sun, 31 May 2026 23:59:00 GMT", 0.0),
        ("-1", None),
        ("soon", None),
        ("inf", None),
        ("1e9", None),
        ("", None),
    ],
)
def test_when_to_come_back_is_read_from_seconds_or_a_date(
    value: str, seconds: float | None
) -> None:
    transcript = answered(
        (5 * MS, b""),
        status=429,
        headers={"retry-after": value, "date": "Mon, 01 Jun 2026 00:00:00 GMT"},
    )
    assert read_sample(transcript).retry_after_s == seconds


def test_a_date_counts_from_our_clock_where_the_answer_states_none() -> None:
    headers = {"retry-after": "Mon, 01 Jun 2026 00:00:30 GMT"}
    assert read(b"", status=429, headers=headers).retry_after_s == pytest.approx(29.998)


def test_rate_headers_are_kept_as_an_object_and_others_are_not() -> None:
    headers = {
        "x-ratelimit-remaining-tokens": "5900",
        "x-ratelimit-limit-requests": "14400",
        "ratelimit-reset": "1",
        "x-tokenlimit-limit": "9",
        "anthropic-ratelimit-requests-limit": "50",
        "retry-after": "1",
        "server": "x",
    }
    kept = json.loads(read(DONE, headers=headers).rate_limit_json)
    assert kept == {name: headers[name] for name in list(headers)[:5]}
    assert read(DONE).rate_limit_json == "{}"
