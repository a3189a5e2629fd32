"""The oddities of real providers, as switches: what they do, and which strike a request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from pipeline.sandbox.dice import Dice

# The quirks that strike a request, with their values.
Struck = Mapping[str, float]


class UnknownQuirkError(ValueError):
    """A quirk cannot be set as asked. One line: what is wrong and what is known."""


@dataclass(frozen=True)
class Kind:
    """A kind of quirk: what it does, and what its value means when it has one."""

    does: str
    default: float | None = None


KINDS = {
    # The first chunk; without a quirk it has the role and content "".
    "role_null": Kind("first chunk: role and content null"),
    "role_only": Kind("first chunk: role and no content"),
    "role_with_text": Kind("no first chunk: the role stands beside the first text"),
    "role_everywhere": Kind("every chunk has the role"),
    "no_role": Kind("no first chunk, no role anywhere"),
    "late_role": Kind("first chunk after the share value of the TTFT, not at once", 0.5),
    "prompt_filter": Kind("a chunk with choices [] and prompt_filter_results before all"),
    "empty_chunks": Kind("value chunks with content '' before the first token", 3),
    # Tokens.
    "content_parts": Kind("content is a list of parts"),
    "padding": Kind("token chunks carry an obfuscation of value characters", 64),
    "wrong_provider": Kind("another provider's name in the chunks"),
    # Usage; without a quirk it comes last, with choices [], to those who ask for it.
    "usage_null": Kind("usage null in all other chunks"),
    "usage_on_finish": Kind("usage in the chunk with the finish reason"),
    "usage_second_last": Kind("usage in the chunk before the one with the finish reason"),
    "usage_twice": Kind("usage with the finish reason and again with choices []"),
    "usage_everywhere": Kind("usage so far in every chunk"),
    "usage_x_groq": Kind("usage under x_groq only"),
    "no_usage": Kind("no usage, even if asked for"),
    # Timings that a server tells of itself.
    "groq_times": Kind("queue_time, prompt_time, completion_time, total_time in the usage"),
    "llama_timings": Kind("timings of llama.cpp in the last chunk"),
    "time_info": Kind("time_info of Cerebras in the last chunk"),
    # Lines.
    "comments": Kind("value comments before the first token and one after every 8th chunk", 3),
    "ping": Kind("value comments with the time before the first token", 1),
    "crlf": Kind("lines end in CR LF"),
    "cr": Kind("lines end in CR"),
    "bom": Kind("a byte order mark before all"),
    "multi_line": Kind("the JSON of an event on several data lines"),
    "no_space": Kind("no space behind the colon"),
    # How it travels.
    "split": Kind("each event in value segments, cut at any byte", 2),
    "blocks": Kind("value events in one segment, when the last of them is due", 4),
    "buffered": Kind("all events in one write, at the end"),
    "gzip": Kind("compressed, where the client takes it"),
    "gzip_always": Kind("compressed, even where the client does not take it"),
    "close_framing": Kind("no chunked coding: the end of the connection ends the body"),
    "slow_headers": Kind("spreads the head over value s, in small pieces", 1),
    "slow_first_byte": Kind("waits value s before the head, and so before all else", 1),
    "stall": Kind("pauses for value s before the middle chunk", 1),
    # How it ends.
    "no_done": Kind("no [DONE]"),
    "no_finish": Kind("no finish reason"),
    "two_finish": Kind("two chunks with a finish reason, usage in the second"),
    "error_event": Kind("event: error with code value after half of the chunks, then the end", 503),
    "error_chunk": Kind("a chunk with error and code value after half of the chunks", 502),
    "reset": Kind("resets the connection inside the chunk after the share value of them", 0.5),
    "cut": Kind("closes the connection inside the chunk after the share value of them", 0.5),
    "ends_early": Kind("closes the connection behind the share value of the chunks", 0.5),
    # Instead of a stream.
    "status": Kind("answers with the status value and an error in JSON", 503),
    "html": Kind("answers with the status value and an HTML page", 502),
    "rate_limited": Kind("429 with Retry-After of value s", 1),
    "refuses_stream_options": Kind("400 for a request with stream_options"),
    "no_answer": Kind("closes the connection without an answer"),
    # The connection.
    "close_after": Kind("closes the connection after the answer, without having said so"),
    "idle_close": Kind("closes a connection that is idle for value ms", 100),
}


@dataclass(frozen=True)
class Quirk:
    """One switch, written ``NAME[=VALUE][,probability=P][,first=N]``.

    ``probability`` is drawn per request from the script's seed, ``first`` limits the quirk to the
    first n requests after the script was set.
    """

    name: str
    value: float
    probability: float = 1.0
    first: int | None = None

    @staticmethod
    @cache
    def parse(text: str) -> Quirk:
        """Read a switch; raises ``UnknownQuirkError``."""
        head, *options = text.split(",")
        name, _, value = head.partition("=")
        kind = KINDS.get(name)
        if kind is None:
            known = ", ".join(KINDS)
            raise UnknownQuirkError(f"no quirk is called {name!r}; known: {known}")
        limits = dict(option.partition("=")[::2] for option in options)
        if not limits.keys() <= {"probability", "first"}:
            raise UnknownQuirkError(f"{text!r}: options of a quirk are probability and first")
        try:
            return Quirk(
                name,
                float(value) if value else kind.default or 0.0,
                float(limits.get("probability", 1)),
                int(limits["first"]) if "first" in limits else None,
            )
        except ValueError:
            raise UnknownQuirkError(f"{text!r}: value, probability, first are numbers") from None


class QuirkPlan:
    """Decides which quirks strike; the same order of requests gives the same strikes."""

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()

    def restart(self) -> None:
        """Count the first requests anew."""
        self._seen.clear()

    def pick(self, quirks: Iterable[str], seed: int, seq: int) -> Struck:
        """Return what strikes the request ``seq``."""
        struck = {}
        for text in quirks:
            quirk = Quirk.parse(text)
            self._seen[text] += 1
            if quirk.first is not None and self._seen[text] > quirk.first:
                continue
            if Dice(seed).unit("quirk", text, seq) < quirk.probability:
                struck[quirk.name] = quirk.value
        return struck
