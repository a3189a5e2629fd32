"""Every recorded stream reads to what it holds, whole and in any pieces.

``expected_streams.csv`` was counted without the code under test: with grep the comment lines, the
``[DONE]`` lines and the costs as they stand in the text, with jq over the ``data:`` lines the
chunks with a non-empty ``delta.content`` or ``refusal`` (answer), ``reasoning`` or
``reasoning_content`` (reasoning), function name or arguments (tool call), their ``length`` and
``utf8bytelength``, the last non-null ``usage`` and ``finish_reason``, the first ``provider`` and
non-empty ``model``. Where no usage came, the tokens are the chunks with text. xAI, asked directly,
counts reasoning beside the completion, and it is added by hand: 1 + 290 and 5 + 226. Its cost is
1,466,250 ticks of 1e-10 USD. ``events`` are data events without ``[DONE]``; ``outcome`` is ok but
for the recording whose end was cut off by its publisher.
"""

from __future__ import annotations

import csv
import random
import re
from bisect import bisect_left
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import pytest
from probe_transcripts import answered

from pipeline.exact_json import read_json
from pipeline.probes.chunks import read_chunk
from pipeline.probes.reading import read_sample
from pipeline.probes.sample import Sample
from pipeline.probes.sse import SseEvent, SseParser

pytestmark = pytest.mark.recorded

TABLE = (Path(__file__).parent / "expected_streams.csv").read_text()
EXPECTED = {row["file"]: row for row in csv.DictReader(TABLE.splitlines())}
CHANNELS = ("answer", "reasoning", "tool_call")
# An event is complete with the first byte of its blank line's end, LF or CR.
EVENT = re.compile(rb"data: [^\r\n]*(?:\r\n|\n)[\r\n]")

each_file = pytest.mark.parametrize("file", EXPECTED)


def body_of(recordings: Path, file: str) -> bytes:
    """Return the body as it came; where the source dropped the framing, it is put back."""
    body = (recordings / "sse" / file).read_bytes()
    if file.endswith(".jsonl"):
        return b"".join(b"data: " + line + b"\n\n" for line in body.splitlines())
    return body


def sample_of(body: bytes, cuts: list[int]) -> Sample:
    """Read ``body`` in pieces; the piece that ends before byte n came at n."""
    bounds = [0, *cuts, len(body)]
    pieces = [(end, body[start:end]) for start, end in pairwise(bounds)]
    return read_sample(answered(*pieces))


def without_stamps(sample: Sample) -> Sample:
    """Return the sample without what depends on where its body was cut."""
    return replace(
        sample,
        first_event_ns=None,
        first_reasoning_ns=None,
        first_token_ns=None,
        first_answer_ns=None,
        last_token_ns=None,
        end_ns=None,
        chunk_ns=(),
        coalesced_chunks=0,
        is_buffered=False,
    )


def events_of(body: bytes) -> list[SseEvent]:
    parser = SseParser()
    return parser.feed(0, body) + parser.close()


def test_the_table_has_every_recording(recordings: Path) -> None:
    files = {path.name for path in (recordings / "sse").iterdir()}
    assert files - {"index.csv"} == set(EXPECTED)


@each_file
def test_a_recorded_stream_has_its_events_and_texts(recordings: Path, file: str) -> None:
    expected = EXPECTED[file]
    events = events_of(body_of(recordings, file))
    data = [event.data for event in events if event.data is not None]
    chunks = [read_chunk(read_json(text.encode())) for text in data if text != "[DONE]"]
    channels = [
        (channel, text)
        for chunk in chunks
        for channel in CHANNELS
        if (text := vars(chunk)[channel])
    ]
    assert len(chunks) == int(expected["events"])
    assert sum(event.comment is not None for event in events) == int(expected["comments"])
    assert channels[0][0] == expected["first_channel"]
    for channel in CHANNELS:
        texts = [text for kind, text in channels if kind == channel]
        assert len(texts) == int(expected[f"{channel}_chunks"])
        assert sum(map(len, texts)) == int(expected[f"{channel}_characters"])


@each_file
def test_a_recorded_stream_gives_the_expected_sample(recordings: Path, file: str) -> None:
    expected = EXPECTED[file]
    body = body_of(recordings, file)
    sample = sample_of(body, [end for end in event_ends(body) if end < len(body)])
    seen = {
        "events": sample.events,
        "text_bytes": sum(sample.chunk_bytes),
        "prompt_tokens": sample.prompt_tokens,
        "completion_tokens": sample.completion_tokens,
        "reasoning_tokens": sample.reasoning_tokens,
        "cached_tokens": sample.cached_tokens,
        "token_source": sample.token_source,
        "finish_reason": sample.finish_reason,
        "served_by": sample.served_by,
        "served_model": sample.served_model,
        "is_done_seen": sample.is_done_seen,
        "is_reasoning_hidden": sample.is_reasoning_hidden,
        "outcome": sample.outcome,
    }
    assert {key: "" if value is None else str(value) for key, value in seen.items()} == {
        key: expected[key] for key in seen
    }
    assert sample.cost_usd == (Decimal(expected["cost_usd"]) if expected["cost_usd"] else None)
    assert len(sample.chunk_ns) == sum(int(expected[f"{channel}_chunks"]) for channel in CHANNELS)
    has_reasoning_first = expected["first_channel"] == "reasoning"
    assert (sample.first_reasoning_ns == sample.first_token_ns) is has_reasoning_first
    assert (sample.first_answer_ns == sample.first_token_ns) is not has_reasoning_first


def event_ends(body: bytes) -> list[int]:
    return [match.end() for match in EVENT.finditer(body)]


@each_file
def test_a_recorded_stream_reads_the_same_in_any_pieces(recordings: Path, file: str) -> None:
    body = body_of(recordings, file)
    whole = sample_of(body, [])
    ends = event_ends(body)
    apart = sample_of(body, [end for end in ends if end < len(body)])
    # One event a piece: a token's stamp is where its event ends.
    assert set(apart.chunk_ns) <= set(ends) | {len(body)}
    assert len(set(apart.chunk_ns)) == len(apart.chunk_ns)

    chance = random.Random(file)  # noqa: S311 - a seeded choice of splits
    splits = [list(range(1, len(body)))]
    splits += [sorted(chance.sample(range(1, len(body)), chance.randint(1, 60))) for _ in range(20)]
    for cuts in splits:
        sample = sample_of(body, cuts)
        assert without_stamps(sample) == without_stamps(whole)
        bounds = [*cuts, len(body)]
        expected = [bounds[bisect_left(bounds, end)] for end in apart.chunk_ns]
        assert list(sample.chunk_ns) == expected
        assert (sample.first_token_ns, sample.last_token_ns) == (
            sample.chunk_ns[0],
            sample.chunk_ns[-1],
        )
