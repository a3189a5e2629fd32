"""Which of a sweep's landed answers count: of each request the last one that passes its check."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pipeline.exact_json import NotJson, read_json
from pipeline.landing import Answer, SweepManifest
from pipeline.sources.openrouter import (
    MODELS_REQUEST,
    PROVIDERS_REQUEST,
    WrongShape,
    check_endpoints,
    check_models,
    check_providers,
    next_page,
)


@dataclass(frozen=True)
class SoundAnswer:
    """An answer that passed its check, parsed."""

    payload: Any
    arrived_at_utc: datetime


@dataclass
class ChosenAnswers:
    """A sweep's answers that count.

    ``model_pages`` are in the order asked; ``endpoints`` by the model id asked for. ``problems``
    says in one line, by model id, why a model without a sound answer has none.
    """

    model_pages: dict[str, SoundAnswer] = field(default_factory=dict)
    has_whole_model_list: bool = False
    endpoints: dict[str, SoundAnswer] = field(default_factory=dict)
    providers: SoundAnswer | None = None
    problems: dict[str, str] = field(default_factory=dict)


def choose_answers(manifest: SweepManifest, answers: Iterable[Answer]) -> ChosenAnswers:
    """Parse and check ``answers`` (in order of arrival) and keep what counts."""
    chosen = ChosenAnswers()
    asked_pages: set[str] = set()
    for answer in answers:
        if answer.subject is not None:
            sound, problem = _judge(answer, check_endpoints(answer.subject))
            if sound is not None:
                chosen.endpoints[answer.subject] = sound
            else:
                chosen.problems[answer.subject] = problem
        elif answer.request.partition("?")[0] == MODELS_REQUEST:
            asked_pages.add(answer.request)
            sound, _ = _judge(answer, check_models)
            if sound is not None:
                chosen.model_pages[answer.request] = sound
        elif answer.request.partition("?")[0] == PROVIDERS_REQUEST:
            sound, _ = _judge(answer, check_providers)
            chosen.providers = sound or chosen.providers
    # A request that gave up knows all of its tries, so its reason is the better one.
    chosen.problems |= {
        failure.subject: failure.reason
        for failure in manifest.failures
        if failure.subject is not None
    }
    following = {next_page(page.payload) for page in chosen.model_pages.values()} - {None}
    chosen.has_whole_model_list = (
        bool(chosen.model_pages) and asked_pages | following == chosen.model_pages.keys()
    )
    return chosen


def _judge(answer: Answer, check: Callable[[Any], None]) -> tuple[SoundAnswer | None, str]:
    if answer.status != 200:
        return None, f"HTTP {answer.status}"
    try:
        payload = read_json(answer.body)
        check(payload)
    except (NotJson, WrongShape) as error:
        return None, str(error)
    return SoundAnswer(payload, answer.arrived_at_utc), ""
