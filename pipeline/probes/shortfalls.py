"""What a run did not measure, told in lines for a person."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from pipeline.probes.sample import Sample


def shortfalls(samples: Iterable[Sample]) -> list[str]:
    """Return a line for each target of which requests were not sent, or none had an answer."""
    of_targets: dict[str, list[Sample]] = defaultdict(list)
    for sample in samples:
        of_targets[sample.target].append(sample)
    return [line for name, members in of_targets.items() for line in _of_target(name, members)]


def _of_target(name: str, members: list[Sample]) -> list[str]:
    unsent = Counter(
        str(sample.reason)
        for sample in members
        if sample.outcome in ("refused_config", "cancelled_budget")
    )
    lines = [
        f"target {name}: {count} of {len(members)} requests not sent: {reason}"
        for reason, count in unsent.items()
    ]
    measured = [sample for sample in members if sample.phase != "warm_up"]
    failed = Counter(
        f"{sample.outcome}: {sample.reason}" for sample in measured if sample.outcome != "ok"
    )
    if not lines and measured and failed.total() == len(measured):
        why, _ = failed.most_common(1)[0]
        lines.append(f"target {name}: all {len(measured)} requests failed, mostly {why}")
    return lines
