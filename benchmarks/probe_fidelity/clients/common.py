"""What the clients share; run by their own interpreter, so standard library only."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, dataclass, field
from typing import Any

BODY: dict[str, Any] = {
    "model": "mock",
    "messages": [{"role": "user", "content": "Explain the tradeoffs of quantization."}],
    "stream": True,
    "max_tokens": 4096,
    "stream_options": {"include_usage": True},
}


@dataclass
class Request:
    """A request as a client saw it; times in ns of the monotonic clock."""

    start_ns: int
    generation_id: str = ""
    chunk_ns: list[int] = field(default_factory=list)

    def take(self, chunk: dict[str, Any], now_ns: int) -> None:
        """Note a chunk that came at ``now_ns``; only one with text has a stamp."""
        self.generation_id = chunk["id"]
        if chunk["choices"] and chunk["choices"][0]["delta"].get("content"):
            self.chunk_ns.append(now_ns)


def arguments() -> argparse.Namespace:
    """Return url, ca, concurrency, requests and ramp_s."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", required=True)
    parser.add_argument("--ca")
    parser.add_argument("--concurrency", type=int, required=True)
    parser.add_argument("--requests", type=int, required=True)
    parser.add_argument("--ramp-s", type=float, required=True)
    return parser.parse_args()


def tell(requests: list[Request]) -> None:
    """Write what was seen, a line a request."""
    for request in requests:
        sys.stdout.write(json.dumps(asdict(request)) + "\n")
