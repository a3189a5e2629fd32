"""One pass over the market: the model list, the provider list, every model's endpoints."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from datetime import datetime
from typing import Any

from pipeline.landing import LandedSweep, Landing, RequestFailure, SweepWriter
from pipeline.progress import Progress
from pipeline.settings import Settings
from pipeline.sources.http import HttpSource, SourceError, SourceRefused, SourceUnreachable
from pipeline.sources.openrouter import (
    MODELS_REQUEST,
    PROVIDERS_REQUEST,
    check_endpoints,
    check_models,
    check_providers,
    endpoints_request,
    listed_models,
    next_page,
)

log = logging.getLogger("tokentape")

MOST_PAGES = 100
# So many failures in a row, each of which says that nothing can be had, end a sweep early.
HOPELESS_IN_A_ROW = 25
FAILURES_TOLD = 10

Asked = dict[Future[str | None], tuple[str, str | None]]


def land_sweep(
    settings: Settings, landing: Landing, *, now: Callable[[], datetime], progress: Progress
) -> LandedSweep:
    """Land one sweep and return it sealed; requests that gave up are its failures.

    Without the model list there is no sweep: its ``SourceError`` is raised, after the answers
    that came have been sealed. When none came, nothing is left behind. Any other exception, and
    Ctrl-C, leaves what landed to ``Landing.recover``.
    """
    with landing.begin(
        market=settings.market,
        base_url=settings.openrouter_url,
        is_authenticated=settings.openrouter_api_key is not None,
        started_at_utc=now(),
    ) as writer:
        try:
            with HttpSource(settings, writer.write, now=now) as source:
                _ask_for_everything(source, writer, settings.sweep_concurrency, progress)
        except SourceError as error:
            if writer.answers:
                writer.record_failure(RequestFailure(error.request, None, error.reason))
                writer.seal(now())
            else:
                writer.abandon()
            raise
        landed = writer.seal(now())
    _report(landed)
    return landed


def _ask_for_everything(
    source: HttpSource, writer: SweepWriter, workers: int, progress: Progress
) -> None:
    """Raise the ``SourceError`` of the model list; other requests that give up are recorded."""
    asker = _Asker(source)
    with ThreadPoolExecutor(workers, thread_name_prefix="sweep") as pool:
        try:
            # Beside the model list, for it costs a round trip that nothing else waits for.
            providers = pool.submit(asker.ask, PROVIDERS_REQUEST, None, check_providers)
            asked: Asked = {providers: (PROVIDERS_REQUEST, None)}
            for model_id in _standard_model_ids(source, writer):
                request = endpoints_request(model_id)
                future = pool.submit(asker.ask, request, model_id, check_endpoints(model_id))
                asked[future] = (request, model_id)
            with progress.counting(len(asked)):
                for future in as_completed(asked):
                    reason = future.result()
                    if reason is not None:
                        writer.record_failure(RequestFailure(*asked[future], reason))
                    progress.advance(has_failed=reason is not None)
        except BaseException:
            source.stop("the sweep was broken off")
            pool.shutdown(wait=False, cancel_futures=True)
            raise


class _Asker:
    """Asks from several threads, and gives all up when nothing more can be had."""

    def __init__(self, source: HttpSource) -> None:
        self._source = source
        self._lock = threading.Lock()
        self._hopeless_in_a_row = 0

    def ask(self, request: str, subject: str | None, check: Callable[[Any], None]) -> str | None:
        """Return why the request gave up, or None; the answer itself is in landing."""
        try:
            self._source.get(request, subject, check)
        except SourceError as error:
            self._count(is_hopeless=isinstance(error, SourceUnreachable | SourceRefused))
            return error.reason
        self._count(is_hopeless=False)
        return None

    def _count(self, *, is_hopeless: bool) -> None:
        with self._lock:
            self._hopeless_in_a_row = self._hopeless_in_a_row + 1 if is_hopeless else 0
            if self._hopeless_in_a_row == HOPELESS_IN_A_ROW:
                self._source.stop(f"{HOPELESS_IN_A_ROW} requests in a row had failed")


def _standard_model_ids(source: HttpSource, writer: SweepWriter) -> list[str]:
    """Read the model list page by page; a later page that cannot be had is a failure like others.

    Whoever reads the landed pages sees that one is missing, so the list is not taken for whole.
    """
    page = source.get(MODELS_REQUEST, check=check_models)
    model_ids = _standard_ids_on(page)
    asked = {MODELS_REQUEST}
    while (request := next_page(page)) is not None:
        if request in asked or len(asked) == MOST_PAGES:
            log.warning("%s: links.next does not end after %d pages", request, len(asked))
            break
        asked.add(request)
        try:
            page = source.get(request, check=check_models)
        except SourceError as error:
            writer.record_failure(RequestFailure(request, None, error.reason))
            break
        model_ids |= _standard_ids_on(page)
    return list(model_ids)


def _standard_ids_on(page: Any) -> dict[str, None]:
    return {model.model_id: None for model in listed_models(page) if model.kind == "standard"}


def _report(landed: LandedSweep) -> None:
    manifest = landed.manifest
    log.info("sweep %s: %d answers landed", manifest.sweep_id, manifest.answers)
    for failure in manifest.failures[:FAILURES_TOLD]:
        log.warning("sweep %s: %s: %s", manifest.sweep_id, failure.request, failure.reason)
    if len(manifest.failures) > FAILURES_TOLD:
        log.warning("sweep %s: %d requests failed", manifest.sweep_id, len(manifest.failures))
