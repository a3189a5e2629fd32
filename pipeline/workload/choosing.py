"""Who serves a model best for some needs: ranked, with what speaks for and against each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.workload.evidence import Candidate, Source
from pipeline.workload.presets import Order
from pipeline.workload.verdicts import Needs, Outcome, Verdict, judge


@dataclass(frozen=True)
class Judged:
    """A candidate and the verdicts on it."""

    candidate: Candidate
    verdicts: tuple[Verdict, ...]

    @property
    def outcome(self) -> Outcome:
        """Missed with one miss, open with anything open, else met."""
        outcomes = {verdict.outcome for verdict in self.verdicts}
        if "missed" in outcomes:
            return "missed"
        return "open" if "open" in outcomes else "met"

    def of(self, outcome: Outcome) -> list[Verdict]:
        """Return its verdicts of one outcome."""
        return [verdict for verdict in self.verdicts if verdict.outcome == outcome]


@dataclass(frozen=True)
class Choice:
    """All candidates: those that meet everything, those not known to, and those that do not.

    Each list is ranked, best first.
    """

    met: tuple[Judged, ...]
    open: tuple[Judged, ...]
    missed: tuple[Judged, ...]

    @property
    def missed_counts(self) -> dict[str, int]:
        """How many were ruled out by each criterion, most first; one can miss several."""
        counted = Counter(
            criterion
            for judged in self.missed
            for criterion in {verdict.criterion for verdict in judged.of("missed")}
        )
        return dict(sorted(counted.items(), key=lambda item: (-item[1], item[0])))


def choose(candidates: Sequence[Candidate], needs: Needs, order: Order, source: Source) -> Choice:
    """Judge and rank ``candidates``.

    Latencies of two sources never rank against each other: those without a figure from
    ``source`` follow those with one.
    """
    judged = [Judged(candidate, tuple(judge(candidate, needs))) for candidate in candidates]
    judged.sort(key=lambda item: _rank(item.candidate, needs, order, source))
    met, opened, missed = (
        tuple(item for item in judged if item.outcome == outcome)
        for outcome in ("met", "open", "missed")
    )
    return Choice(met, opened, missed)


def latency_ms(candidate: Candidate, needs: Needs, order: Order, source: Source) -> float | None:
    """Return the latency that a shape is about: of a whole answer, or of the first token."""
    speed = candidate.speed(source)
    if speed is None:
        return None
    return speed.answer_ms(needs.workload.output_tokens) if order == "answer" else speed.ttft_p50_ms


def best_source(candidates: Sequence[Candidate]) -> Source:
    """Return whose latencies to rank by: ours where we have measured some, else OpenRouter's."""
    return "ours" if any(candidate.ours for candidate in candidates) else "openrouter"


def _rank(
    candidate: Candidate, needs: Needs, order: Order, source: Source
) -> tuple[tuple[bool, float], tuple[bool, float], int]:
    usd = candidate.quote.month.usd
    cost = (usd is None, float(usd or 0))
    latency = latency_ms(candidate, needs, order, source)
    speed = (latency is None, latency or 0.0)
    first, second = (cost, speed) if order == "cost" else (speed, cost)
    return first, second, candidate.record["default_rank"]


def frontier(points: Sequence[tuple[float, float]]) -> list[int]:
    """Return which points no other one beats, by index, in order of the first number.

    Less is better for both; of equal points all are kept.
    """
    order = sorted(range(len(points)), key=points.__getitem__)
    kept: list[int] = []
    for index in order:
        if not kept or points[index][1] < points[kept[-1]][1] or points[index] == points[kept[-1]]:
            kept.append(index)
    return kept
