"""The deterministic market: what the sandbox answers, as a pure function of seed and instant."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from pipeline.sandbox.answers import Offer, architecture, endpoint_row, model_row, provider_row
from pipeline.sandbox.catalogue import EndpointPlan, ModelPlan, load_catalogue
from pipeline.sandbox.dice import Dice
from pipeline.sandbox.health import Health, health, latency_ms, tokens_per_s
from pipeline.sandbox.quotes import quote
from pipeline.sandbox.story import NO_CHAPTER, load_story

DEFAULT_SEED = 20
DEFAULT_ANCHOR = date(2026, 11, 30)


class Market:
    """A made-up market of some sixty models with 90 told days behind ``anchor``.

    The story (``data/story.yaml``) is placed relative to ``anchor``, the day on which the market
    stands as ``data/models.yaml`` says. Moving prices and chance outages hang on the calendar
    instead, so they go on for ever, before and after. The same seed, anchor and instant give the
    same answers in any order of calls.
    """

    kind = "demo"

    def __init__(self, seed: int = DEFAULT_SEED, anchor: date = DEFAULT_ANCHOR) -> None:
        self.seed = seed
        self.anchor = anchor
        self._dice = Dice(seed)
        self._catalogue = load_catalogue()
        self._story = load_story()
        self._midnight = datetime.combine(anchor, time(), UTC)

    def models(self, at: datetime) -> list[dict[str, Any]]:
        """Return the rows of ``/models``, newest model first."""
        at = at.astimezone(UTC)
        rows = [self._model_row(plan, at) for plan in self._catalogue.models.values()]
        listed = [row for row in rows if row is not None]
        return sorted(listed, key=lambda row: (-row["created"], row["id"]))

    def endpoints(
        self, model_id: str, at: datetime, *, is_authenticated: bool = False
    ) -> dict[str, Any] | None:
        """Return ``data`` of ``/models/{id}/endpoints``; None when no such model is listed.

        Latency, throughput and workloads are there only for callers with a key.
        """
        at = at.astimezone(UTC)
        day = self._day(at)
        plan = self._catalogue.models.get(model_id)
        model = plan and self._story.model_at(plan, day)
        if model is None:
            return None
        rows = []
        for offer in self._offers(model, at):
            state = health(offer.plan, at, day, self._dice, self._story.outages)
            row = endpoint_row(model, offer, state, self._dice)
            if is_authenticated:
                row |= self._performance(offer.plan, model.active_b, state, at)
            rows.append(row)
        return {
            "id": model.id,
            "name": model.name,
            "created": int(self._created(model).timestamp()),
            "description": model.about,
            "architecture": architecture(model),
            "endpoints": rows,
        }

    def providers(self, at: datetime) -> list[dict[str, Any]]:
        """Return the rows of ``/providers``."""
        day = self._day(at)
        return [
            provider_row(provider, self._dice)
            for provider in self._catalogue.providers.values()
            if self._story.providers.get(provider.slug, NO_CHAPTER).is_listed(day)
        ]

    def _day(self, at: datetime) -> float:
        return (at - self._midnight) / timedelta(days=1)

    def _model_row(self, plan: ModelPlan, at: datetime) -> dict[str, Any] | None:
        model = self._story.model_at(plan, self._day(at))
        if model is None:
            return None
        target = self._catalogue.models[model.alias_of] if model.alias_of else None
        offers = self._offers(target or model, at)
        return model_row(model, offers, self._created(model), self.anchor, target)

    def _created(self, model: ModelPlan) -> datetime:
        listed_since = self._story.models.get(model.id, NO_CHAPTER).first_day
        if listed_since is not None:
            return self._midnight + timedelta(days=listed_since)
        return datetime.combine(model.created, time(), UTC)

    def _offers(self, model: ModelPlan, at: datetime) -> list[Offer]:
        """Return what is on offer for a model, in the order of the list."""
        day = self._day(at)
        offers = []
        for plan in model.endpoints:
            listed = self._story.endpoint_at(plan, day)
            if listed is None or self._is_away(plan, at):
                continue
            moves = not (plan.steady or self._story.tells_prices_of(plan))
            offers.append(Offer(listed, quote(listed, at, self._dice, moves=moves)))
        return sorted(offers, key=lambda offer: offer.rank)

    def _is_away(self, plan: EndpointPlan, at: datetime) -> bool:
        """Return whether a flaky provider has taken the endpoint off its list for now."""
        if plan.provider.temper != "flaky" or plan.steady:
            return False
        third_of_day = int(at.timestamp() // 28_800)
        return self._dice.unit(plan.key, "away", third_of_day) < 0.06

    def _performance(
        self, plan: EndpointPlan, active_b: float, state: Health, at: datetime
    ) -> dict[str, Any]:
        if state.requests_30m < 5:
            return {}
        latency = latency_ms(plan, active_b, state, at, self._dice)
        throughput = tokens_per_s(plan, active_b, state, at, self._dice)
        values: dict[str, Any] = {"latency_last_30m": latency, "throughput_last_30m": throughput}
        if self._dice.unit(plan.provider.slug, "workloads") < 0.5:
            values["perf_last_30m_by_workload"] = {
                "text_generation": {
                    "latency": latency,
                    "throughput": throughput,
                    "request_count": state.requests_30m,
                }
            }
        return values
