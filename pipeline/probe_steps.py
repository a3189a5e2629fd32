"""The steps of a probe, usable without Dagster: measure into landing, load what has landed."""

from __future__ import annotations

import json
import platform
import threading
from dataclasses import replace
from datetime import UTC, date
from typing import TYPE_CHECKING

from pipeline.landing.probe_records import LandedProbeRun, ProbeRunStart
from pipeline.landing.probe_runs import ProbeLanding
from pipeline.loading import (
    Loaded,
    LoadReport,
    StepError,
    count_by_day,
    load_new,
    nothing_landed,
    readable,
    refuse_other_market,
)
from pipeline.probes.config import DEFAULT_CONFIG, ProbeConfig, load_probe_config
from pipeline.probes.planning import plan_run
from pipeline.probes.run import new_run_id, run_probe
from pipeline.progress import Progress
from pipeline.release import release
from pipeline.settings import Settings, environment_of
from pipeline.steps import Clock
from pipeline.target_lookup import last_sent, look_up, spend_ledger
from pipeline.warehouse import Warehouse

if TYPE_CHECKING:
    from pipeline.probe_frames import ProbeRunFrames

# Transcripts are read without the warehouse's lock; so many runs then go in under one hold of it.
RUNS_PER_HOLD = 50
REMEDY = (
    "a probe of a past day cannot be made up, only today can be measured: run "
    "`tokentape probe --land`"
)


class NothingMeasuredError(StepError):
    """A probe could not measure a single target."""


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
    runs_of_today = landing.runs(now().date(), on_corrupt=lambda _: None)
    refuse_other_market(settings, runs_of_today, "probe")
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
            environ=environment_of(settings),
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
            now(),
            result.samples,
            (*result.warnings, *result.problems),
            is_interrupted=result.is_interrupted,
        )


def landed_probe_days(settings: Settings, first: date, last: date) -> dict[date, int]:
    """Return the days from ``first`` to ``last`` of which landing holds probes, runs counted.

    What an interrupted run left behind is sealed first, and counts. Raises
    ``NothingLandedError`` when there is none.
    """
    landing = ProbeLanding(settings.landing_dir)
    landing.recover()
    runs, problems = readable(landing.runs, first, last)
    if not runs:
        raise nothing_landed(settings, (first, last), problems, "probe", REMEDY)
    return count_by_day(runs)


def load_landed_probes(settings: Settings, first: date, last: date) -> LoadReport:
    """Bring the landed runs of the days ``first`` to ``last`` into the warehouse, oldest first.

    A run that is in already is left alone. A damaged one is reported and left out. Days without
    a probe are nothing to complain of. Raises ``OtherMarketError``, and the warehouse's errors.
    """
    # polars and the contracts take a second to import, and Dagster imports this module to draw its
    # graph.
    from pipeline.probe_frames import read_probe_run  # noqa: PLC0415

    landing = ProbeLanding(settings.landing_dir)
    landing.recover()
    runs, problems = readable(landing.runs, first, last)
    refuse_other_market(settings, runs, "probe")

    def read(run: LandedProbeRun) -> ProbeRunFrames:
        return read_probe_run(run.manifest, landing.records(run))

    report = load_new(
        settings,
        runs,
        per_hold=RUNS_PER_HOLD,
        ids_in=Warehouse.loaded_run_ids,
        read=read,
        bring_in=_bring_in,
    )
    return replace(report, problems=(*problems, *report.problems))


def _bring_in(warehouse: Warehouse, frames: ProbeRunFrames) -> Loaded | None:
    if not warehouse.load_probe_run(frames):
        return None
    return Loaded(frames.run.item(0, "run_id"), frames.requests.height, frames.quarantine.height)


def _engine_json() -> str:
    return json.dumps(
        {
            "tokentape": release(),
            "python": platform.python_version(),
            "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        }
    )
