"""What a sweep covers: which models are listed, were asked for, and answered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from pipeline.landing import SweepManifest
from pipeline.market.answers import ChosenAnswers
from pipeline.sources.openrouter import ListedModel, listed_models

Row = dict[str, Any]


def coverage_rows(manifest: SweepManifest, chosen: ChosenAnswers) -> list[Row]:
    """Return a row of ``raw.model_coverage`` per listed model with a usable id, in list order."""
    listed: dict[str, ListedModel] = {}
    for page in chosen.model_pages.values():
        for model in listed_models(page.payload):
            listed.setdefault(model.model_id, model)
    return [_coverage_row(manifest, chosen, model) for model in listed.values()]


def sweep_row(
    manifest: SweepManifest, coverage: Sequence[Row], *, has_whole_model_list: bool
) -> Row:
    """Return the part of the row of ``raw.sweeps`` that manifest and coverage give.

    ``complete`` is a sweep in which every listed standard model answered, ``failed`` one without
    a model list, ``partial`` any other.
    """
    outcomes = Counter(row["outcome"] for row in coverage)
    status = "complete" if has_whole_model_list and not outcomes["failed"] else "partial"
    return {
        "sweep_id": manifest.sweep_id,
        "partition_date": manifest.partition_date,
        "started_at_utc": manifest.started_at_utc,
        "finished_at_utc": manifest.finished_at_utc,
        "market": manifest.market,
        "base_url": manifest.base_url,
        "is_authenticated": manifest.is_authenticated,
        "is_interrupted": manifest.is_interrupted,
        "status": status if coverage else "failed",
        "has_whole_model_list": has_whole_model_list,
        "models_listed": len(coverage),
        "models_expected": outcomes["answered"] + outcomes["failed"],
        "models_answered": outcomes["answered"],
    }


def _coverage_row(manifest: SweepManifest, chosen: ChosenAnswers, model: ListedModel) -> Row:
    answer = chosen.endpoints.get(model.model_id)
    observed_at_utc = manifest.finished_at_utc
    reason: str | None
    if model.kind != "standard":
        outcome, reason = "not_asked", f"{model.kind}: has no endpoints of its own"
    elif answer is None:
        outcome = "failed"
        reason = chosen.problems.get(model.model_id, "no answer in the sweep")
    else:
        outcome, reason, observed_at_utc = "answered", None, answer.arrived_at_utc
    return {
        "sweep_id": manifest.sweep_id,
        "partition_date": manifest.partition_date,
        "model_id": model.model_id,
        "kind": model.kind,
        "outcome": outcome,
        "reason": reason,
        "observed_at_utc": observed_at_utc,
    }
