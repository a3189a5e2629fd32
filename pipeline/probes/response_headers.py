"""What the headers of an answer say of limits: when to come back, and how much is left."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from pipeline.exact_json import write_json
from pipeline.probes.provider_errors import excerpt

_RATE_LIMIT = re.compile(r"(x-|anthropic-)?ratelimit-|x-tokenlimit-")


def retry_after_s(headers: dict[str, str], answered_at_utc: datetime | None) -> float | None:
    """Return the seconds to wait, from seconds or an HTTP date; None for anything else.

    A date counts from the answer's own ``Date``, so that the clocks need not agree.
    """
    value = headers.get("retry-after", "").strip()
    if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", value):
        return float(value)
    until = _http_date(value)
    answered = _http_date(headers.get("date", "")) or answered_at_utc
    if until is None or answered is None:
        return None
    return max(0.0, (until - answered).total_seconds())


def rate_limit_json(headers: dict[str, str]) -> str:
    """Return the rate headers as a JSON object, empty when there are none."""
    return write_json(
        {name: excerpt(value) for name, value in headers.items() if _RATE_LIMIT.match(name)},
        sort_keys=True,
    )


def _http_date(value: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(value)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
