"""Cards of models with open weights: one pull of what Hugging Face says of their repositories."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import urljoin

from pipeline.landing import LandedSweep, Landing, RequestFailure, SweepWriter
from pipeline.progress import Progress
from pipeline.settings import Settings
from pipeline.sources.faults import LastingError
from pipeline.sources.http import HttpSource, SourceError, SourceMoved, SourceUnreachable
from pipeline.sources.session import Upstream, key_of

log = logging.getLogger("tokentape")

# Ids go into URLs, so a segment of dots only is refused besides odd characters.
_SEGMENT = r"(?!\.+(?:/|$))[A-Za-z0-9._-]{1,96}"
_REPOSITORY = re.compile(rf"{_SEGMENT}/{_SEGMENT}")
# Statuses by which the hub speaks of one repository, not of us: gated, private, absent.
_OF_THE_REPOSITORY = {401, 403, 404, 410, 451}
# A repository may have been renamed, and a file lies behind a second address.
MOST_HOPS = 3
# So many failures in a row, each of which says that nothing can be had, end a pull early.
HOPELESS_IN_A_ROW = 5


def huggingface(settings: Settings) -> Upstream:
    """Return Hugging Face as an upstream."""
    return Upstream(
        base_url=settings.huggingface_url,
        url_setting="TOKENTAPE_HUGGINGFACE_URL",
        key=key_of(settings.huggingface_token),
        key_setting="HF_TOKEN",
        requests_per_s=settings.huggingface_requests_per_s,
        connections=1,
    )


def is_repository(text: str) -> bool:
    """Say whether ``text`` is the id of a repository, which can go into a URL."""
    return _REPOSITORY.fullmatch(text) is not None


def card_request(repository: str) -> str:
    """Return the path of what the hub knows of a repository, sizes of its files included."""
    return f"/api/models/{repository}?blobs=true"


def config_request(repository: str) -> str:
    """Return the path of a model's ``config.json``."""
    return f"/{repository}/resolve/main/config.json"


def land_cards(
    settings: Settings,
    landing: Landing,
    repositories: Sequence[str],
    *,
    now: Callable[[], datetime],
    progress: Progress,
) -> LandedSweep:
    """Land one pull of the cards of ``repositories`` and return it sealed.

    A repository that is gated, absent or answers with nonsense is a failure of the pull, like a
    file it does not have. When the hub can no longer be asked, the rest is left to the next pull.
    Raises ``SourceUnreachable`` when no answer came at all; nothing is left behind then.
    """
    upstream = huggingface(settings)
    with landing.begin(
        market=settings.market,
        base_url=upstream.base_url,
        is_authenticated=upstream.key is not None,
        started_at_utc=now(),
    ) as writer:
        with (
            HttpSource(settings, writer.write, upstream=upstream, now=now) as source,
            progress.counting(len(repositories)),
        ):
            given_up = _Asker(source, upstream, writer).ask_for_all(repositories, progress)
        if writer.answers == 0 and given_up is not None:
            writer.abandon()
            raise given_up
        return writer.seal(now())


class _Asker:
    """Asks for one repository after the other, and gives up when nothing more can be had."""

    def __init__(self, source: HttpSource, upstream: Upstream, writer: SweepWriter) -> None:
        self._source = source
        self._upstream = upstream
        self._writer = writer
        self._hopeless_in_a_row = 0

    def ask_for_all(
        self, repositories: Sequence[str], progress: Progress
    ) -> SourceUnreachable | None:
        """Ask for every repository; return why none could be reached, None when some could."""
        unreachable: SourceUnreachable | None = None
        for position, repository in enumerate(repositories):
            error = self._ask(card_request(repository), repository, _check_card)
            if error is None:
                self._ask(config_request(repository), repository, _check_object)
            if isinstance(error, SourceUnreachable):
                unreachable = error
            progress.advance(has_failed=error is not None)
            if self._hopeless_in_a_row >= HOPELESS_IN_A_ROW:
                left = len(repositories) - position - 1
                log.warning("model cards: given up after %s; %d not asked", error, left)
                break
        return unreachable

    def _ask(
        self, request: str, repository: str, check: Callable[[Any], None]
    ) -> SourceError | None:
        """Ask, following the hub's own directions; a request that gave up is put on record."""
        error: SourceError | None = None
        for _ in range(MOST_HOPS):
            try:
                self._source.get(request, repository, check)
            except SourceMoved as moved:
                error = moved
                following = self._below_base(request, moved.location)
                if following is None:
                    break
                request = following
            except SourceError as failed:
                error = failed
                break
            else:
                self._hopeless_in_a_row = 0
                return None
        assert error is not None  # noqa: S101 - every way here sets it
        self._writer.record_failure(RequestFailure(request, repository, error.reason))
        is_about_us = error.status is None or error.status == 429
        self._hopeless_in_a_row = self._hopeless_in_a_row + 1 if is_about_us else 0
        if not is_about_us and error.status not in _OF_THE_REPOSITORY:
            log.warning("model card of %s: %s", repository, error.reason)
        return error

    def _below_base(self, request: str, location: str) -> str | None:
        """Return what to ask for next, None for an address of another host."""
        base = self._upstream.base_url
        target = urljoin(base + request, location)
        return target.removeprefix(base) if target.startswith(f"{base}/") else None


def _check_object(payload: Any) -> None:
    if not isinstance(payload, dict):
        raise LastingError("the answer is not an object")


def _check_card(payload: Any) -> None:
    _check_object(payload)
    if not isinstance(payload.get("id"), str):
        raise LastingError("the answer names no repository")
