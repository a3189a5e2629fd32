"""A run of probes: from a configuration to samples, within a budget."""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal

from pipeline.probes.asking import Asker
from pipeline.probes.budget import RunBudget, estimates_of
from pipeline.probes.config import Price, ProbeConfig
from pipeline.probes.engine_process import EngineProcess
from pipeline.probes.exchange import Engine
from pipeline.probes.planning import PlannedBatch, plan_run
from pipeline.probes.playing import PlayedBatch, Playing
from pipeline.probes.readiness import refusal_of
from pipeline.probes.recorder import NoRecorder, Recorder
from pipeline.probes.records import SelfCheck
from pipeline.probes.sample import Sample
from pipeline.probes.shortfalls import shortfalls
from pipeline.probes.spending import SpendLedger
from pipeline.probes.standing import Standing
from pipeline.progress import Progress

STOP_POLL_S = 0.2


@dataclass(frozen=True)
class RunResult:
    """What a run left.

    ``problems`` say what of the plan was not measured, ``warnings`` what is odd about the rest;
    one line each. ``spent_usd`` is by name of the target.
    """

    run_id: str
    batches: tuple[PlayedBatch, ...]
    self_checks: tuple[SelfCheck, ...]
    spent_usd: Mapping[str, Decimal]
    problems: tuple[str, ...]
    warnings: tuple[str, ...]
    is_interrupted: bool

    @property
    def samples(self) -> list[Sample]:
        """All samples, sent or not, in the order of the run."""
        return [sample for batch in self.batches for sample in batch.samples]


def new_run_id(now: datetime) -> str:
    """Return the id of a run that begins ``now``."""
    return f"{now.astimezone(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(4)}"


def run_probe(
    config: ProbeConfig,
    *,
    run_id: str,
    recorder: Recorder | None = None,
    keys: Mapping[str, str | None],
    prices: Mapping[str, Price | None],
    environ: Mapping[str, str] = os.environ,
    ledger: SpendLedger,
    provider_names: Mapping[str, str | None] | None = None,
    refusals: Mapping[str, str] | None = None,
    plan: Sequence[PlannedBatch] | None = None,
    region: str | None = None,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    self_check: bool = True,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
    on_batch: Callable[[PlayedBatch], None] = lambda _: None,
    engine: Engine | None = None,
) -> RunResult:
    """Measure what ``config`` asks for and return what came; all of it was recorded by then.

    ``keys``, ``prices``, ``provider_names`` (who must serve) and ``refusals`` (why a target is not
    to be asked) are by name of the target. ``environ`` fills the placeholders of addresses.
    ``plan`` is that of ``plan_run`` unless given, for targets that were not asked lately. When
    ``stop`` is set, the run ends with what has come. ``engine`` is a process of its own unless
    given.

    Raises ``ProbeConfigError`` and ``BudgetError`` before anything is sent, and ``EngineError``.
    """
    if plan is None:
        plan = plan_run(config, {}, clock())
    run = Playing(
        run_id=run_id,
        recorder=recorder or NoRecorder(),
        asker=Asker(
            config,
            run_id=run_id,
            keys=keys,
            environ=environ,
            provider_names=provider_names or {},
            region=region,
            clock=clock,
        ),
        budget=RunBudget(config.budget, prices, ledger, run_id, clock),
        standings={
            target.name: Standing(
                (refusals or {}).get(target.name)
                or refusal_of(
                    target, config, keys.get(target.name), prices.get(target.name), environ
                )
            )
            for target in config.providers
        },
        clock=clock,
        progress=progress or Progress("probe"),
        stop=stop or threading.Event(),
        on_batch=on_batch,
    )
    sendable = [batch for batch in plan if run.standings[batch.target.name].refusal is None]
    run.budget.require(estimates_of(sendable, prices))
    with _new_engine(run.stop) if engine is None else nullcontext(engine) as used:
        if self_check and sendable:
            run.check_instrument(used, sendable)
        with run.progress.counting(sum(len(batch.requests) for batch in plan)):
            run.play(used, plan)
    samples = [sample for batch in run.played for sample in batch.samples]
    return RunResult(
        run_id=run_id,
        batches=tuple(run.played),
        self_checks=tuple(run.checks),
        spent_usd=run.budget.spent,
        problems=(*run.problems, *shortfalls(samples)),
        warnings=tuple(run.warnings),
        is_interrupted=run.stop.is_set(),
    )


@contextmanager
def _new_engine(stop: threading.Event) -> Iterator[Engine]:
    """Start an engine that stops as soon as ``stop`` is set."""
    with EngineProcess() as engine, _stopping(engine, stop):
        yield engine


@contextmanager
def _stopping(engine: Engine, stop: threading.Event) -> Iterator[None]:
    """Stop the engine as soon as ``stop`` is set."""
    is_over = threading.Event()

    def watch() -> None:
        while not is_over.is_set():
            if stop.wait(STOP_POLL_S):
                engine.stop()
                return

    watching = threading.Thread(target=watch, name="stop")
    watching.start()
    try:
        yield
    finally:
        is_over.set()
        watching.join()
