"""What the sandbox provider would send, quirk by quirk, without a socket."""

from __future__ import annotations

import json
import zlib
from typing import Any

import pytest

from pipeline.sandbox.dice import Dice
from pipeline.sandbox.provider.ask import Ask
from pipeline.sandbox.provider.events import Stream, stream_of
from pipeline.sandbox.provider.framing import Step, steps_of
from pipeline.sandbox.provider.generation import generation_of
from pipeline.sandbox.provider.quirks import Quirk, Struck
from pipeline.sandbox.provider.script import Prices, Script

SCRIPT = Script(ttft_ms=(90, 90), gap_ms=10, jitter=0, tokens=4)


def struck(*quirks: str) -> Struck:
    return {quirk.name: quirk.value for quirk in map(Quirk.parse, quirks)}


def stream(*quirks: str, script: Script = SCRIPT, wants_usage: bool = True) -> Stream:
    ask = Ask("m", "Say it.", None, wants_usage, wants_usage, None, False, None)
    return stream_of(generation_of(ask, script, seq=7), struck(*quirks))


def kinds(*quirks: str, **how: Any) -> list[str]:
    return [event.kind for event in stream(*quirks, **how).events]


def chunks(*quirks: str, **how: Any) -> list[dict[str, Any]]:
    found = []
    for event in stream(*quirks, **how).events:
        lines = event.block.decode().splitlines()
        text = "\n".join(line[5:] for line in lines if line.startswith("data:"))
        if text.strip().startswith("{"):
            found.append(json.loads(text))
    return found


def deltas(*quirks: str, **how: Any) -> list[dict[str, Any]]:
    return [chunk["choices"][0]["delta"] for chunk in chunks(*quirks, **how) if chunk["choices"]]


def steps(*quirks: str, is_compressed: bool = False) -> list[Step]:
    said = struck(*quirks)
    head = b"HTTP/1.1 200 OK\r\n\r\n"
    return steps_of(stream(*quirks), said, head, is_compressed=is_compressed, dice=Dice(1))


def dechunked(data: bytes) -> bytes:
    body = b""
    while data:
        size, _, rest = data.partition(b"\r\n")
        length = int(size, 16)
        body += rest[:length]
        assert rest[length : length + 2] == b"\r\n"
        data = rest[length + 2 :]
    return body


