"""What a stream will say and when, decided before its first byte."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from hashlib import shake_128
from itertools import accumulate
from time import time
from typing import Literal, NamedTuple

from pipeline.sandbox.provider.ask import Ask
from pipeline.sandbox.provider.script import Script

Channel = Literal["reasoning", "content"]
# When this provider began: its ids are others after each start.
CREATED = int(time())


class Beat(NamedTuple):
    """Tokens that are said together, ``at_ms`` after the request arrived.

    ``first`` counts the tokens of the channel before them.
    """

    at_ms: float
    channel: Channel
    first: int
    tokens: int


@dataclass(frozen=True)
class Generation:
    """A stream's words and times; hidden reasoning takes time and has no beats."""

    id: str
    model: str
    script: Script
    ttft_ms: float
    end_ms: float
    beats: tuple[Beat, ...]
    prompt_tokens: int
    cached_tokens: int
    reasoning_tokens: int
    answer_tokens: int
    finish_reason: Literal["stop", "length"]
    wants_usage: bool

    @property
    def completion_tokens(self) -> int:
        """All tokens that were generated."""
        return self.reasoning_tokens + self.answer_tokens


def generation_of(
    ask: Ask, script: Script, *, seq: int, other_streams: int = 0, cached_tokens: int = 0
) -> Generation:
    """Return what the request ``seq`` gets while ``other_streams`` of its endpoint are open."""
    wanted = script.reasoning_tokens + script.tokens
    total = wanted if ask.max_tokens is None else min(wanted, ask.max_tokens)
    reasoning = min(script.reasoning_tokens, total)
    size = script.tokens_per_chunk
    channels: tuple[tuple[Channel, int], ...] = (
        ("reasoning", reasoning),
        ("content", total - reasoning),
    )
    said = [
        (channel, first, min(size, tokens - first))
        for channel, tokens in channels
        for first in range(0, tokens, size)
    ]
    slowness = 1 + script.slowdown_per_stream * other_streams
    saved = script.cached_saving * cached_tokens / max(ask.prompt_tokens, 1)
    luck, *lucks = _units(max(1, len(said)), script.seed, seq)
    low, high = script.ttft_ms
    first_ms = (low + (high - low) * luck) * slowness * (1 - saved)
    least_ms = script.gap_ms * slowness * (1 - script.jitter)
    spread_ms = script.gap_ms * slowness * 2 * script.jitter
    times_ms = list(accumulate((least_ms + spread_ms * unit for unit in lucks), initial=first_ms))
    is_hidden = script.reasoning_as == "hidden"
    beats = [
        Beat(at_ms, *tokens)
        for at_ms, tokens in zip(times_ms, said, strict=False)
        if not (is_hidden and tokens[0] == "reasoning")
    ]
    return Generation(
        id=f"gen-{CREATED}-{seq:08d}" if script.is_openrouter else f"chatcmpl-{seq:08d}",
        model=ask.model,
        script=script,
        ttft_ms=beats[0].at_ms if beats else times_ms[-1],
        end_ms=times_ms[-1],
        beats=tuple(beats),
        prompt_tokens=ask.prompt_tokens,
        cached_tokens=cached_tokens,
        reasoning_tokens=reasoning,
        answer_tokens=total - reasoning,
        finish_reason="stop" if total == wanted else "length",
        wants_usage=ask.wants_usage or script.is_openrouter,
    )


def _units(count: int, *key: object) -> list[float]:
    """Return ``count`` numbers in [0, 1), a pure function of ``key``."""
    digest = shake_128("\x1f".join(map(str, key)).encode()).digest(4 * count)
    return [number / (1 << 32) for number in struct.unpack(f"<{count}I", digest)]
