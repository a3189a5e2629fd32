"""What `probe` and `shadow` share: a run with its outputs, and how it is told."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import click

from pipeline.commands.exit_codes import DONE, FAILED, PARTIAL
from pipeline.commands.probe_output import Outputs, rows_of
from pipeline.commands.probe_table import estimate_table, spend_line
from pipeline.measuring import measuring
from pipeline.probes.budget import RunBudget, estimates_of
from pipeline.probes.config import ProbeConfig
from pipeline.probes.planning import PlannedBatch
from pipeline.probes.playing import PlayedBatch
from pipeline.probes.readiness import Readiness
from pipeline.probes.run import RunResult, new_run_id, run_probe
from pipeline.progress import Progress
from pipeline.running import stop_signals
from pipeline.settings import Settings, environment_of
from pipeline.steps import utc_now
from pipeline.target_lookup import last_sent, spend_ledger


def measure(
    config: ProbeConfig,
    plan: Sequence[PlannedBatch],
    ready: Readiness,
    settings: Settings,
    outputs: Outputs,
    *,
    self_check: bool,
) -> RunResult:
    """Run ``plan`` and write its rows while it runs; Ctrl-C ends it with what has come."""
    tell(ready.warnings)
    with measuring(settings), stop_signals() as stop, outputs.open() as write:

        def write_rows(batch: PlayedBatch) -> None:
            for row in rows_of(batch, with_warm_up=outputs.with_warm_up):
                write(row)

        result = run_probe(
            config,
            run_id=new_run_id(utc_now()),
            keys=ready.keys,
            prices=ready.prices,
            environ=environment_of(settings),
            ledger=spend_ledger(settings),
            provider_names=ready.provider_names,
            refusals=ready.refusals,
            plan=plan,
            region=settings.region,
            self_check=self_check,
            progress=Progress("probe"),
            stop=stop,
            on_batch=write_rows,
        )
    last_sent(settings).note(config.providers, result.samples)
    return result


def tell_result(
    lines: Iterable[str], result: RunResult, settings: Settings, outputs: Outputs
) -> int:
    """Tell ``lines`` about a run, what it cost, and what went wrong; return the exit code."""
    spent_today = spend_ledger(settings).spent_on(utc_now().date())
    for line in (*lines, spend_line(result.spent_usd, spent_today), *outputs.lines()):
        click.echo(line, err=outputs.are_on_stdout)
    tell((*result.warnings, *result.problems))
    if result.is_interrupted:
        tell(["stopped; what had come by then is kept"])
    if not any(sample.outcome == "ok" and sample.phase != "warm_up" for sample in result.samples):
        return FAILED
    return PARTIAL if result.problems or result.is_interrupted else DONE


def tell_estimates(
    config: ProbeConfig, plan: Sequence[PlannedBatch], ready: Readiness, settings: Settings
) -> int:
    """Tell what a run would send and cost; raises ``BudgetError`` when that is too much."""
    sendable = [batch for batch in plan if batch.target.name not in ready.refusals]
    estimates = estimates_of(sendable, ready.prices)
    names = [target.name for target in config.providers if target.name in estimates]
    for line in estimate_table({name: estimates[name] for name in names}):
        click.echo(line)
    tell(ready.warnings)
    tell(f"target {name} would not be asked: {why}" for name, why in ready.refusals.items())
    budget = RunBudget(config.budget, ready.prices, spend_ledger(settings), "dry run", utc_now)
    budget.require(estimates)
    return PARTIAL if ready.refusals else DONE


def tell(lines: Iterable[str]) -> None:
    """Tell a person, apart from what programs read."""
    for line in lines:
        click.echo(f"tokentape: {line}", err=True)
