"""The events of a stream in their order, each with the time at which it is due."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal, NamedTuple

from pipeline.sandbox.provider.chunks import Chunks
from pipeline.sandbox.provider.generation import Generation
from pipeline.sandbox.provider.quirks import Struck

Kind = Literal[
    "head",
    "filter",
    "role",
    "empty",
    "reasoning",
    "content",
    "finish",
    "usage",
    "done",
    "error",
    "comment",
    "torn",
]
Ending = Literal["whole", "cut", "reset"]
_COMMENT = b": OPENROUTER PROCESSING\n\n"
_COMMENT_EVERY = 8
_USAGE_ON_FINISH = {"usage_on_finish", "usage_twice", "usage_everywhere", "two_finish"}


class Event(NamedTuple):
    """A block of the event stream, lines ending in LF, due ``at_ms`` after the arrival.

    Of a ``torn`` event only the first half is sent.
    """

    at_ms: float
    kind: Kind
    block: bytes


@dataclass(frozen=True)
class Stream:
    """All that is streamed, and how the connection fares at the end of it."""

    events: tuple[Event, ...]
    ending: Ending


def stream_of(generation: Generation, struck: Struck) -> Stream:
    """Return the events of ``generation`` as ``struck`` makes them."""
    chunks = Chunks(generation, struck)
    said = list(_tokens(generation, struck, chunks))
    events = sorted(chain(_before(generation, struck, chunks), said), key=lambda one: one.at_ms)
    for name in ("reset", "cut", "ends_early"):
        if name in struck:
            kept, broken = _parted(events, said, struck[name])
            if broken is not None and name != "ends_early":
                kept.append(Event(broken.at_ms, "torn", broken.block))
            return Stream(tuple(kept), "reset" if name == "reset" else "cut")
    end_ms = said[-1].at_ms if said else generation.end_ms
    if struck.keys() & {"error_event", "error_chunk"}:
        events, broken = _parted(events, said, 0.5)
        events += _error(broken.at_ms if broken else end_ms, struck, chunks)
    else:
        events += _after(end_ms, generation, struck, chunks)
    return Stream(tuple(events), "whole")


def _parted(
    events: list[Event], said: list[Event], share: float
) -> tuple[list[Event], Event | None]:
    """Return the events before the one behind the ``share`` of what is said, and that one."""
    if not said:
        return events, None
    broken = said[min(int(len(said) * share), len(said) - 1)]
    place = next(number for number, event in enumerate(events) if event is broken)
    return events[:place], broken


def _before(generation: Generation, struck: Struck, chunks: Chunks) -> Iterator[Event]:
    first_ms = generation.ttft_ms
    for number in range(int(struck.get("ping", 0))):
        block = b": ping - 2026-11-30 06:17:00.000000\n\n"
        yield Event(first_ms * number / struck["ping"], "comment", block)
    for number in range(int(struck.get("comments", 0))):
        yield Event(first_ms * number / struck["comments"], "comment", _COMMENT)
    if "prompt_filter" in struck:
        yield Event(0, "filter", chunks.prompt_filter())
    if not struck.keys() & {"no_role", "role_with_text"}:
        role_ms = first_ms * struck.get("late_role", 0)
        yield Event(role_ms, "role", chunks.opening())
    empties = int(struck.get("empty_chunks", 0))
    for number in range(empties):
        at_ms = first_ms * (number + 1) / (empties + 1)
        yield Event(at_ms, "empty", chunks.empty())


def _tokens(generation: Generation, struck: Struck, chunks: Chunks) -> Iterator[Event]:
    so_far, pause_ms = 0, 0.0
    hidden = generation.completion_tokens - sum(beat.tokens for beat in generation.beats)
    for number, beat in enumerate(generation.beats):
        if "stall" in struck and number == len(generation.beats) // 2:
            pause_ms = struck["stall"] * 1000
        so_far += beat.tokens
        chunk = chunks.tokens(beat, is_first=number == 0, so_far=hidden + so_far)
        at_ms = beat.at_ms + pause_ms
        yield Event(at_ms, beat.channel, chunk)
        if "comments" in struck and number % _COMMENT_EVERY == _COMMENT_EVERY - 1:
            yield Event(at_ms, "comment", _COMMENT)


def _after(at_ms: float, generation: Generation, struck: Struck, chunks: Chunks) -> Iterator[Event]:
    is_asked = generation.wants_usage or any(name.startswith("usage_") for name in struck)
    has_usage = is_asked and "no_usage" not in struck
    extra: dict[str, Any] = {}
    if has_usage and "usage_x_groq" in struck:
        extra["x_groq"] = {"id": "req_sandbox", "usage": chunks.usage()}
    elif has_usage and struck.keys() & _USAGE_ON_FINISH:
        extra["usage"] = chunks.usage()
    is_alone = has_usage and (not extra or bool(struck.keys() & {"usage_twice", "no_finish"}))
    if "llama_timings" in struck:
        extra["timings"] = chunks.timings()
    if "time_info" in struck:
        extra["time_info"] = chunks.times()

    usage = [Event(at_ms, "usage", chunks.usage_alone())] if is_alone else []
    if "usage_second_last" in struck:
        yield from usage
    if "two_finish" in struck:
        yield Event(at_ms, "finish", chunks.finish())
    if "no_finish" not in struck:
        yield Event(at_ms, "finish", chunks.finish(**extra))
    if "usage_second_last" not in struck:
        yield from usage
    if "no_done" not in struck:
        yield Event(at_ms, "done", chunks.done())


def _error(at_ms: float, struck: Struck, chunks: Chunks) -> Iterator[Event]:
    if "error_event" in struck:
        yield Event(at_ms, "error", chunks.error_event(int(struck["error_event"])))
        return
    yield Event(at_ms, "error", chunks.error(int(struck["error_chunk"])))
    if "no_done" not in struck:
        yield Event(at_ms, "done", chunks.done())
