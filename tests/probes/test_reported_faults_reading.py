"""Faults that users of other tools reported, each with the right value: what a stream says.

The numbers run through both files of reported faults, 1 to 38; the last test counts them.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from probe_samples import failed, sample, timed
from probe_transcripts import DONE, MS, ROLE, STOP, answered, delta, event, read, usage

from pipeline.probes.exchange import Fault
from pipeline.probes.metrics import metrics_of
from pipeline.probes.reading import read_sample
from pipeline.probes.sample import Sample
from pipeline.probes.sse import SseParser
from pipeline.probes.statistics import summarise

HELLO = delta(content="Hello")
WORLD = delta(content=" world")


def at(*pieces: tuple[float, bytes], **changes: object) -> Sample:
    """Return the sample of a stream whose pieces came ``ms`` after the request was sent."""
    arrived = [(round((1 + ms) * MS), data) for ms, data in pieces]
    return read_sample(answered(*arrived, **changes))  # type: ignore[arg-type]


def test_fault_01_a_role_chunk_is_taken_for_the_first_token() -> None:
    """vllm #3759: TTFT 5 ms where the first token came after 214 ms."""
    null = delta(role="assistant", content=None)
    found = at((5, null), (214, HELLO), (224, STOP + DONE))
    assert metrics_of(found).ttft_ms == 214
    assert found.first_event_ns == 6 * MS


def test_fault_02_an_early_role_chunk_makes_the_first_gap_a_prefill() -> None:
    """vllm #15106: a first "gap" of 1.3 s between the role and the first token."""
    found = at((100, ROLE), (1400, HELLO), (1410, WORLD), (1420, STOP + DONE))
    assert metrics_of(found).chunk_gaps_ms == (10.0,)


@pytest.mark.parametrize("key", ["reasoning", "reasoning_content"])
def test_fault_03_reasoning_is_not_stamped(key: str) -> None:
    """inference-perf #559: TTFT null, or seconds too long, with a reasoning model."""
    thought = delta(**{key: "Hm"})
    found = at((50, ROLE), (80, thought), (2080, HELLO), (2090, STOP + DONE))
    assert found.first_reasoning_ns == 81 * MS
    metrics = metrics_of(found)
    assert (metrics.ttft_ms, metrics.answer_ttft_ms) == (80, 2080)


def test_fault_04_an_empty_text_counts_as_a_token() -> None:
    """api7/aisix #869: the same model reads 1 ms or 183 s."""
    empty = delta(content="", reasoning="")
    metrics = metrics_of(at((1, empty), (2, empty), (183, HELLO), (184, STOP + DONE)))
    assert metrics.ttft_ms == 183


def test_fault_05_hidden_reasoning_makes_a_stream_look_fast() -> None:
    """genai-bench #81: 500 tokens were spent, 20 were seen, and the speed was 500 by their time."""
    counted = usage(completion_tokens=500, completion_tokens_details={"reasoning_tokens": 480})
    found = at((3000, HELLO), (3010, WORLD), (3020, STOP + counted + DONE))
    assert found.is_reasoning_hidden
    assert metrics_of(found).decode_tokens_per_s is None


def test_fault_06_the_usage_chunk_overwrites_the_ttft() -> None:
    """genai-bench PR #44: the TTFT became the time of the last chunk."""
    with_usage = event(
        {"choices": [{"index": 0, "delta": {"content": ""}}], "usage": {"completion_tokens": 2}}
    )
    found = at((100, HELLO), (110, WORLD), (900, STOP + with_usage + DONE))
    assert metrics_of(found).ttft_ms == 100
    assert metrics_of(found).e2e_ms == 110


@pytest.mark.parametrize(
    "chunk",
    [
        pytest.param({"choices": [], "usage": {"completion_tokens": 2}}, id="07 usage last"),
        pytest.param({"usage": {"completion_tokens": 2}, "choices": None}, id="08 null choices"),
        pytest.param({"usage": {"completion_tokens": 2}}, id="09 no choices at all"),
    ],
)
def test_fault_07_08_09_a_chunk_without_choices_breaks_the_reader(chunk: dict[str, object]) -> None:
    """perf_analyzer #413, sglang #5451, llmeter PR #34: an IndexError, and the sample was lost."""
    found = at((10, HELLO), (20, WORLD), (30, STOP + event(chunk) + DONE))
    assert (found.outcome, found.completion_tokens, found.token_source) == ("ok", 2, "usage")


@pytest.mark.parametrize(
    ("chunk", "source"),
    [
        ({"choices": [{"delta": {"content": ""}}], "usage": {"completion_tokens": 2}}, "usage"),
        ({"choices": [], "x_groq": {"usage": {"completion_tokens": 2}}}, "x_groq"),
    ],
)
def test_fault_10_usage_that_is_not_last_is_missed(chunk: dict[str, object], source: str) -> None:
    """litellm #17136, vercel/ai #1651: usage in the second-last chunk, or under x_groq."""
    found = at((10, HELLO), (20, WORLD), (30, event(chunk)), (40, STOP + DONE))
    assert (found.completion_tokens, found.token_source) == (2, source)


