"""The figures of a run, a summary for each group of like requests."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple, get_args

from pipeline.probes.config import Price
from pipeline.probes.figures import (
    Figure,
    aggregate_tokens_per_s,
    cost_figures,
    latency_figures,
    shares,
    speed_figures,
    ttft_p50_with_failures_ms,
)
from pipeline.probes.metrics import metrics_of
from pipeline.probes.prompt_caching import cached_prefix_saving_ms
from pipeline.probes.records import BatchRecord, SelfCheck
from pipeline.probes.sample import Outcome, Sample
from pipeline.probes.transcript import Loop, Phase
from pipeline.probes.trust import is_in_figures, is_trusted


class Group(NamedTuple):
    """What the requests of a summary have in common."""

    target: str
    model_id: str
    provider_name: str | None
    tag: str | None
    region: str | None
    prompt_set: str
    phase: Phase
    loop: Loop
    concurrency: int
    offered_rate_per_s: float | None


@dataclass(frozen=True)
class Summary:
    """Counts and figures of a group, named as in the table ``probe_summary``.

    Times are over samples in the figures (``n``), counts and money over all. ``ok_pct`` is of the
    requests that the provider could have answered. A percentile that needs more samples is None.
    """

    group: Group
    counts: dict[str, int]
    figures: dict[str, Figure]

    def to_record(self) -> dict[str, Any]:
        """Return a JSON object."""
        figures = {
            name: float(figure) if isinstance(figure, Decimal) else figure
            for name, figure in self.figures.items()
        }
        return {**self.group._asdict(), **self.counts, **figures}


def summarise(
    samples: Iterable[Sample],
    *,
    batches: Iterable[BatchRecord] = (),
    self_checks: Sequence[SelfCheck] = (),
    prices: Mapping[str, Price] | None = None,
) -> list[Summary]:
    """Summarise the samples of one run; warm-ups are in no group.

    ``batches`` say which samples the probe was too late for, ``prices`` are those listed, by name
    of the target.
    """
    overloaded = {batch.batch for batch in batches if batch.is_overloaded}
    groups: dict[Group, list[Sample]] = defaultdict(list)
    for sample in samples:
        if sample.phase != "warm_up":
            groups[Group(*(getattr(sample, name) for name in Group._fields))].append(sample)
    return [
        _summary(group, members, overloaded, self_checks, (prices or {}).get(group.target))
        for group, members in groups.items()
    ]


def _summary(
    group: Group,
    members: list[Sample],
    overloaded: set[int],
    self_checks: Sequence[SelfCheck],
    price: Price | None,
) -> Summary:
    kept_up = [sample for sample in members if sample.batch not in overloaded]
    used = [sample for sample in kept_up if is_in_figures(sample)]
    metrics = [metrics_of(sample) for sample in used]
    errors_ms = [
        check.ttft_error_p99_ms for check in self_checks if check.concurrency == group.concurrency
    ]
    error_p99_ms = max(errors_ms, default=None)
    latencies = latency_figures(metrics)
    median_ttft_ms = latencies["ttft_p50_ms"]
    outcomes = Counter(sample.outcome for sample in members)
    return Summary(
        group,
        {
            "requests": len(members),
            "n": len(used),
            **{f"n_{name}": outcomes[name] for name in get_args(Outcome)},
            "n_probe_overloaded": len(members) - len(kept_up),
        },
        {
            **shares(members, used),
            **latencies,
            "ttft_p50_with_failures_ms": ttft_p50_with_failures_ms(kept_up),
            **speed_figures(metrics),
            "aggregate_tokens_per_s": aggregate_tokens_per_s(kept_up),
            "cached_prefix_saving_ms": cached_prefix_saving_ms(kept_up),
            **cost_figures(members, price),
            "self_check_ttft_error_p99_ms": error_p99_ms,
            "is_trusted": is_trusted(median_ttft_ms, error_p99_ms),
        },
    )
