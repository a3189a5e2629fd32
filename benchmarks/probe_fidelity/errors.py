"""How far a client's times are from the truth, request by request."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from pipeline.sandbox.provider.truth import TrueRequest


@dataclass(frozen=True)
class Seen:
    """A request as a client saw it; times in ns, of any clock of its own.

    ``chunk_ns`` has every chunk with text, or only the first and the last where a tool keeps no
    more.
    """

    generation_id: str
    start_ns: int
    chunk_ns: tuple[int, ...]


@dataclass
class Errors:
    """Absolute errors of the requests of a cell: ms, and percent of the tokens per second."""

    requests: int = 0
    missing: int = 0
    ttft_ms: list[float] = field(default_factory=list)
    gap_ms: list[float] = field(default_factory=list)
    rate_pct: list[float] = field(default_factory=list)

    def add(self, true: TrueRequest, seen: Seen | None) -> None:
        """Compare one request; a client that did not report it whole has missed it."""
        self.requests += 1
        sent = true.token_ns
        if seen is None or len(seen.chunk_ns) not in (2, len(sent)):
            self.missing += 1
            return
        got = seen.chunk_ns
        self.ttft_ms.append(_apart_ms(got[0] - seen.start_ns, sent[0] - true.arrived_ns))
        span = got[-1] - got[0]
        # A client that got everything at once knows no rate at all.
        self.rate_pct.append(abs((sent[-1] - sent[0]) / span - 1) * 100 if span else math.inf)
        if len(got) == len(sent):
            self.gap_ms += [
                _apart_ms(got[i] - got[i - 1], sent[i] - sent[i - 1]) for i in range(1, len(sent))
            ]


def errors_of(seen: Iterable[Seen], truth: Iterable[TrueRequest]) -> dict[str, Errors]:
    """Return the errors over ``reused`` connections and over ``new`` ones."""
    by_id = {request.generation_id: request for request in seen}
    found = {"reused": Errors(), "new": Errors()}
    for true in truth:
        kind = "new" if true.nth == 1 else "reused"
        found[kind].add(true, by_id.get(true.generation_id or ""))
    return found


def percentile(values: Sequence[float], q: float) -> float:
    """Return the smallest value that at least the share ``q`` does not exceed."""
    return sorted(values)[max(math.ceil(q * len(values)) - 1, 0)] if values else math.nan


def _apart_ms(one_ns: int, other_ns: int) -> float:
    return abs(one_ns - other_ns) / 1e6
