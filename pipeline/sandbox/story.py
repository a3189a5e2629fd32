"""What was otherwise before the anchor day: ``data/story.yaml`` applied to the plans."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any, TypeVar

from pipeline.sandbox.catalogue import EndpointPlan, ModelPlan, decimal_or_none, read_data

Plan = TypeVar("Plan", EndpointPlan, ModelPlan)
_PRICES = {"input", "output", "cache_read", "cache_write", "discount"}


@dataclass(frozen=True)
class Outage:
    """A stretch in which a share of the requests fails; days count from the anchor's midnight."""

    owner: str  # slug of a provider, or key of an endpoint
    from_day: float
    until_day: float
    severity: float


@dataclass(frozen=True)
class Chapter:
    """When one model or endpoint is listed, and what it was like earlier."""

    first_day: float | None
    last_day: float | None
    gaps: tuple[tuple[float, float], ...]
    before: tuple[tuple[float, dict[str, Any]], ...]  # youngest first

    def is_listed(self, day: float) -> bool:
        """Return whether it is on the market at ``day`` (relative to the anchor)."""
        if self.first_day is not None and day < self.first_day:
            return False
        if self.last_day is not None and day >= self.last_day:
            return False
        return not any(start <= day < end for start, end in self.gaps)


NO_CHAPTER = Chapter(None, None, (), ())


@dataclass(frozen=True)
class Story:
    """All chapters, by model id, endpoint key and provider slug."""

    models: dict[str, Chapter]
    endpoints: dict[str, Chapter]
    providers: dict[str, Chapter]
    outages: tuple[Outage, ...]

    def model_at(self, plan: ModelPlan, day: float) -> ModelPlan | None:
        """Return the model as it was at ``day``; None when it is not listed."""
        return _at(plan, self.models.get(plan.id, NO_CHAPTER), day)

    def endpoint_at(self, plan: EndpointPlan, day: float) -> EndpointPlan | None:
        """Return the endpoint as it was at ``day``; None when it is not listed."""
        if not self.providers.get(plan.provider.slug, NO_CHAPTER).is_listed(day):
            return None
        return _at(plan, self.endpoints.get(plan.key, NO_CHAPTER), day)

    def tells_prices_of(self, plan: EndpointPlan) -> bool:
        """Return whether the story sets this endpoint's prices, so that chance must not."""
        chapter = self.endpoints.get(plan.key, NO_CHAPTER)
        return any(_PRICES & changes.keys() for _, changes in chapter.before)


@cache
def load_story() -> Story:
    """Read the story that comes with the package."""
    data = read_data("story.yaml")
    return Story(
        models={key: _chapter(row) for key, row in data["models"].items()},
        endpoints={key: _chapter(row) for key, row in data["endpoints"].items()},
        providers={key: _chapter(row) for key, row in data["providers"].items()},
        outages=tuple(
            Outage(
                owner=row.get("provider") or row["endpoint"],
                from_day=row["from"],
                until_day=row["from"] + row["hours"] / 24,
                severity=row["severity"],
            )
            for row in data["outages"]
        ),
    )


def _chapter(row: dict[str, Any]) -> Chapter:
    before = [
        (
            float(day),
            {
                field: decimal_or_none(value) if field in _PRICES else value
                for field, value in changes.items()
            },
        )
        for day, changes in row.get("before", {}).items()
    ]
    return Chapter(
        first_day=row.get("from"),
        last_day=row.get("until"),
        gaps=tuple((start, end) for start, end in row.get("gaps", ())),
        before=tuple(sorted(before, key=lambda entry: -entry[0])),
    )


def _at(plan: Plan, chapter: Chapter, day: float) -> Plan | None:
    if not chapter.is_listed(day):
        return None
    for until, changes in chapter.before:
        if day < until:
            plan = replace(plan, **changes)
    return plan
