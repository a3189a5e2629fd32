"""What a provider remembers between requests: its rate limit and its prompt cache."""

from __future__ import annotations

from hashlib import blake2b

# As the large providers do: from 1,024 tokens, in steps of 128; a token is four characters.
_BLOCK_TOKENS = 128
_BLOCK_CHARACTERS = 4 * _BLOCK_TOKENS
_FEWEST_BLOCKS = 8
_MOST_REMEMBERED = 200_000


class RateLimit:
    """A bucket for each endpoint that fills by a rate and holds a second of it, at least one."""

    def __init__(self) -> None:
        self._buckets: dict[str, tuple[float, int]] = {}

    def admits(self, endpoint: str, now_ns: int, rate_per_s: float) -> bool:
        """Take a request out of the bucket of ``endpoint`` if there is one."""
        most = max(1.0, rate_per_s)
        left, then_ns = self._buckets.get(endpoint, (most, now_ns))
        left = min(most, left + (now_ns - then_ns) / 1e9 * rate_per_s)
        is_admitted = left >= 1
        self._buckets[endpoint] = (left - is_admitted, now_ns)
        return is_admitted


class PromptCache:
    """Remembers the beginnings of prompts, by endpoint."""

    def __init__(self) -> None:
        self._seen: set[bytes] = set()

    def look_up(self, endpoint: str, prompt: str) -> int:
        """Return how many tokens of ``prompt`` are cached, and remember it."""
        if len(self._seen) > _MOST_REMEMBERED:
            self._seen.clear()
        digest = blake2b(endpoint.encode(), digest_size=8)
        known, is_known = 0, True
        for number in range(len(prompt) // _BLOCK_CHARACTERS):
            start = number * _BLOCK_CHARACTERS
            digest.update(prompt[start : start + _BLOCK_CHARACTERS].encode())
            key = digest.digest()
            is_known = is_known and key in self._seen
            known += is_known
            self._seen.add(key)
        return known * _BLOCK_TOKENS if known >= _FEWEST_BLOCKS else 0
