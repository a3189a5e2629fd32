"""The plan of a run: which requests go out together and in which order; pure and seeded."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import product

from pipeline.probes.arrivals import due_times
from pipeline.probes.config import ProbeConfig, Target
from pipeline.probes.prompt import Prompt, prompt_of
from pipeline.probes.prompts import SHORT_CHAT, PromptSet, prompts_of
from pipeline.probes.transcript import Loop, Phase

# Short, as it only opens a connection; some providers refuse a smaller limit.
WARM_UP = prompt_of("short_chat", [{"role": "user", "content": SHORT_CHAT}], max_tokens=16)


@dataclass(frozen=True)
class PlannedRequest:
    """A request to be; those of one ``pair_id`` share a nonce and differ in their ``turn``."""

    prompt: Prompt
    pair_id: str | None = None
    turn: int = 1
    has_nonce: bool = True


@dataclass(frozen=True)
class PlannedBatch:
    """Requests to one target that go out together, and what they have in common.

    ``due_s`` are the moments to send them, from the start of the batch (open loop).
    """

    target: Target
    prompt_set: str
    phase: Phase
    concurrency: int
    round: int
    requests: tuple[PlannedRequest, ...]
    loop: Loop = "closed"
    offered_rate_per_s: float | None = None
    due_s: tuple[float, ...] | None = None
    uses_new_connections: bool = False

    def part(self, start: int, stop: int | None = None) -> PlannedBatch:
        """Return the batch of some of the requests."""
        due_s = None if self.due_s is None else self.due_s[start:stop]
        return replace(self, requests=self.requests[start:stop], due_s=due_s)


def plan_run(
    config: ProbeConfig, last_sent_at: Mapping[str, datetime], now: datetime
) -> list[PlannedBatch]:
    """Return the plan of a run that begins ``now``; raises ``ProbeConfigError``.

    ``last_sent_at`` tells when a target was last asked, by its name.
    """
    rng = random.Random(config.seed)  # noqa: S311 - shuffles, no secret
    idle = idle_targets(config, last_sent_at, now)
    return plan_probe(config, prompts_of(config), rng, idle_targets=idle)


def idle_targets(
    config: ProbeConfig, last_sent_at: Mapping[str, datetime], now: datetime
) -> set[str]:
    """Return the names of the targets that were left alone for long enough to start cold."""
    idle = timedelta(minutes=config.cold_start_idle_minutes)
    return {
        target.name
        for target in config.providers
        if target.name not in last_sent_at or now - last_sent_at[target.name] >= idle
    }


def plan_probe(
    config: ProbeConfig,
    prompt_sets: Sequence[PromptSet],
    rng: random.Random,
    *,
    idle_targets: Collection[str],
) -> list[PlannedBatch]:
    """Return the batches of a run in their order.

    First the cold starts, one for each of ``idle_targets``, while nothing has woken a target.
    Then, round by round, every target x prompt set x concurrency in an order drawn anew; a target
    is warmed up before it is measured at a concurrency for the first time. Every target gets the
    same prompts. The rounds share the runs, but a batch of a closed loop has at least one request
    a stream: otherwise its concurrency would be a mere name.
    """
    cold = [prompts for prompts in prompt_sets if prompts.phase == "cold_start"]
    warm = [prompts for prompts in prompt_sets if prompts.phase == "measure"]
    plan = [
        _cold_start(target, prompts)
        for prompts in cold
        for target in rng.sample(config.providers, len(config.providers))
        if target.name in idle_targets
    ]
    is_warm: set[tuple[str, int]] = set()
    for round_ in range(1, config.rounds + 1):
        combinations = list(product(config.providers, warm, config.concurrency))
        rng.shuffle(combinations)
        for target, prompts, level in combinations:
            outline = PlannedBatch(
                target=target,
                prompt_set=prompts.name,
                phase=prompts.phase,
                concurrency=level,
                round=round_,
                requests=(),
                loop=config.arrival.loop,
                offered_rate_per_s=config.arrival.rate_per_s,
                uses_new_connections=config.new_connections,
            )
            batches = list(_batches(config, outline, prompts, rng))
            if batches and (target.name, level) not in is_warm:
                is_warm.add((target.name, level))
                streams = min(level, max(len(batch.requests) for batch in batches))
                plan += warm_up_of(config, target, level, round_, streams)
            plan += batches
    return plan


def warm_up_of(
    config: ProbeConfig, target: Target, level: int, round_: int, streams: int
) -> list[PlannedBatch]:
    """Return the batch that opens the connections of ``streams``; none if none is wanted."""
    requests = (PlannedRequest(WARM_UP),) * (config.warm_up * streams)
    if not requests:
        return []
    return [PlannedBatch(target, WARM_UP.set_name, "warm_up", level, round_, requests)]


def shares(total: int, parts: int) -> list[int]:
    """Share ``total`` out as evenly as whole numbers allow: ``shares(10, 3)`` is 4, 3, 3."""
    each, left = divmod(total, parts)
    return [each + (part < left) for part in range(parts)]


def waves(total: int, level: int) -> list[int]:
    """Share ``total`` requests out into as many batches as all have ``level`` of them."""
    return shares(total, max(1, total // level))


def _cold_start(target: Target, prompts: PromptSet) -> PlannedBatch:
    request = PlannedRequest(prompts.sequence(0)[0])
    return PlannedBatch(
        target, prompts.name, "cold_start", 1, 1, (request,), uses_new_connections=True
    )


def _batches(
    config: ProbeConfig, outline: PlannedBatch, prompts: PromptSet, rng: random.Random
) -> Iterator[PlannedBatch]:
    """Yield the batches of one combination in one round, each after ``outline``."""
    level = outline.concurrency
    turns = len(prompts.sequence(0))
    least = level if outline.loop == "closed" else 1
    wanted = max(-(-config.runs // turns), least)
    of_rounds = shares(wanted, min(config.rounds, wanted // least))
    if outline.round > len(of_rounds):
        return
    first, count = sum(of_rounds[: outline.round - 1]), of_rounds[outline.round - 1]
    # Turns follow each other closely: a prompt cache forgets.
    for size in waves(count, level) if turns > 1 else [count]:
        for turn in range(turns):
            due_s = due_times(config.arrival, size, rng)
            yield replace(
                outline,
                requests=tuple(
                    _request(outline, prompts, number, turn)
                    for number in range(first, first + size)
                ),
                due_s=None if due_s is None else tuple(due_s),
            )
        first += size


def _request(outline: PlannedBatch, prompts: PromptSet, number: int, turn: int) -> PlannedRequest:
    sequence = prompts.sequence(number)
    if len(sequence) == 1:
        return PlannedRequest(sequence[0])
    pair_id = f"{outline.target.name}/{prompts.name}/{outline.concurrency}/{number + 1}"
    return PlannedRequest(sequence[turn], pair_id, turn + 1)
