"""What makes a try a fault, and whether another try may do better. Pure but for the wall clock."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from urllib3.exceptions import InvalidHeader
from urllib3.util.retry import Retry

from pipeline.exact_json import NotJson, read_json
from pipeline.landing.records import Answer
from pipeline.sources.session import Upstream

_KEPT_HEADERS = {
    "content-type",
    "content-encoding",
    "retry-after",
    "date",
    "cf-ray",
    "location",
    "x-error-code",  # of Hugging Face: tells a gated repository from an absent one
}
_WRAPPERS = ("requests.", "urllib3.")
_PASSING = {408, 425, 429}
_MEANINGS = {
    401: "a key is wanted: set {key_setting}",
    402: "the account of the key has no credit left",
    403: "access is denied",
    404: "nothing is there: check {url_setting}",
    429: "too many requests",
    524: "the source took too long behind its edge",
}


class LastingError(ValueError):
    """Raised by a check: not what was asked for, and asking again will not mend it."""


class Fault(Exception):  # noqa: N818 - not yet an error: another try may do
    """One try failed.

    ``status`` is None when no answer came, ``is_passing`` says that another try may do better,
    ``asked_wait_s`` is what the answer asked for before that, ``location`` where it points to.
    """

    def __init__(
        self,
        reason: str,
        *,
        status: int | None,
        is_passing: bool,
        asked_wait_s: float | None = None,
        location: str | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.status = status
        self.is_passing = is_passing
        self.asked_wait_s = asked_wait_s
        self.location = location


def read_answer(answer: Answer, check: Callable[[Any], None] | None, upstream: Upstream) -> Any:
    """Return the JSON of ``answer``; raises ``Fault`` unless it is a 200 that ``check`` takes.

    ``check`` raises ``ValueError`` for JSON that is not what was asked for.
    """
    status = answer.status
    if status != 200:
        raise Fault(
            _meaning(answer, upstream) + _words_of_source(answer.body),
            status=status,
            is_passing=status in _PASSING or status >= 500,
            asked_wait_s=_asked_wait_s(answer.headers.get("retry-after")),
            location=answer.headers.get("location") if 300 <= status < 400 else None,
        )
    try:
        payload = read_json(answer.body)
        if check is not None:
            check(payload)
    except ValueError as error:
        raise Fault(
            f"unusable answer: {error}",
            status=status,
            is_passing=not isinstance(error, LastingError),
        ) from None
    return payload


def kept_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers worth keeping, names in lower case; never cookies or credentials."""
    lowered = {name.lower(): value for name, value in headers.items()}
    return {
        name: value
        for name, value in lowered.items()
        if name in _KEPT_HEADERS or name.startswith("x-ratelimit-")
    }


def root_cause(error: BaseException) -> str:
    """Return in a few words what the HTTP libraries wrapped."""
    while error.__context__ is not None and type(error).__module__.startswith(_WRAPPERS):
        error = error.__context__
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__


def _meaning(answer: Answer, upstream: Upstream) -> str:
    status = answer.status
    if 300 <= status < 400:
        meaning = f"redirects are not followed: check {upstream.url_setting}"
    elif status == 401 and upstream.key is not None:
        meaning = f"the key is refused: correct {upstream.key_setting}, or unset it"
    elif status == 404 and answer.subject is not None:
        meaning = "the model is gone"
    else:
        meaning = _MEANINGS.get(status, "").format_map(vars(upstream))
    return f"HTTP {status}" + (f", {meaning}" if meaning else "")


def _words_of_source(body: bytes) -> str:
    try:
        payload = read_json(body)
    except NotJson:
        return ""
    error = payload.get("error") if isinstance(payload, dict) else None
    message = error.get("message") if isinstance(error, dict) else error
    return f" ({message[:200]})" if isinstance(message, str) and message else ""


def _asked_wait_s(retry_after: str | None) -> float | None:
    """Read a Retry-After header, seconds or an HTTP date; None when absent or meaningless."""
    if retry_after is None:
        return None
    try:
        return float(Retry().parse_retry_after(retry_after))
    except (InvalidHeader, ValueError, OverflowError):
        return None