def test_fault_11_several_tokens_in_a_chunk_inflate_the_inter_token_latency() -> None:
    """vllm PR #42661: 30 ms between chunks of three tokens are 10 ms a token."""
    three = delta(content="one two three")
    counted = usage(completion_tokens=9)
    metrics = metrics_of(at((100, three), (130, three), (160, three), (170, STOP + counted + DONE)))
    assert metrics.chunk_gaps_ms == (30.0, 30.0)
    assert metrics.inter_token_ms == pytest.approx(10.0)


def test_fault_12_chunks_are_counted_where_tokens_are_meant() -> None:
    """sglang PR #12064: with speculative decoding 8.7 ms were told for 3.4 ms a token."""
    counted = usage(completion_tokens=8)
    found = at((0, HELLO), (8, HELLO), (16, WORLD), (24, WORLD), (30, STOP + counted + DONE))
    metrics = metrics_of(found)
    assert metrics.tokens_per_chunk == 2
    assert metrics.inter_token_ms == pytest.approx(4.0)
    assert metrics.decode_tokens_per_s == pytest.approx(250.0)


def test_fault_13_the_inter_token_latency_includes_the_ttft() -> None:
    """llmperf PR #99: (TTFT + gaps) / chunks."""
    found = at((1000, HELLO), (1010, WORLD), (1020, HELLO), (1030, STOP + DONE))
    assert metrics_of(found).inter_token_ms == pytest.approx(10.0)


def test_fault_14_time_per_output_token_means_something_else_everywhere() -> None:
    """guidellm #1144: (last - start) / n. Ours have a name for each of the two formulas."""
    counted = usage(completion_tokens=3)
    metrics = metrics_of(at((980, HELLO), (990, WORLD), (1000, HELLO + STOP + counted + DONE)))
    assert metrics.decode_tokens_per_s == pytest.approx(2 / 0.020)
    assert metrics.e2e_tokens_per_s == pytest.approx(3 / 1.000)


def test_fault_15_the_tail_of_the_gaps_is_lost_in_a_mean() -> None:
    """guidellm #1145: one mean a request; a stall of 400 ms could not be seen."""
    found = at((0, HELLO), (10, WORLD), (410, HELLO), (420, WORLD), (421, STOP + DONE))
    assert metrics_of(found).chunk_gaps_ms == (10.0, 400.0, 10.0)


def test_fault_16_the_first_gap_is_the_ttft_and_one_is_counted_twice() -> None:
    """vllm #6531, #7242: n chunks have n - 1 gaps, and their sum is last - first."""
    gaps = metrics_of(at((70, HELLO), (75, WORLD), (95, HELLO), (96, STOP + DONE))).chunk_gaps_ms
    assert gaps == (5.0, 20.0)


def test_fault_17_text_is_tokenised_again_and_shrinks() -> None:
    """CentML flexible-inference-bench #66: the provider's count comes first, ours is labelled."""
    spaces = delta(content="   ")
    stated = at((10, spaces), (20, spaces), (30, STOP + usage(completion_tokens=6) + DONE))
    assert (stated.completion_tokens, stated.token_source) == (6, "usage")
    unstated = at((10, spaces), (20, spaces), (30, STOP + DONE))
    assert (unstated.completion_tokens, unstated.token_source) == (2, "chunks")


def test_fault_18_stripping_fragments_corrupts_text_split_at_spaces() -> None:
    """vllm PR #51172: every cut, a space at its end or not, gives the same text."""
    data = event({"choices": [{"index": 0, "delta": {"content": " a b "}}]})
    for cut in range(len(data)):
        parser = SseParser()
        found = [*parser.feed(1, data[:cut]), *parser.feed(2, data[cut:])]
        (chunk,) = [json.loads(each.data or "") for each in found]
        assert chunk["choices"][0]["delta"]["content"] == " a b "


def test_fault_19_several_events_in_one_read_are_taken_for_one() -> None:
    """aiperf PR #368: each is a token; that they share a stamp is counted, and gaps may be 0."""
    found = at((100, HELLO + WORLD + HELLO), (110, WORLD), (120, STOP + DONE))
    assert len(found.chunk_ns) == 4
    assert found.coalesced_chunks == 2
    assert metrics_of(found).chunk_gaps_ms == (0.0, 0.0, 10.0)


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"])
def test_fault_20_a_stream_cut_anywhere_is_parsed_wrongly(line_end: bytes) -> None:
    """perf_analyzer PR #431, inference-perf: events cut at any byte, CRLF never matched."""
    whole = (ROLE + HELLO + WORLD + STOP + DONE).replace(b"\n", line_end)
    for cut in range(len(whole)):
        found = at((10, whole[:cut]), (20, whole[cut:]))
        assert (found.outcome, len(found.chunk_ns), found.is_done_seen) == ("ok", 2, True)


