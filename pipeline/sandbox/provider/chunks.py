"""The chunks of a stream, key for key and line for line as real providers write them."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from pipeline.sandbox.api import json_bytes
from pipeline.sandbox.provider.generation import CREATED, Beat, Generation
from pipeline.sandbox.provider.quirks import Struck

WRONG_PROVIDER = "Somebody Else"
# Characters of one to four bytes, so that a cut at any byte may cut one in two.
_WORDS = (
    *(" the", " latency", " of", " a", " naïve", " stream", " costs", " 5 €", " and", " less"),
    *(" than", ' "one"', " token", "\n", " 🎞", " per"),
)
_NATIVE_REASONS = {"stop": "stop", "length": "max_tokens", "error": "error"}


def words(first: int, count: int) -> str:
    """Return the text of ``count`` tokens after the first ``first``."""
    return "".join(_WORDS[number % len(_WORDS)] for number in range(first, first + count))


class Chunks:
    """Writes the chunks of one stream, each as a block of data lines that end in LF."""

    def __init__(self, generation: Generation, struck: Struck) -> None:
        self._generation = generation
        self._struck = struck
        script = generation.script
        self._base: dict[str, Any] = {
            "id": generation.id,
            "object": "chat.completion.chunk",
            "created": CREATED,
            "model": generation.model,
        }
        if script.provider is not None:
            is_wrong = "wrong_provider" in struck
            self._base["provider"] = WRONG_PROVIDER if is_wrong else script.provider
        self._rest = {"usage": None} if "usage_null" in struck else {}
        self._padding = {"obfuscation": "x" * int(struck["padding"])} if "padding" in struck else {}
        # A stream repeats itself, and the same text is the same chunk.
        self._said: dict[tuple[str, int, int], bytes] = {}

    def opening(self) -> bytes:
        """Return the first chunk, with the role."""
        delta: dict[str, Any] = {"role": "assistant", "content": ""}
        if "role_null" in self._struck:
            delta["content"] = None
        elif "role_only" in self._struck:
            del delta["content"]
        return self._delta(delta)

    def empty(self) -> bytes:
        """Return a chunk with no text."""
        return self._delta({"content": ""})

    def prompt_filter(self) -> bytes:
        """Return Azure's chunk without choices, and without an id."""
        safe = {"hate": {"filtered": False, "severity": "safe"}}
        results = [{"prompt_index": 0, "content_filter_results": safe}]
        head = {"id": "", "object": "", "created": 0, "model": ""}
        return self._block(head | {"choices": [], "prompt_filter_results": results})

    def tokens(self, beat: Beat, *, is_first: bool, so_far: int) -> bytes:
        """Return the chunk of ``beat``; ``so_far`` counts all tokens up to its end."""
        varies = is_first or "usage_everywhere" in self._struck
        key = (beat.channel, beat.first % len(_WORDS), beat.tokens)
        if not varies and key in self._said:
            return self._said[key]
        delta = self._delta_of(beat.channel, words(beat.first, beat.tokens))
        if is_first and "role_with_text" in self._struck:
            delta = {"role": "assistant"} | delta
        extra: dict[str, Any] = dict(self._padding)
        if "usage_everywhere" in self._struck:
            extra["usage"] = self.usage(so_far)
        block = self._delta(delta, **extra)
        if not varies:
            self._said[key] = block
        return block

    def finish(self, **extra: Any) -> bytes:
        """Return the chunk with the finish reason."""
        return self._delta({"content": ""}, self._generation.finish_reason, **extra)

    def usage_alone(self) -> bytes:
        """Return a chunk with the usage and no choice."""
        return self._block(self._base | {"choices": [], "usage": self.usage()})

    def error(self, code: int) -> bytes:
        """Return the chunk that ends a stream with an error, as OpenRouter writes it."""
        return self._delta({"content": ""}, "error", error=_error(code))

    def error_event(self, code: int) -> bytes:
        """Return the event that ends a stream with an error, as Groq writes it."""
        return b"event: error\n" + self._block({"error": _error(code)})

    def done(self) -> bytes:
        """Return the mark of the end."""
        return self._data(b"[DONE]")

    def usage(self, completion_tokens: int | None = None) -> dict[str, Any]:
        """Return the usage, at the end or after ``completion_tokens``."""
        generation = self._generation
        if completion_tokens is None:
            completion_tokens = generation.completion_tokens
        reasoning = min(generation.reasoning_tokens, completion_tokens)
        usage: dict[str, Any] = {
            "prompt_tokens": generation.prompt_tokens,
            "completion_tokens": completion_tokens,
            "total_tokens": generation.prompt_tokens + completion_tokens,
            "prompt_tokens_details": {"cached_tokens": generation.cached_tokens},
            "completion_tokens_details": {"reasoning_tokens": reasoning},
        }
        if generation.script.is_openrouter:
            usage |= {"cost": self._cost(completion_tokens), "is_byok": False}
        if "groq_times" in self._struck:
            usage |= self.times()
        return usage

    def times(self) -> dict[str, float]:
        """Return the times of Groq and Cerebras, in seconds."""
        prompt_s = self._generation.ttft_ms / 1000
        total_s = self._generation.end_ms / 1000
        return {
            "queue_time": 0.0,
            "prompt_time": round(prompt_s, 6),
            "completion_time": round(total_s - prompt_s, 6),
            "total_time": round(total_s, 6),
        }

    def timings(self) -> dict[str, float]:
        """Return the timings of llama.cpp, in ms."""
        generation = self._generation
        predicted_ms = generation.end_ms - generation.ttft_ms
        predicted_s = max(predicted_ms, 0.001) / 1000
        return {
            "prompt_n": generation.prompt_tokens,
            "prompt_ms": round(generation.ttft_ms, 3),
            "predicted_n": generation.completion_tokens,
            "predicted_ms": round(predicted_ms, 3),
            "predicted_per_second": round(generation.completion_tokens / predicted_s, 3),
        }

    def _delta(self, delta: dict[str, Any], finish: str | None = None, **extra: Any) -> bytes:
        if "role_everywhere" in self._struck:
            delta = {"role": "assistant"} | delta
        choice: dict[str, Any] = {"index": 0, "delta": delta, "finish_reason": finish}
        if self._generation.script.is_openrouter:
            choice["native_finish_reason"] = finish and _NATIVE_REASONS[finish]
        return self._block(self._base | {"choices": [choice]} | self._rest | extra)

    def _delta_of(self, channel: str, text: str) -> dict[str, Any]:
        key = "content" if channel == "content" else self._generation.script.reasoning_as
        if "content_parts" in self._struck:
            part: dict[str, Any] = {"type": "text", "text": text}
            if channel == "reasoning":
                part = {"type": "thinking", "thinking": [part]}
            return {"content": [part]}
        if key == "reasoning_details":
            detail = {"type": "reasoning.text", "text": text, "index": 0}
            return {"content": "", "reasoning": text, "reasoning_details": [detail]}
        return {key: text}

    def _block(self, value: dict[str, Any]) -> bytes:
        if "multi_line" in self._struck:
            return self._data(json.dumps(value, indent=1, ensure_ascii=False).encode())
        return self._data(json_bytes(value))

    def _data(self, text: bytes) -> bytes:
        field = b"data:" if "no_space" in self._struck else b"data: "
        return b"".join(field + line + b"\n" for line in text.split(b"\n")) + b"\n"

    def _cost(self, completion_tokens: int) -> float | None:
        prices = self._generation.script.prices
        if prices is None:
            return None
        cached = self._generation.cached_tokens
        read = prices.input if prices.cache_read is None else prices.cache_read
        fresh = self._generation.prompt_tokens - cached
        usd = fresh * prices.input + cached * read + completion_tokens * prices.output
        return float(usd / Decimal(1_000_000))


def _error(code: int) -> dict[str, Any]:
    """Return an error as providers put it into a stream."""
    return {"code": code, "message": "The provider failed while it answered"}
