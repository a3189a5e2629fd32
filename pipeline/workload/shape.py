"""A workload: what one request looks like, how many there are, and when they are sent."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

ALL_HOURS = frozenset(range(24))
ALL_DAYS = frozenset(range(7))


class WrongWorkload(ValueError):  # noqa: N818 - says what is the case
    """A workload that cannot be. One line: which part, what was found, what is allowed."""


@dataclass(frozen=True)
class Workload:
    """Requests of one kind, spread evenly over the chosen UTC hours and days.

    ``input_tokens`` is the whole prompt, of which the share ``cached_share`` is read from a cache
    and ``written_share`` is written to one; ``output_tokens`` is the answer, reasoning included.
    ``weekdays``: 0 is Monday. Raises ``WrongWorkload``.
    """

    input_tokens: int
    output_tokens: int
    cached_share: Decimal = Decimal(0)
    written_share: Decimal = Decimal(0)
    requests_per_month: int = 1
    hours: frozenset[int] = ALL_HOURS
    weekdays: frozenset[int] = ALL_DAYS

    def __post_init__(self) -> None:
        for name in ("input_tokens", "output_tokens", "requests_per_month"):
            if getattr(self, name) < 0:
                raise WrongWorkload(f"{name} is {getattr(self, name)}; it must be 0 or more")
        shares = (self.cached_share, self.written_share)
        if min(shares) < 0 or sum(shares) > 1:
            raise WrongWorkload(
                f"cached_share {shares[0]} and written_share {shares[1]}: each must be 0 or more, "
                "both together at most 1"
            )
        if not self.hours or not self.hours <= ALL_HOURS:
            raise WrongWorkload(f"hours are {sorted(self.hours)}; choose some of 0 to 23")
        if not self.weekdays or not self.weekdays <= ALL_DAYS:
            raise WrongWorkload(f"weekdays are {sorted(self.weekdays)}; choose some of 0 to 6")


def hours_between(start: int, end: int) -> frozenset[int]:
    """Return the UTC hours from ``start`` up to ``end``, through midnight where it lies before.

    The same hour twice is the whole day.
    """
    length = (end - start) % 24 or 24
    return frozenset((start + hour) % 24 for hour in range(length))