def test_fault_26_failed_requests_lower_throughput_and_raise_the_ttft() -> None:
    """guidellm #444: latencies are those of answers, failures stand beside them."""
    # It had a token after 9 s, another after 19 s, and then no more.
    slow = timed(9_000, 19_000, outcome="timeout")
    (summary,) = summarise([sample(), failed("http_error"), slow])
    told = summary.to_record()
    # 4 tokens in 500 ms, the last three of them in 300 ms.
    assert (told["ttft_p50_ms"], told["e2e_p50_ms"]) == (200, 500)
    assert told["decode_tokens_per_s_p50"] == pytest.approx(10.0)
    assert told["e2e_tokens_per_s_p50"] == pytest.approx(8.0)
    assert (told["requests"], told["n"], told["n_timeout"], told["n_http_error"]) == (3, 1, 1, 1)


def test_fault_29_fewer_answers_than_requests_and_no_word_on_the_others() -> None:
    """vllm #11167: each kind of failure has its count, and they add up to all requests."""
    outcomes = ["ok", "rate_limited", "overloaded", "timeout", "http_error", "truncated"]
    samples = [sample(request_id=outcome, outcome=outcome) for outcome in outcomes]
    (summary,) = summarise(samples)
    told = summary.to_record()
    assert told["requests"] == 6
    assert [told[f"n_{outcome}"] for outcome in outcomes] == [1] * 6


@pytest.mark.parametrize(
    "broken",
    [
        b'event: error\ndata: {"error":{"message":"overheated"}}\n\n',
        b'event: error\ndata: {"message":"overheated"}\n\n',
        b"event: error\ndata: overheated\n\n",
        event({"error": {"message": "overheated", "code": 500}}),
    ],
)
def test_fault_30_an_error_inside_a_200_is_a_short_success(broken: bytes) -> None:
    """tokenomics PR #16: `event: error` after two tokens made a very fast answer."""
    found = at((100, HELLO), (110, WORLD), (120, broken), (130, DONE))
    assert found.outcome == "stream_error"
    assert "overheated" in (found.reason or "")
    assert metrics_of(found).e2e_ms == 110


@pytest.mark.parametrize("stated", [pytest.param(36, id="within"), pytest.param(6, id="beside")])
def test_fault_30_reasoning_is_counted_twice(stated: int) -> None:
    """tokenomics PR #16: 30 of the 36 tokens are reasoning, within the count or (xAI) beside it."""
    counted = usage(
        prompt_tokens=60,
        completion_tokens=stated,
        total_tokens=96,
        completion_tokens_details={"reasoning_tokens": 30},
    )
    found = at((100, delta(reasoning="Hm")), (136, HELLO), (140, STOP + counted + DONE))
    assert (found.completion_tokens, found.reasoning_tokens) == (36, 30)
    assert metrics_of(found).e2e_tokens_per_s == pytest.approx(36 / 0.136)


def test_fault_31_no_token_gives_a_negative_ttft() -> None:
    """guidellm #216: what never came is none, not zero and not negative."""
    found = at((10, ROLE), (20, STOP + DONE))
    metrics = metrics_of(found)
    assert (metrics.ttft_ms, metrics.e2e_ms, metrics.decode_tokens_per_s) == (None, None, None)
    assert found.outcome == "truncated"


def test_fault_36_a_gateway_that_buffers_makes_a_stream_look_fast() -> None:
    """dstack #4269: 16 KB at a time; such a stream is flagged and has no speed."""
    found = at((2000, HELLO * 20), (2001, STOP + usage(completion_tokens=20) + DONE))
    assert found.is_buffered
    assert metrics_of(found).decode_tokens_per_s is None


def test_fault_37_comments_break_the_parser_or_count_as_tokens() -> None:
    """llm-gateway #2053: `: OPENROUTER PROCESSING` before and between the chunks."""
    comment = b": OPENROUTER PROCESSING\n\n"
    found = at((1, comment * 3), (90, comment + ROLE), (100, HELLO), (150, comment), (200, WORLD))
    assert found.first_event_ns == 91 * MS
    assert metrics_of(found).ttft_ms == 100
    assert len(found.chunk_ns) == 2


def test_fault_38_two_tools_count_other_tokens_and_neither_says_which() -> None:
    """aiperf #339: 300 or 1,023 output tokens; every sample says where its count comes from."""
    sources = {
        read(HELLO, STOP + usage(completion_tokens=5), DONE).token_source,
        read(HELLO, STOP + event({"x_groq": {"usage": {"completion_tokens": 5}}})).token_source,
        read(HELLO, STOP, DONE).token_source,
        read(ROLE, STOP, DONE).token_source,
    }
    assert sources == {"usage", "x_groq", "chunks", None}


def test_a_stream_that_was_cut_keeps_the_stamps_that_came() -> None:
    """The partial stream of faults 24 and 30: never a success, never lost."""
    found = at((100, HELLO), (110, WORLD), fault=Fault("cut", "the peer cut the connection"))
    assert found.outcome == "truncated"
    assert metrics_of(found).ttft_ms == 100


def test_all_reported_faults_have_a_test() -> None:
    files = Path(__file__).parent.glob("test_reported_faults_*.py")
    text = "\n".join(path.read_text() for path in files)
    numbers: set[int] = set()
    for found in re.findall(r"def test_fault_((?:\d\d_)+)", text):
        numbers |= {int(number) for number in found.split("_") if number}
    assert numbers == set(range(1, 39))
