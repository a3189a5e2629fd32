"""What the sandbox provider decides before it sends: scripts, quirks, times, limits."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from pipeline.sandbox.provider.ask import Ask, AskError
from pipeline.sandbox.provider.generation import Generation, generation_of
from pipeline.sandbox.provider.http_requests import HttpError, HttpRequest, take_request
from pipeline.sandbox.provider.limits import PromptCache, RateLimit
from pipeline.sandbox.provider.quirks import Quirk, QuirkPlan, UnknownQuirkError
from pipeline.sandbox.provider.script import Script, ScriptError

STEADY = Script(ttft_ms=(100, 100), gap_ms=10, jitter=0, tokens=5)


def ask(prompt: str = "Say five words", max_tokens: int | None = None) -> Ask:
    return Ask("m", prompt, max_tokens, False, False, None, False, None)


def generation(script: Script = STEADY, seq: int = 0, **facts: Any) -> Generation:
    max_tokens = facts.pop("max_tokens", None)
    return generation_of(ask(max_tokens=max_tokens), script, seq=seq, **facts)


def times_ms(made: Generation) -> list[float]:
    return [beat.at_ms for beat in made.beats]


def test_tokens_come_after_the_ttft_one_gap_apart() -> None:
    made = generation()
    assert times_ms(made) == [100, 110, 120, 130, 140]
    assert (made.answer_tokens, made.finish_reason, made.end_ms) == (5, "stop", 140)


def test_the_script_and_the_number_of_the_request_decide_everything() -> None:
    jittered = Script(ttft_ms=(100, 300), gap_ms=10, jitter=0.5)
    first, again, other = (generation(jittered, seq) for seq in (1, 1, 2))
    reseeded = generation(jittered.model_copy(update={"seed": 2}), 1)
    assert first.beats == again.beats
    assert first.beats != other.beats
    assert first.beats != reseeded.beats


def test_jitter_stays_within_its_bounds() -> None:
    made = generation(Script(ttft_ms=(100, 300), gap_ms=10, jitter=0.5, tokens=200))
    at = times_ms(made)
    gaps = [after - before for before, after in pairwise(at)]
    assert 100 <= at[0] <= 300
    assert 5 <= min(gaps) < 7
    assert 13 < max(gaps) <= 15


def test_max_tokens_ends_a_stream_early() -> None:
    made = generation(max_tokens=3)
    assert (made.answer_tokens, made.finish_reason) == (3, "length")
    exactly = generation(max_tokens=5)
    assert (exactly.answer_tokens, exactly.finish_reason) == (5, "stop")


def test_several_tokens_share_a_chunk_and_the_last_one_has_the_rest() -> None:
    made = generation(STEADY.model_copy(update={"tokens_per_chunk": 2}))
    assert [beat.tokens for beat in made.beats] == [2, 2, 1]
    assert times_ms(made) == [100, 110, 120]


def test_reasoning_comes_first_and_counts_against_max_tokens() -> None:
    thinking = STEADY.model_copy(update={"reasoning_tokens": 3})
    made = generation(thinking, max_tokens=4)
    assert [beat.channel for beat in made.beats] == ["reasoning"] * 3 + ["content"]
    assert (made.reasoning_tokens, made.answer_tokens, made.completion_tokens) == (3, 1, 4)


def test_hidden_reasoning_takes_its_time_and_shows_nothing() -> None:
    hidden = STEADY.model_copy(update={"reasoning_tokens": 3, "reasoning_as": "hidden"})
    made = generation(hidden)
    assert times_ms(made) == [130, 140, 150, 160, 170]
    assert (made.ttft_ms, made.completion_tokens) == (130, 8)


def test_other_streams_slow_a_stream_down() -> None:
    slower = STEADY.model_copy(update={"slowdown_per_stream": 0.1})
    assert times_ms(generation(slower, other_streams=5)) == [150, 165, 180, 195, 210]


def test_a_cached_prompt_saves_its_share_of_the_ttft() -> None:
    caching = STEADY.model_copy(update={"cached_saving": 0.6})
    made = generation_of(ask("x" * 8192), caching, seq=0, cached_tokens=1024)
    assert made.prompt_tokens == 2048
    assert made.beats[0].at_ms == pytest.approx(70)  # half of it was cached: 0.6 x 0.5 saved


def test_the_cache_knows_the_beginning_of_prompts_in_steps_of_128_tokens() -> None:
    cache = PromptCache()
    shared = "".join(f"{number:04d}" for number in range(1100))  # 1,100 tokens
    assert cache.look_up("a", shared + "one question") == 0
    assert cache.look_up("a", shared + "another question") == 1024
    assert cache.look_up("b", shared) == 0
    assert cache.look_up("a", "nonce " + shared) == 0
    assert cache.look_up("a", shared[:3000]) == 0  # too short to be cached


def test_the_rate_limit_refills_with_time() -> None:
    limit, second = RateLimit(), 1_000_000_000
    assert [limit.admits("a", 0, 2) for _ in range(3)] == [True, True, False]
    assert limit.admits("b", 0, 2)
    assert not limit.admits("a", second // 4, 2)
    assert limit.admits("a", second, 2)


def test_a_script_is_read_from_json_and_written_as_json() -> None:
    script = Script.from_json('{"ttft_ms": [5, 6], "quirks": ["crlf", "stall=0.5"]}')
    assert script.ttft_ms == (5, 6)
    assert Script.from_json(script.model_dump_json()) == script


def test_a_model_may_have_other_values_than_the_rest() -> None:
    text = '{"tokens": 8, "gap_ms": 1, "models": {"slow-*": {"gap_ms": 50}}}'
    script = Script.from_json(text)
    slow, other = script.for_model("slow-1"), script.for_model("fast")
    assert (slow.tokens, slow.gap_ms) == (8, 50)
    assert (other.tokens, other.gap_ms) == (8, 1)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "script: "),
        ('{"gap": 1}', "gap: "),
        ('{"jitter": 2}', "jitter: "),
        ('{"quirks": ["gremlins"]}', "no quirk is called 'gremlins'; known: role_null, "),
        ('{"quirks": ["stall=long"]}', "are numbers"),
        ('{"models": {"a": {"tokens": -1}}}', "tokens"),
    ],
)
def test_a_wrong_script_is_refused_in_one_line(text: str, said: str) -> None:
    with pytest.raises(ScriptError) as refused:
        Script.from_json(text)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_quirk_has_its_default_value_unless_it_says_another() -> None:
    assert Quirk.parse("stall") == Quirk("stall", 1.0)
    assert Quirk.parse("stall=0.2,probability=0.5,first=3") == Quirk("stall", 0.2, 0.5, 3)
    with pytest.raises(UnknownQuirkError, match="options of a quirk"):
        Quirk.parse("stall,often=1")


def test_quirks_strike_the_first_requests_or_by_chance_always_the_same() -> None:
    def strikes(quirk: str) -> list[bool]:
        plan = QuirkPlan()
        return [bool(plan.pick([quirk], 1, seq)) for seq in range(200)]

    assert strikes("crlf,first=2") == [True, True] + [False] * 198
    by_chance = strikes("crlf,probability=0.3")
    assert by_chance == strikes("crlf,probability=0.3")
    assert 40 < sum(by_chance) < 80


def request(body: bytes) -> HttpRequest:
    return HttpRequest("POST", "/v1/chat/completions", "", {"authorization": "Bearer k"}, body)


def test_of_a_key_only_its_presence_is_kept() -> None:
    found = Ask.of(
        request(
            b'{"model": "m", "stream": true, "max_completion_tokens": 9, "messages":'
            b' [{"role": "user", "content": [{"type": "text", "text": "one "}]},'
            b' {"role": "user", "content": "two"}], "stream_options": {"include_usage": true},'
            b' "provider": {"only": ["groq"], "allow_fallbacks": false}}'
        )
    )
    assert found == Ask("m", "one two", 9, True, True, "groq", True, None)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[1]",
        b'{"stream": true}',
        b'{"model": "m", "messages": [], "stream": true, "max_tokens": "many"}',
        b'{"model": "m", "messages": [], "stream": false}',
    ],
)
def test_what_is_no_request_for_a_stream_is_refused(body: bytes) -> None:
    with pytest.raises(AskError):
        Ask.of(request(body))


def test_a_request_is_taken_when_its_last_byte_is_there() -> None:
    whole = b"POST /a?b=c HTTP/1.1\r\nContent-Length: 3\r\nX-One:  two \r\n\r\nabc"
    for end in range(len(whole)):
        assert take_request(bytearray(whole[:end])) is None
    buffer = bytearray(whole + b"GET")
    expected = {"content-length": "3", "x-one": "two"}
    assert take_request(buffer) == HttpRequest("POST", "/a", "b=c", expected, b"abc")
    assert buffer == b"GET"


@pytest.mark.parametrize(
    "head",
    [
        b"hello\r\n\r\n",
        b"GET / HTTP/1.1\r\nContent-Length: many\r\n\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"x" * 70_000,
    ],
)
def test_what_is_no_http_request_is_refused(head: bytes) -> None:
    with pytest.raises(HttpError):
        take_request(bytearray(head))
