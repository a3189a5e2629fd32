"""Server-sent events are read to the WHATWG specification, however their bytes were cut."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.probes.sse import SseEvent, SseParser


def parsed(stream: bytes, *cuts: int) -> list[SseEvent]:
    """Parse ``stream`` in pieces; the piece that starts at byte n came at n."""
    parser = SseParser()
    events = []
    for start, end in zip((0, *cuts), (*cuts, len(stream)), strict=True):
        events += parser.feed(start, stream[start:end])
    return events + parser.close()


def texts(events: list[SseEvent]) -> list[str | None]:
    return [event.data for event in events]


def test_an_event_ends_with_a_blank_line() -> None:
    assert parsed(b"data: a\n\ndata: b\n\n") == [SseEvent(0, data="a"), SseEvent(0, data="b")]


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_lines_may_end_with_lf_cr_or_crlf(end: bytes) -> None:
    stream = b"event: e" + end + b"data: a" + end + b"data: b" + end + end + b"data: c" + end + end
    assert parsed(stream) == [SseEvent(0, "e", "a\nb"), SseEvent(0, "message", "c")]


def test_line_ends_may_be_mixed_within_an_event() -> None:
    assert texts(parsed(b"data: a\rdata: b\r\ndata: c\n\r\ndata: d\r\r")) == ["a\nb\nc", "d"]


def test_lf_after_cr_in_the_next_read_ends_no_second_line() -> None:
    assert texts(parsed(b"data: a\r\ndata: b\r\n\r\n", 8)) == ["a\nb"]


def test_a_cr_at_the_end_of_a_read_does_not_make_its_event_wait_for_the_lf() -> None:
    stream = b"data: a\r\n\r\ndata: b\r\n\r\n"
    assert parsed(stream, 10) == [SseEvent(0, data="a"), SseEvent(10, data="b")]


def test_an_empty_read_is_nothing_and_keeps_a_crlf_together() -> None:
    parser = SseParser()
    assert parser.feed(1, b"data: a\r") == []
    assert parser.feed(2, b"") == []
    assert parser.feed(3, b"\ndata: b\n\n") == [SseEvent(3, data="a\nb")]


def test_the_stamp_of_an_event_is_that_of_the_read_with_its_blank_line() -> None:
    stream = b"data: a\n\ndata: b\n\n"
    assert [event.completed_ns for event in parsed(stream, 8, 12)] == [8, 12]


def test_events_of_one_read_share_its_stamp() -> None:
    assert [e.completed_ns for e in parsed(b"da" + b"ta: a\n\n" + b"data: b\n\n", 2)] == [2, 2]


def test_a_character_may_be_split_between_its_bytes() -> None:
    stream = "data: Zürich 🚆\n\n".encode()
    for cut in range(1, len(stream)):
        assert texts(parsed(stream, cut)) == ["Zürich 🚆"]


def test_bytes_that_are_no_utf8_become_the_replacement_character() -> None:
    assert texts(parsed(b"data: a\xff\xe2\x82\n\n")) == ["a\ufffd\ufffd"]


def test_a_byte_order_mark_at_the_start_is_skipped_and_only_there() -> None:
    stream = b"\xef\xbb\xbfdata: a\n\n\xef\xbb\xbfdata: b\n\ndata: \xef\xbb\xbfc\n\n"
    for cut in range(1, 4):
        assert texts(parsed(stream, cut)) == ["a", "\ufeffc"]


def test_comments_are_handed_out_as_such_and_leave_the_event_around_them_whole() -> None:
    assert parsed(b": one\ndata: a\n:two\n\n:\n") == [
        SseEvent(0, comment="one"),
        SseEvent(0, comment="two"),
        SseEvent(0, data="a"),
        SseEvent(0, comment=""),
    ]
    assert [event.comment for event in parsed(b": c\n\ndata: a\n\n")] == ["c", None]


def test_a_block_of_comments_only_is_no_event() -> None:
    assert texts(parsed(b": OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\n")) == [None, None]


def test_a_name_holds_for_its_event_only() -> None:
    assert [e.name for e in parsed(b"event: error\ndata: a\n\ndata: b\n\n")] == ["error", "message"]


def test_a_name_without_data_is_no_event_and_forgotten() -> None:
    assert parsed(b"event: ping\n\ndata: a\n\n") == [SseEvent(0, "message", "a")]


@pytest.mark.parametrize(
    ("line", "data"),
    [
        (b"data: a", "a"),
        (b"data:a", "a"),
        (b"data:  a ", " a "),
        (b"data:\ta", "\ta"),
        (b"data: a: b", "a: b"),
        (b"data", ""),
        (b"data:", ""),
        (b"data: ", ""),
    ],
)
def test_one_space_after_the_colon_is_dropped_and_no_more(line: bytes, data: str) -> None:
    assert texts(parsed(line + b"\n\n")) == [data]


def test_lines_of_data_are_joined_and_empty_ones_count() -> None:
    assert texts(parsed(b"data: a\ndata\ndata: b\n\ndata\ndata\n\n")) == ["a\n\nb", "\n"]


@pytest.mark.parametrize("line", [b"id: 7", b"retry: 3000", b"datas: x", b" data: x", b"Data: x"])
def test_other_fields_are_no_data(line: bytes) -> None:
    assert parsed(line + b"\n\n") == []
    assert texts(parsed(line + b"\ndata: a\n\n")) == ["a"]


def test_blank_lines_alone_are_no_events() -> None:
    assert parsed(b"\n\n\r\n\r\r\n\ndata: a\n\n\n\n") == [SseEvent(0, data="a")]


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_an_event_that_the_end_cut_off_is_handed_out_as_such(end: bytes) -> None:
    assert parsed(b"data: a\n\nevent: e\ndata: [DONE]" + end, 9) == [
        SseEvent(0, data="a"),
        SseEvent(9, "e", "[DONE]", is_cut=True),
    ]


def test_nothing_is_left_after_a_whole_event_or_the_first_close() -> None:
    parser = SseParser()
    assert parser.close() == []
    parser.feed(1, b"data: a\n\n")
    assert parser.close() == []
    parser.feed(2, b"data: b")
    assert len(parser.close()) == 1
    assert parser.close() == []


def test_data_may_be_larger_than_any_read() -> None:
    parser = SseParser()
    piece = b"x" * 1000
    assert parser.feed(0, b"data: ") == []
    assert not any(parser.feed(at, piece) for at in range(1, 5001))
    (event,) = parser.feed(5001, b"\n\n")
    assert event.completed_ns == 5001
    assert event.data == "x" * 5_000_000


def by_the_letter(stream: bytes) -> list[tuple[str, str]]:
    """Return (name, data) of the events as the specification words it, on the whole text."""
    text = stream.decode("utf-8", "replace").removeprefix("\ufeff")
    events, name, data = [], "", ""
    for line in re.split("\r\n|\n|\r", text)[:-1]:
        if line == "":
            if data:
                events.append((name or "message", data[:-1]))
            name, data = "", ""
        elif not line.startswith(":"):
            field, colon, value = line.partition(":")
            value = value[1:] if colon and value.startswith(" ") else value
            if field == "event":
                name = value
            elif field == "data":
                data += value + "\n"
    return events


PARTS = st.sampled_from(
    [
        *(b"data", b"event", b"id: 1", b":", b" ", b"\n", b"\r", b"\r\n", b"\n\n", b"a", b"\0"),
        *("ü".encode(), "🚆".encode(), b"\xef\xbb\xbf", b"\xff", b"\xe2\x82"),
    ]
)


@settings(deadline=None)
@given(st.lists(PARTS, max_size=40).map(b"".join), st.data())
def test_any_stream_in_any_split_reads_as_the_specification_says(
    stream: bytes, draw: st.DataObject
) -> None:
    cuts = sorted(draw.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    events = [e for e in parsed(stream, *cuts) if e.comment is None and not e.is_cut]
    assert [(event.name, event.data) for event in events] == by_the_letter(stream)
