"""The one HTTP session: identified, paced, patient with passing faults, strict with bodies."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Self

import requests
import urllib3

from pipeline.landing.records import Answer
from pipeline.settings import Settings
from pipeline.sources.faults import Fault, kept_headers, read_answer, root_cause
from pipeline.sources.pacing import Clock, Pace
from pipeline.sources.session import Upstream, new_session, openrouter

log = logging.getLogger("tokentape")

BACKOFF_S = 0.5
LONGEST_BACKOFF_S = 30.0
PIECE_BYTES = 1 << 16
REFUSALS = {401, 402, 403, 429}
REDACTED = "[key removed]"


class SourceError(Exception):
    """A request failed for good.

    ``reason`` is one line; ``status`` is that of the last answer, None when none came.
    """

    def __init__(self, request: str, reason: str, status: int | None = None) -> None:
        super().__init__(f"{request}: {reason}")
        self.request = request
        self.reason = reason
        self.status = status


class SourceUnreachable(SourceError):  # noqa: N818 - says what is the case
    """No answer came at all: no such host, no connection, or silence."""


class SourceRefused(SourceError):  # noqa: N818 - says what is the case
    """The source turns this client away: the key is refused, or too many requests came."""


class SourceMoved(SourceError):  # noqa: N818 - says what is the case
    """What was asked for is said to be at ``location``, as the answer has it; not followed."""

    def __init__(self, request: str, reason: str, status: int | None, location: str) -> None:
        super().__init__(request, reason, status)
        self.location = location


class HttpSource:
    """Asks below one base URL, from several threads at once; a context manager.

    Every complete answer goes to ``on_answer`` before anything reads its body. Connections, and
    with them the requests in flight, are at most those of ``upstream``, by default OpenRouter.
    """

    def __init__(
        self,
        settings: Settings,
        on_answer: Callable[[Answer], None],
        *,
        upstream: Upstream | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        clock: Clock | None = None,
    ) -> None:
        self._settings = settings
        self._on_answer = on_answer
        self._now = now
        self._clock = clock or Clock()
        self._stopped_by = ""
        self._upstream = upstream or openrouter(settings)
        self._pace = Pace(self._upstream.requests_per_s)
        self._key = self._upstream.key
        self._session = new_session(settings, self._upstream)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop("the source was closed")
        self._session.close()

    def stop(self, reason: str) -> None:
        """Let nothing new start: waiting requests fail, those in flight are not tried again."""
        self._stopped_by = reason
        self._clock.stop()

    def get(
        self,
        request: str,
        subject: str | None = None,
        check: Callable[[Any], None] | None = None,
    ) -> Any:
        """Return the JSON answer to ``request``, path and query below the base URL.

        ``check`` raises ``ValueError`` for JSON that is not what was asked for. Raises
        ``SourceError`` when no try did, and whatever ``on_answer`` raises.
        """
        attempt = 1
        while True:
            self._await_turn(request)
            try:
                answer = self._fetch(request, subject, attempt)
                self._on_answer(answer)
                return read_answer(answer, check, self._upstream)
            except Fault as fault:
                self._back_off(request, fault, attempt)
            attempt += 1

    def _await_turn(self, request: str) -> None:
        while True:
            now = self._clock.monotonic()
            silence = self._pace.pause_left(now)
            if silence > self._settings.max_retry_wait_s:
                raise SourceRefused(
                    request,
                    f"not asked: HTTP 429 before, and {silence:.0f} s left to wait, "
                    "more than TOKENTAPE_MAX_RETRY_WAIT_S",
                )
            if self._clock.wait(self._pace.reserve(now) - now):
                raise SourceError(request, f"not asked: {self._stopped_by}")
            if not self._pace.pause_left(self._clock.monotonic()):
                return

    def _fetch(self, request: str, subject: str | None, attempt: int) -> Answer:
        """Ask once; raises ``Fault`` unless a whole answer came, of whatever status."""
        settings = self._settings
        # A body may take a read timeout between any two bytes, so the whole is bounded as well.
        deadline = (
            self._clock.monotonic() + settings.connect_timeout_s + 2 * settings.read_timeout_s
        )
        try:
            response = self._session.get(
                self._upstream.base_url + request,
                stream=True,
                allow_redirects=False,
                timeout=(settings.connect_timeout_s, settings.read_timeout_s),
            )
        except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
            raise Fault(
                f"no answer from {self._upstream.base_url}: {root_cause(error)}",
                status=None,
                is_passing=True,
            ) from None
        with response:
            body = self._read_body(response, deadline)
        return Answer(
            request=request,
            subject=subject,
            attempt=attempt,
            status=response.status_code,
            arrived_at_utc=self._now(),
            headers=kept_headers(response.headers),
            body=body.replace(self._key.encode(), REDACTED.encode()) if self._key else body,
        )

    def _read_body(self, response: requests.Response, deadline: float) -> bytes:
        status = response.status_code
        pieces: list[bytes] = []
        left = self._settings.max_body_mib << 20
        try:
            # read1 returns what has come; read would sit out a slow drip until the piece is full.
            while piece := response.raw.read1(PIECE_BYTES, decode_content=True):
                pieces.append(piece)
                left -= len(piece)
                if left < 0:
                    limit = self._settings.max_body_mib
                    raise Fault(
                        f"the answer is larger than TOKENTAPE_MAX_BODY_MIB={limit}",
                        status=status,
                        is_passing=False,
                    )
                if self._clock.monotonic() > deadline:
                    raise Fault("the answer came too slowly", status=status, is_passing=True)
        except urllib3.exceptions.HTTPError as error:
            raise Fault(
                f"the answer broke off: {root_cause(error)}", status=status, is_passing=True
            ) from None
        return b"".join(pieces)

    def _back_off(self, request: str, fault: Fault, attempt: int) -> None:
        """Wait before the next try; raises ``SourceError`` when there is to be none."""
        asked = fault.asked_wait_s or 0.0
        if fault.status == 429:
            self._pace.pause_until(self._clock.monotonic() + asked)
        if not fault.is_passing or attempt > self._settings.max_retries:
            raise self._given_up(request, fault, attempt) from None
        if asked > self._settings.max_retry_wait_s:
            limit = f"TOKENTAPE_MAX_RETRY_WAIT_S={self._settings.max_retry_wait_s:g}"
            fault.reason += f"; it asks to wait {asked:.0f} s, more than {limit}"
            raise self._given_up(request, fault, attempt) from None
        longest = min(BACKOFF_S * 2 ** (attempt - 1), LONGEST_BACKOFF_S)
        delay = max(asked, random.uniform(0, longest))  # noqa: S311 - spreads retries, no secret
        log.info("%s: %s; next try in %.1f s", request, self._one_line(fault.reason), delay)
        if self._clock.wait(delay):
            raise self._given_up(request, fault, attempt) from None

    def _given_up(self, request: str, fault: Fault, attempt: int) -> SourceError:
        tries = "" if attempt == 1 else f" ({attempt} tries)"
        reason = self._one_line(fault.reason) + tries
        if fault.status is None:
            return SourceUnreachable(request, reason)
        if fault.location is not None:
            return SourceMoved(request, reason, fault.status, fault.location)
        if fault.status in REFUSALS:
            return SourceRefused(request, reason, fault.status)
        return SourceError(request, reason, fault.status)

    def _one_line(self, text: str) -> str:
        line = " ".join(text.split())
        return line.replace(self._key, REDACTED) if self._key else line