def test_without_quirks_it_streams_as_openai_does() -> None:
    assert kinds() == ["role", *["content"] * 4, "finish", "usage", "done"]
    role, *said, finish, usage = chunks()
    assert role["id"] == "chatcmpl-00000007"
    assert role["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    text = "".join(chunk["choices"][0]["delta"]["content"] for chunk in said)
    assert text == " the latency of a"
    assert finish["choices"][0]["finish_reason"] == "stop"
    assert usage["choices"] == []
    assert usage["usage"]["completion_tokens"] == 4
    assert usage["usage"]["prompt_tokens"] == 2
    assert [event.at_ms for event in stream().events] == [0, 90, 100, 110, 120, 120, 120, 120]


def test_usage_comes_only_to_those_who_ask() -> None:
    assert "usage" not in kinds(wants_usage=False)
    assert "usage" not in kinds("no_usage")


@pytest.mark.parametrize(
    ("quirk", "first"),
    [
        ("role_null", {"role": "assistant", "content": None}),
        ("role_only", {"role": "assistant"}),
        ("role_with_text", {"role": "assistant", "content": " the"}),
        ("no_role", {"content": " the"}),
    ],
)
def test_the_first_chunk_may_be_another(quirk: str, first: dict[str, Any]) -> None:
    assert deltas(quirk)[0] == first


def test_the_role_may_stand_in_every_chunk_or_come_late() -> None:
    assert all(delta["role"] == "assistant" for delta in deltas("role_everywhere"))
    assert stream("late_role=0.5").events[0].at_ms == 45


def test_chunks_without_text_may_come_before_the_first_token() -> None:
    assert kinds("prompt_filter", "empty_chunks=2")[:5] == [
        *("filter", "role", "empty", "empty", "content"),
    ]
    assert chunks("prompt_filter")[0]["choices"] == []
    assert [event.at_ms for event in stream("empty_chunks=2").events][:4] == [0, 30, 60, 90]


@pytest.mark.parametrize(
    ("quirk", "order", "with_usage"),
    [
        ("usage_on_finish", ["finish", "done"], [4]),
        ("usage_second_last", ["usage", "finish", "done"], [4]),
        ("usage_twice", ["finish", "usage", "done"], [4, 5]),
        ("two_finish", ["finish", "finish", "done"], [5]),
        ("usage_everywhere", ["finish", "done"], [0, 1, 2, 3, 4]),
    ],
)
def test_usage_may_stand_elsewhere(quirk: str, order: list[str], with_usage: list[int]) -> None:
    assert kinds("no_role", quirk)[4:] == order
    made = chunks("no_role", quirk)
    assert [place for place, chunk in enumerate(made) if chunk.get("usage")] == with_usage
    assert made[with_usage[-1]]["usage"]["total_tokens"] == 6


def test_usage_so_far_counts_up() -> None:
    counts = [
        chunk["usage"]["completion_tokens"] for chunk in chunks("no_role", "usage_everywhere")
    ]
    assert counts == [1, 2, 3, 4, 4]


def test_usage_may_stand_under_x_groq_only() -> None:
    made = chunks("usage_x_groq", "groq_times")
    usage = made[-1]["x_groq"]["usage"]
    assert usage["completion_tokens"] == 4
    assert (usage["prompt_time"], usage["total_time"]) == (0.09, 0.12)
    assert not any("usage" in chunk for chunk in made)


def test_a_server_may_tell_its_own_times() -> None:
    last = chunks("llama_timings", "time_info", "usage_on_finish")[-1]
    assert last["timings"]["prompt_ms"] == 90
    assert last["timings"]["predicted_ms"] == 30
    assert last["time_info"]["total_time"] == 0.12


def test_usage_null_stands_in_all_other_chunks() -> None:
    *others, last = chunks("usage_null")
    assert all(chunk["usage"] is None for chunk in others)
    assert last["usage"]["completion_tokens"] == 4


@pytest.mark.parametrize("channel", ["reasoning", "reasoning_content", "reasoning_details"])
def test_reasoning_stands_under_the_key_of_the_script(channel: str) -> None:
    script = SCRIPT.model_copy(update={"reasoning_tokens": 2, "reasoning_as": channel})
    assert kinds("no_role", script=script)[:3] == ["reasoning", "reasoning", "content"]
    thought = deltas("no_role", script=script)[0][channel]
    expected = [{"type": "reasoning.text", "text": " the", "index": 0}]
    assert thought == (expected if channel == "reasoning_details" else " the")
    usage = chunks(script=script)[-1]["usage"]
    assert usage["completion_tokens"] == 6
    assert usage["completion_tokens_details"] == {"reasoning_tokens": 2}


def test_content_may_be_a_list_of_parts() -> None:
    script = SCRIPT.model_copy(update={"reasoning_tokens": 1})
    thought, said = deltas("no_role", "content_parts", script=script)[:2]
    part = {"type": "text", "text": " the"}
    assert thought == {"content": [{"type": "thinking", "thinking": [part]}]}
    assert said == {"content": [part]}


def test_padding_fattens_the_chunks_with_text() -> None:
    padded = [len(chunk.get("obfuscation", "")) for chunk in chunks("padding=100")]
    assert padded == [0, 100, 100, 100, 100, 0, 0]


def test_openrouter_names_the_provider_and_the_cost() -> None:
    script = SCRIPT.model_copy(
        update={
            "is_openrouter": True,
            "provider": "Groq",
            "prices": Prices(input="0.05", output="0.08"),
        }
    )
    made = chunks("usage_on_finish", script=script, wants_usage=False)
    assert {chunk["provider"] for chunk in made} == {"Groq"}
    assert made[0]["id"].startswith("gen-")
    assert made[-1]["usage"]["cost"] == 4.2e-07  # 2 x 0.05 + 4 x 0.08 USD per million
    assert made[-1]["choices"][0]["native_finish_reason"] == "stop"
    wrong = chunks("wrong_provider", script=script)
    assert {chunk["provider"] for chunk in wrong} == {"Somebody Else"}


def test_comments_come_before_and_between_data() -> None:
    script = SCRIPT.model_copy(update={"tokens": 9})
    assert kinds("comments=3", "ping", script=script)[:6] == [
        *("comment", "comment", "role", "comment", "comment", "content"),
    ]
    assert kinds("comments=3", script=script)[12:14] == ["comment", "content"]
    assert [event.at_ms for event in stream("comments=3").events][:4] == [0, 0, 30, 60]


def test_a_stream_may_lack_its_end() -> None:
    assert kinds("no_done")[-1] == "usage"
    assert "finish" not in kinds("no_finish")
    assert kinds("no_finish", "usage_on_finish")[-2:] == ["usage", "done"]


def test_an_error_ends_a_stream_in_the_middle() -> None:
    assert kinds("error_event=429") == ["role", "content", "content", "error"]
    assert stream("error_event=429").events[-1].block.startswith(b"event: error\ndata: {")
    assert kinds("error_chunk") == ["role", "content", "content", "error", "done"]
    assert kinds("error_chunk", "no_done")[-1] == "error"
    last = chunks("error_chunk=503")[-1]
    assert last["error"]["code"] == 503
    assert last["choices"][0]["finish_reason"] == "error"


@pytest.mark.parametrize(
    ("quirk", "ending", "last"),
    [("reset", "reset", "torn"), ("cut", "cut", "torn"), ("ends_early", "cut", "content")],
)
def test_a_connection_may_end_in_the_middle(quirk: str, ending: str, last: str) -> None:
    broken = stream(f"{quirk}=0.5")
    made = [event.kind for event in broken.events]
    assert broken.ending == ending
    assert made.count("content") == 2
    assert made[-1] == last


def test_a_torn_chunk_is_half_sent_and_not_noted() -> None:
    *_, whole, torn = steps("cut")
    assert torn.kinds == ()
    assert 0 < len(torn.data) < len(whole.data)


def test_a_stall_moves_the_second_half() -> None:
    at_ms = [
        event.at_ms for event in stream("stall=2", "no_role").events if event.kind == "content"
    ]
    assert at_ms == [90, 100, 2110, 2120]


def test_each_event_is_a_write_of_its_own_and_the_last_one_ends_the_body() -> None:
    head, *body = steps()
    assert head.kinds == ("head",)
    assert [step.kinds for step in body] == [(kind,) for kind in kinds()]
    assert body[-1].data.endswith(b"data: [DONE]\n\n\r\n0\r\n\r\n")
    text = dechunked(b"".join(step.data for step in body))
    assert text == b"".join(event.block for event in stream().events)


def test_an_unchunked_body_is_just_its_bytes() -> None:
    _, *body = steps("close_framing")
    assert b"".join(step.data for step in body) == b"".join(e.block for e in stream().events)


@pytest.mark.parametrize(("quirk", "end"), [("crlf", b"\r\n"), ("cr", b"\r")])
def test_lines_may_end_otherwise(quirk: str, end: bytes) -> None:
    text = dechunked(b"".join(step.data for step in steps(quirk)[1:]))
    assert text == b"".join(event.block for event in stream().events).replace(b"\n", end)


def test_lines_may_be_written_otherwise() -> None:
    text = dechunked(b"".join(step.data for step in steps("bom", "no_space")[1:]))
    assert text.startswith(b"\xef\xbb\xbfdata:{")
    assert chunks("multi_line") == chunks()
    assert stream("multi_line").events[0].block.count(b"data: ") > 5


def test_events_may_share_a_write_that_is_due_with_the_last_of_them() -> None:
    _, first, second = steps("blocks=4")
    assert first.kinds == ("role", "content", "content", "content")
    assert (first.at_ms, second.at_ms) == (110, 120)
    _, all_of_it = steps("buffered")
    assert len(all_of_it.kinds) == 8
    assert all_of_it.at_ms == 120


def test_a_split_event_is_noted_with_the_segment_that_completes_it() -> None:
    _, *parts = steps("split=3")
    _, *whole = steps()
    assert b"".join(part.data for part in parts) == b"".join(step.data for step in whole)
    assert [part.kinds for part in parts if part.kinds] == [step.kinds for step in whole]
    assert len(parts) > 2 * len(whole)
    for part in parts:
        if part.kinds:
            text = part.data.removesuffix(b"0\r\n\r\n").removesuffix(b"\r\n")
            assert text.endswith(b"\n")  # never only what ends the coding


def test_each_write_of_a_compressed_body_can_be_unpacked_at_once() -> None:
    unpacker = zlib.decompressobj(wbits=31)
    _, *body = steps("gzip", is_compressed=True)
    for step, event in zip(body, stream("gzip").events, strict=True):
        data = step.data.removesuffix(b"0\r\n\r\n")
        assert unpacker.decompress(dechunked(data)) == event.block
    assert unpacker.eof


def test_the_head_may_come_slowly_and_everything_after_it_later() -> None:
    made = steps("slow_headers=1", "slow_first_byte=0.5")
    head = [step for step in made if step.at_ms < 1500]
    assert len(head) > 5
    assert b"".join(step.data for step in head) == b"HTTP/1.1 200 OK\r\n\r\n"
    assert [step.kinds for step in head if step.kinds] == [("head",)]
    assert made[len(head)].at_ms == 1500
