"""When requests are due."""

from __future__ import annotations

from itertools import accumulate
from random import Random

from pipeline.probes.config import Arrival


def due_times(arrival: Arrival, n: int, rng: Random) -> list[float] | None:
    """Return when each of ``n`` requests is due, in seconds from the start of their batch.

    None in a closed loop, where a request is due when a stream is free. A constant rate starts at
    0, a Poisson rate with its first gap.
    """
    rate = arrival.rate_per_s
    if rate is None:
        return None
    if arrival.kind == "constant":
        return [number / rate for number in range(n)]
    return list(accumulate(rng.expovariate(rate) for _ in range(n)))
