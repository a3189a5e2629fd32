"""The steps of a probe, usable without Dagster: measure into landing, load what has landed."""

from __future__ import annotations

import json
import platform
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date
from importlib.metadata import version
from typing import TYPE_CHECKING

from pipeline.landing import CorruptLandingError
from pipeline.landing.probe_runs import LandedProbeRun, ProbeLanding, ProbeRunStart
from pipeline.probes.config import DEFAULT_CONFIG, ProbeConfig, load_probe_config
from pipeline.probes.planning import plan_run
from pipeline.probes.run import RunResult, new_run_id, run_probe
from pipeline.progress import Progress
from pipeline.settings import Settings
from pipeline.steps import Clock, NothingLandedError, OtherMarketError, StepError
from pipeline.target_lookup import last_sent, look_up, spend_ledger
from pipeline.warehouse import open_warehouse

if TYPE_CHECKING:
    from pipeline.probe_frames import ProbeRunFrames

# Transcripts are read without the warehouse's lock; so many runs then go in under one hold of it.
RUNS_PER_HOLD = 50


class NothingMeasuredError(StepError):
    """A probe could not measure a single target."""


@dataclass(frozen=True)
class ProbeLoadReport:
    """What a load did: ids of the runs that came in, how many were in, and what went wrong."""

    loaded: tuple[str, ...] = ()
    known: int = 0
    requests: int = 0
    quarantined: int = 0
    problems: tuple[str, ...] = ()


def probe_config(settings: Settings) -> ProbeConfig:
    """Return what is to be probed: the settings' file, else the targets of tokentape.

    Raises ``ProbeConfigError``.
    """
    return load_probe_config(settings.probes_file or DEFAULT_CONFIG)


def probe(
    settings: Settings,
    now: Clock,
    progress: Progress,
    *,
    stop: threading.Event | None = None,
) -> LandedProbeRun:
    """Measure the configured targets into landing.

    A target that is gone or has no key is a problem of the run; the others are measured.

    Raises ``NothingMeasuredError`` when no target can be asked, ``OtherMarketError``,
    ``ProbeConfigError``, ``BudgetError`` and ``EngineError``.
    """
    config = probe_config(settings)
    stop = stop or threading.Event()
    landing = ProbeLanding(settings.landing_dir)
    _refuse_other_market(settings, landing.runs(now().date(), on_corrupt=lambda _: None))
    ready = look_up(config, settings)
    if len(ready.refusals) == len(config.providers):
        name, reason = next(iter(ready.refusals.items()))
        raise NothingMeasuredError(f"no target can be probed; the first, {name}: {reason}")
    asked = last_sent(settings)
    started = now().astimezone(UTC)
    start = ProbeRunStart(
        run_id=new_run_id(started),
        partition_date=started.date(),
        started_at_utc=started,
        market=settings.market,
        region=settings.region,
        config_json=config.model_dump_json(by_alias=True),
        engine_json=_engine_json(),
    )
    with landing.begin(start) as writer:
        result = run_probe(
            config,
            run_id=start.run_id,
            recorder=writer,
            keys=ready.keys,
            prices=ready.prices,
            ledger=spend_ledger(settings),
            provider_names=ready.provider_names,
            refusals=ready.refusals,
            plan=plan_run(config, asked.of(config.providers), started),
            region=settings.region,
            clock=now,
            progress=progress,
            stop=stop,
        )
        asked.note(config.providers, result.samples)
        if not result.samples:
            writer.abandon()
            raise NothingMeasuredError("the probe was stopped before its first request")
        return writer.seal(
            now(), result.samples, _problems(result), is_interrupted=result.is_interrupted
        )


def landed_probe_days(settings: Settings, first: date, last: date) -> dict[date, int]:
    """Return the days from ``first`` to ``last`` of which landing holds probes, runs counted.

    What an interrupted run left behind is sealed first, and counts. Raises
    ``NothingLandedError`` when there is none.
    """
    runs, problems = _readable(settings, first, last)
    if not runs:
        raise _nothing_landed(settings, first, last, problems)
    found: dict[date, int] = {}
    for run in runs:
        day = run.manifest.partition_date
        found[day] = found.get(day, 0) + 1
    return found


