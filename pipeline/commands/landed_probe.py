"""A run through Dagster, read again from landing to be written and shown."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from pipeline.commands.outcomes import tell_failure
from pipeline.commands.probe_output import Outputs, rows_of
from pipeline.commands.probe_table import run_lines
from pipeline.commands.probing import tell_result
from pipeline.landing.probe_records import ProbeRecord
from pipeline.landing.probe_runs import ProbeLanding
from pipeline.probes.playing import PlayedBatch, played_batch
from pipeline.probes.reading import read_sample
from pipeline.probes.records import BatchRecord, SelfCheck
from pipeline.probes.run import RunResult
from pipeline.probes.sample import Sample
from pipeline.probes.transcript import Transcript
from pipeline.runs import open_instance, run_probe_job
from pipeline.settings import Settings
from pipeline.steps import utc_now
from pipeline.target_lookup import spend_ledger


def land(settings: Settings, outputs: Outputs) -> int:
    """Measure, load, build and publish by the job `probe`; return the exit code."""
    today = utc_now().date()
    spent_before = spend_ledger(settings).spent_on(today)
    with outputs.open() as write:
        with open_instance(settings) as instance:
            outcome = run_probe_job(settings, instance)
        failed = tell_failure(outcome)
        if failed is not None:
            return failed
        landing = ProbeLanding(settings.landing_dir)
        run_id = outcome.facts["run_id"]
        (run,) = [run for run in landing.runs(today) if run.manifest.run_id == run_id]
        batches, checks = read_batches(landing.records(run))
        for batch in batches:
            for row in rows_of(batch, with_warm_up=outputs.with_warm_up):
                write(row)
    result = RunResult(
        run_id=run_id,
        batches=tuple(batches),
        self_checks=tuple(checks),
        spent_usd={"all targets": spend_ledger(settings).spent_on(today) - spent_before},
        problems=outcome.problems,
        warnings=(),
        is_interrupted=run.manifest.is_interrupted,
    )
    where = f"landed in {run.path}, published in {settings.published_dir / 'current'}"
    return tell_result((*run_lines(result, {}), where), result, settings, outputs)


def read_batches(records: Iterable[ProbeRecord]) -> tuple[list[PlayedBatch], list[SelfCheck]]:
    """Return the batches that records of a run make up, and its self-checks."""
    samples: dict[int, list[Sample]] = defaultdict(list)
    batches: dict[int, BatchRecord] = {}
    checks: list[SelfCheck] = []
    for record in records:
        if isinstance(record, Transcript):
            samples[record.ask.batch].append(read_sample(record))
        elif isinstance(record, BatchRecord):
            batches[record.batch] = record
        else:
            checks.append(record)
    played = [
        played_batch(batches.get(number), members, checks) for number, members in samples.items()
    ]
    return played, checks
