"""The steps of model cards, usable without Dagster: which are due, land them, load them."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from pipeline.landing import Answer, CorruptLandingError, LandedSweep, Landing
from pipeline.landing.model_cards import CardLanding
from pipeline.loading import (
    Loaded,
    LoadReport,
    NothingLandedError,
    load_new,
    refuse_other_market,
)
from pipeline.progress import Progress
from pipeline.settings import Settings
from pipeline.sources.huggingface import is_repository, land_cards
from pipeline.steps import Clock, utc_now
from pipeline.warehouse import Warehouse, open_warehouse

if TYPE_CHECKING:
    from pipeline.facts.card_pulls import CardFrames

PULLS_PER_HOLD = 20


def due_repositories(settings: Settings, now: datetime) -> list[str]:
    """Return the repositories whose cards are to be asked for, at most those of one run.

    They are those of the models that the newest landed sweep lists, without those that answered
    within ``model_card_days``, be it that they are gated or absent. Raises ``NothingLandedError``
    when there is no sweep yet, and ``OtherMarketError``.
    """
    landing = Landing(settings.landing_dir)
    sweep = landing.newest()
    if sweep is None:
        raise NothingLandedError(
            f"no model is known yet ({settings.landing_dir} holds no sweep); run `tokentape sync`"
        )
    refuse_other_market(settings, [sweep], "sweep")
    answered = _answered_since(settings, now - timedelta(days=settings.model_card_days))
    listed = _listed_repositories(sweep, landing.answers(sweep))
    due = [repository for repository in listed if repository not in answered]
    return due[: settings.model_cards_per_run]


def land_due_cards(settings: Settings, now: Clock, progress: Progress) -> LandedSweep | None:
    """Land the cards that are due; None, and nothing is asked, when none are.

    Raises ``SourceUnreachable`` when no answer came at all, ``NothingLandedError`` and
    ``OtherMarketError``.
    """
    repositories = due_repositories(settings, now())
    if not repositories:
        return None
    landing = CardLanding(settings.landing_dir)
    return land_cards(settings, landing, repositories, now=now, progress=progress)


def load_landed_cards(settings: Settings) -> LoadReport:
    """Bring all landed pulls into the warehouse, and the facts kept by hand.

    A pull that is in already is left alone; a damaged one is reported and left out. Raises
    ``OtherMarketError``, ``HandKeptError`` and the warehouse's own errors.
    """
    # polars and the contracts take a second to import, and Dagster imports this module to draw its
    # graph.
    from pipeline.facts.card_pulls import read_pull  # noqa: PLC0415
    from pipeline.facts.hand_kept import read_hand_kept  # noqa: PLC0415

    landing = CardLanding(settings.landing_dir)
    landing.recover(utc_now())
    problems: list[str] = []
    pulls = landing.sweeps(on_corrupt=lambda error: problems.append(str(error)))
    refuse_other_market(settings, pulls, "pull of model cards")
    with open_warehouse(settings) as warehouse:
        warehouse.keep_facts(read_hand_kept())
    report = load_new(
        settings,
        pulls,
        per_hold=PULLS_PER_HOLD,
        ids_in=Warehouse.loaded_pull_ids,
        read=lambda pull: read_pull(pull.manifest, landing.answers(pull)),
        bring_in=_bring_in,
    )
    return replace(report, problems=(*problems, *report.problems))


def _bring_in(warehouse: Warehouse, frames: CardFrames) -> Loaded | None:
    if not warehouse.load_cards(frames):
        return None
    pull = frames.pull.row(0, named=True)
    return Loaded(pull["pull_id"], rows=frames.cards.height, quarantined=0)


def _listed_repositories(sweep: LandedSweep, answers: Iterable[Answer]) -> list[str]:
    """Return the repositories that the models of a sweep name, in order, none twice."""
    from pipeline.market.answers import choose_answers  # noqa: PLC0415 - see above

    lists = (answer for answer in answers if answer.subject is None)
    pages = choose_answers(sweep.manifest, lists).model_pages.values()
    named = {
        entry.get("hugging_face_id")
        for page in pages
        for entry in page.payload["data"]
        if isinstance(entry, dict)
    }
    return sorted(name for name in named if isinstance(name, str) and is_repository(name))


def _answered_since(settings: Settings, since: datetime) -> set[str]:
    """Return the repositories about which the hub has said something lasting since then."""
    landing = CardLanding(settings.landing_dir)
    found: set[str] = set()
    for pull in landing.sweeps(since.date(), on_corrupt=lambda _: None):
        if pull.manifest.started_at_utc < since:
            continue
        # A damaged pull is as good as none; loading tells of it.
        with suppress(CorruptLandingError):
            found |= {
                answer.subject
                for answer in landing.answers(pull)
                if answer.subject and answer.status != 429 and answer.status < 500
            }
    return found