def load_landed_probes(settings: Settings, first: date, last: date) -> ProbeLoadReport:
    """Bring the landed runs of the days ``first`` to ``last`` into the warehouse, oldest first.

    A run that is in already is left alone. A damaged one is reported and left out. Days without
    a probe are nothing to complain of. Raises ``OtherMarketError``, and the warehouse's errors.
    """
    runs, problems = _readable(settings, first, last)
    _refuse_other_market(settings, runs)
    report = ProbeLoadReport(problems=tuple(problems))
    if not runs:
        return report
    with open_warehouse(settings) as warehouse:
        in_already = warehouse.loaded_run_ids()
    new = [run for run in runs if run.manifest.run_id not in in_already]
    for start in range(0, len(new), RUNS_PER_HOLD):
        report = _load_some(settings, new[start : start + RUNS_PER_HOLD], report)
    return ProbeLoadReport(
        loaded=report.loaded,
        known=report.known + len(runs) - len(new),
        requests=report.requests,
        quarantined=report.quarantined,
        problems=report.problems,
    )


def _load_some(
    settings: Settings, runs: Iterable[LandedProbeRun], report: ProbeLoadReport
) -> ProbeLoadReport:
    # polars and the contracts take a second to import, and Dagster imports this module to draw its
    # graph.
    from pipeline.probe_frames import read_probe_run  # noqa: PLC0415

    landing = ProbeLanding(settings.landing_dir)
    read: list[ProbeRunFrames] = []
    problems = list(report.problems)
    for run in runs:
        try:
            read.append(read_probe_run(run.manifest, landing.records(run)))
        except CorruptLandingError as error:
            problems.append(str(error))
    with open_warehouse(settings) as warehouse:
        came_in = [frames for frames in read if warehouse.load_probe_run(frames)]
    return ProbeLoadReport(
        loaded=report.loaded + tuple(frames.run.item(0, "run_id") for frames in came_in),
        known=report.known + len(read) - len(came_in),
        requests=report.requests + sum(frames.requests.height for frames in came_in),
        quarantined=report.quarantined + sum(frames.quarantine.height for frames in came_in),
        problems=tuple(problems),
    )


def _readable(
    settings: Settings, first: date, last: date
) -> tuple[list[LandedProbeRun], list[str]]:
    """Return the runs of the days, and what is wrong with those that cannot be read."""
    landing = ProbeLanding(settings.landing_dir)
    landing.recover()
    problems: list[str] = []
    runs = landing.runs(first, last, lambda error: problems.append(str(error)))
    return runs, sorted(problems)


def _refuse_other_market(settings: Settings, runs: Iterable[LandedProbeRun]) -> None:
    for run in runs:
        if run.manifest.market != settings.market:
            raise OtherMarketError(
                f"{settings.landing_dir} holds probes of the {run.manifest.market} market "
                f"(run {run.manifest.run_id}), the settings say {settings.market}; "
                "give each market its own TOKENTAPE_DATA_DIR"
            )


def _nothing_landed(
    settings: Settings, first: date, last: date, problems: Sequence[str]
) -> NothingLandedError:
    if problems:
        return NothingLandedError(problems[0])
    days = f"{first}" if first == last else f"{first} to {last}"
    return NothingLandedError(
        f"landing holds no probe of {days} ({settings.landing_dir}); a probe of a past day cannot "
        "be made up, only today can be measured: run `tokentape probe --land`"
    )


def _problems(result: RunResult) -> tuple[str, ...]:
    return (*result.warnings, *result.problems)


def _engine_json() -> str:
    return json.dumps(
        {
            "tokentape": version("tokentape"),
            "python": platform.python_version(),
            "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        }
    )
