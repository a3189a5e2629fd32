"""One landed pull of model cards to typed, contracted frames; pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import polars as pl

from pipeline.contracts.model_cards import MODEL_CARDS as CONTRACT
from pipeline.facts.card_rows import NO_FACTS, RepositoryAnswers, read_card
from pipeline.landing import Answer, SweepManifest
from pipeline.raw_tables import CARD_PULLS, MODEL_CARDS, frame_of

_CARD_PATH = "/api/models/"


@dataclass(frozen=True)
class CardFrames:
    """A pull as frames with exactly the columns and types of the raw tables; ``pull`` is a row."""

    pull: pl.DataFrame
    cards: pl.DataFrame


def read_pull(manifest: SweepManifest, answers: Iterable[Answer]) -> CardFrames:
    """Read a pull's ``answers``, in their order of arrival: one row a repository asked for.

    A row that breaks the contract keeps its repository only, as failed, with the reason.
    """
    asked: dict[str, RepositoryAnswers] = {}
    arrived: dict[str, datetime] = {}
    for answer in answers:
        if answer.subject is None:
            continue
        of_repository = asked.setdefault(answer.subject, RepositoryAnswers())
        if answer.request.startswith(_CARD_PATH):
            of_repository.card = answer
        else:
            of_repository.config = answer
        arrived[answer.subject] = answer.arrived_at_utc
    for failure in manifest.failures:
        if failure.subject is not None:
            of_repository = asked.setdefault(failure.subject, RepositoryAnswers())
            of_repository.failures[failure.request] = failure.reason
    of_pull = {"pull_id": manifest.sweep_id, "partition_date": manifest.partition_date}
    rows = [
        {
            **of_pull,
            "observed_at_utc": arrived.get(repository, manifest.finished_at_utc),
            **_row(repository, found),
        }
        for repository, found in asked.items()
    ]
    cards = _contracted(rows)
    pull = {
        **of_pull,
        "started_at_utc": manifest.started_at_utc,
        "finished_at_utc": manifest.finished_at_utc,
        "market": manifest.market,
        "base_url": manifest.base_url,
        "is_authenticated": manifest.is_authenticated,
        "is_interrupted": manifest.is_interrupted,
        "asked": cards.height,
        "answered": cards.filter(outcome="answered").height,
        "landing_sha256": manifest.answers_sha256,
    }
    return CardFrames(frame_of([pull], CARD_PULLS), cards)


def _row(repository: str, found: RepositoryAnswers) -> dict[str, Any]:
    row = read_card(repository, found)
    if row["outcome"] == "failed" and found.failures:
        # A request that gave up knows all of its tries, so its reason is the better one.
        row["reason"] = next(iter(found.failures.values()))
    return row


def _contracted(rows: list[dict[str, Any]]) -> pl.DataFrame:
    verdict = CONTRACT.enforce(frame_of(rows, MODEL_CARDS))
    for finding in verdict.refused:
        rows[finding.position] |= {
            **NO_FACTS,
            "outcome": "failed",
            "reason": f"{finding.rule}: {finding.detail}",
        }
    return frame_of(rows, MODEL_CARDS) if verdict.refused else verdict.accepted
