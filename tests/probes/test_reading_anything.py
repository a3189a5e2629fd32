"""Whatever an exchange holds, reading gives a sample that is consistent in itself."""

from __future__ import annotations

import json
from decimal import Decimal
from itertools import pairwise

from hypothesis import example, given, settings
from hypothesis import strategies as st
from probe_transcripts import DONE, ROLE, STOP, answered, delta, event, usage

from pipeline.probes.exchange import Fault
from pipeline.probes.reading import read_sample

STREAM = b"".join(
    [
        b": OPENROUTER PROCESSING\n\n",
        ROLE,
        delta(reasoning="Hm", reasoning_details=[{"text": "Hm"}]),
        delta(content="Zürich 🚆"),
        delta(tool_calls=[{"index": 0, "function": {"name": "f", "arguments": "{}"}}]),
        STOP,
        usage(prompt_tokens=9, completion_tokens=3, cost=0.5),
        DONE,
    ]
)
TOKENS = (b'"Hm"', b"rich", b'"f"')
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
KEYS = (
    *("choices", "delta", "index", "content", "text", "thinking", "reasoning", "summary"),
    *("reasoning_details", "tool_calls", "function", "name", "arguments", "refusal"),
    *("usage", "x_groq", "completion_tokens", "completion_tokens_details", "reasoning_tokens"),
    *("cost", "cost_details", "upstream_inference_cost", "is_byok", "cost_in_usd_ticks"),
    *("error", "errors", "code", "message", "metadata", "raw", "object", "finish_reason"),
    *("id", "model", "provider", "timings", "type"),
)
CHUNKS = st.recursive(
    JSON | st.sampled_from(["error", "stop", "rate_limit"]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5)
    ),
    max_leaves=20,
)
BODIES = (
    st.binary(max_size=60)
    | st.integers(0, len(STREAM)).map(lambda end: STREAM[:end])
    | st.lists(CHUNKS.map(json.dumps).map(event), max_size=4).map(b"".join)
    | CHUNKS.map(json.dumps).map(str.encode)
    | st.tuples(st.integers(0, len(STREAM) - 1), st.integers(0, 255)).map(
        lambda at: STREAM[: at[0]] + bytes([at[1]]) + STREAM[at[0] + 1 :]
    )
)
FAULTS = st.none() | st.builds(
    Fault, st.sampled_from(["connect", "timeout", "cut", "protocol", "stopped"]), st.text()
)
HEADERS = st.dictionaries(
    st.sampled_from(["content-type", "content-encoding", "retry-after", "date", "ratelimit-x"]),
    st.sampled_from(["gzip", "deflate", "br", "text/html", "Mon, 01 Jun 2026 25:00:00 +9999"])
    | st.text(max_size=20),
)


@settings(deadline=None, max_examples=300)
@given(
    body=BODIES,
    draw=st.data(),
    status=st.none() | st.sampled_from([200, 200, 200, 204, 302, 429, 500]),
    headers=HEADERS,
    fault=FAULTS,
)
def test_whatever_an_exchange_holds_gives_a_consistent_sample(
    body: bytes,
    draw: st.DataObject,
    status: int | None,
    headers: dict[str, str],
    fault: Fault | None,
) -> None:
    cuts = sorted(draw.draw(st.lists(st.integers(0, len(body)), max_size=6)))
    bounds = [0, *cuts, len(body)]
    pieces = [
        (draw.draw(st.integers(0, 10**12)), body[start:end]) for start, end in pairwise(bounds)
    ]
    transcript = answered(*pieces, status=status, headers=headers, fault=fault, tag="novita")
    sample = read_sample(transcript)

    assert sample == read_sample(transcript)
    assert (sample.reason is None) is (sample.outcome == "ok")
    assert list(sample.chunk_ns) == sorted(sample.chunk_ns)
    assert len(sample.chunk_ns) == len(sample.chunk_bytes) <= sample.events
    assert all(size > 0 for size in sample.chunk_bytes)
    assert (sample.first_token_ns is None) is (not sample.chunk_ns)
    if sample.chunk_ns:
        firsts = [
            at for at in (sample.first_reasoning_ns, sample.first_answer_ns) if at is not None
        ]
        assert sample.first_event_ns is not None
        assert sample.first_event_ns <= sample.chunk_ns[0] == sample.first_token_ns == min(firsts)
        assert max(firsts) <= sample.chunk_ns[-1] == sample.last_token_ns
        assert sample.token_source is not None
    else:
        assert sample.first_reasoning_ns is sample.first_answer_ns is sample.last_token_ns is None
        assert sample.outcome != "ok"
    assert sample.coalesced_chunks <= max(len(sample.chunk_ns) - 1, 0)
    for text in (sample.usage_json, sample.server_timing_json, sample.rate_limit_json):
        assert text is None or isinstance(json.loads(text), dict)
    json.dumps(sample.to_record(), allow_nan=False)


@settings(deadline=None, max_examples=100)
@given(st.lists(st.integers(0, len(STREAM)), max_size=12).map(sorted))
@example(list(range(1, len(STREAM))))
def test_a_stream_reads_the_same_in_any_pieces(cuts: list[int]) -> None:
    bounds = [0, *cuts, len(STREAM)]
    pieces = [(end, STREAM[start:end]) for start, end in pairwise(bounds)]
    sample = read_sample(answered(*pieces))
    assert (sample.outcome, sample.events, sample.chunk_bytes) == ("ok", 6, (2, 12, 3))
    assert (sample.prompt_tokens, sample.completion_tokens) == (9, 3)
    assert sample.cost_usd == Decimal("0.5")
    ends = [STREAM.index(text) + STREAM[STREAM.index(text) :].index(b"\n\n") + 2 for text in TOKENS]
    assert [next(b for b in bounds[1:] if b >= end) for end in ends] == list(sample.chunk_ns)
