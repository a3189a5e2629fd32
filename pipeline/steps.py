"""The steps of the main job, usable without Dagster: land, load, build, publish."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline import publishing
from pipeline.building import BuildResult, are_up_to_date, build_all
from pipeline.landing import CorruptLandingError, LandedSweep, Landing
from pipeline.progress import Progress
from pipeline.settings import Settings
from pipeline.sources.sweeping import land_sweep
from pipeline.sql_models import SqlModel
from pipeline.warehouse import open_warehouse

if TYPE_CHECKING:
    from pipeline.market import MarketBatch

# Answers are parsed without the warehouse's lock; so many sweeps then go in under one hold of it.
SWEEPS_PER_HOLD = 10

Clock = Callable[[], datetime]


class StepError(Exception):
    """A step cannot be done; one line says why and what helps."""


class NothingLandedError(StepError):
    """Landing holds no sweep of the days asked for."""


class OtherMarketError(StepError):
    """The data folder holds another market than the settings name."""


@dataclass(frozen=True)
class LoadReport:
    """What a load did: ids of the sweeps that came in, how many were in, and what went wrong."""

    loaded: tuple[str, ...] = ()
    known: int = 0
    endpoints: int = 0
    quarantined: int = 0
    flagged: int = 0
    problems: tuple[str, ...] = ()


def utc_now() -> datetime:
    """Return the present instant, UTC."""
    return datetime.now(UTC)


def land(settings: Settings, now: Clock, progress: Progress) -> LandedSweep:
    """Pull one sweep of the market into landing.

    Raises ``SourceUnreachable`` when nothing could be had, and ``OtherMarketError``.
    """
    landing = Landing(settings.landing_dir)
    # Damage of the past must not keep today from being pulled; loading tells of it.
    with suppress(CorruptLandingError):
        newest = landing.newest()
        _refuse_other_market(settings, [newest] if newest is not None else [])
    return land_sweep(settings, landing, now=now, progress=progress)


def landed_days(settings: Settings, first: date, last: date) -> dict[date, int]:
    """Return the days from ``first`` to ``last`` that landing holds, with their sweeps counted.

    What an interrupted run left behind is sealed first, and counts. Raises
    ``NothingLandedError`` when there is none.
    """
    landing = Landing(settings.landing_dir)
    landing.recover(utc_now())
    sweeps, problems = _readable(landing, first, last)
    if not sweeps:
        raise _nothing_landed(settings, first, last, problems)
    found: dict[date, int] = {}
    for sweep in sweeps:
        day = sweep.manifest.partition_date
        found[day] = found.get(day, 0) + 1
    return found


def load_landed(settings: Settings, first: date, last: date) -> LoadReport:
    """Bring the landed sweeps of the days ``first`` to ``last`` into the warehouse, oldest first.

    A sweep that is in already is left alone. A damaged one is reported and left out; the others
    go in. Raises ``NothingLandedError`` when there is no readable sweep, ``OtherMarketError``, and
    the warehouse's own errors.
    """
    landing = Landing(settings.landing_dir)
    landing.recover(utc_now())
    sweeps, problems = _readable(landing, first, last)
    _refuse_other_market(settings, sweeps)
    if not sweeps:
        raise _nothing_landed(settings, first, last, problems)

    with open_warehouse(settings) as warehouse:
        in_already = warehouse.loaded_sweep_ids()
    new = [sweep for sweep in sweeps if sweep.manifest.sweep_id not in in_already]
    report = LoadReport(known=len(sweeps) - len(new), problems=tuple(problems))
    for start in range(0, len(new), SWEEPS_PER_HOLD):
        report = _load_some(settings, landing, new[start : start + SWEEPS_PER_HOLD], report)
    if not report.loaded and not report.known:
        raise _nothing_landed(settings, first, last, report.problems)
    return report


def build(settings: Settings, models: Sequence[SqlModel]) -> list[BuildResult]:
    """Bring ``models``, which are all SQL models in order, up to date."""
    with open_warehouse(settings) as warehouse:
        return build_all(warehouse.database, models)


def publish(
    settings: Settings, models: Sequence[SqlModel], now: datetime, folder: Path | None = None
) -> publishing.Snapshot:
    """Publish the marts below ``folder``, by default the data folder's; all of one state.

    ``models`` are all SQL models; those that are behind are built first.

    Raises ``NothingLandedError`` when the warehouse holds no sweep.
    """
    with open_warehouse(settings) as warehouse:
        if not warehouse.loaded_sweep_ids():
            raise NothingLandedError(
                "there is nothing to publish: the warehouse holds no sweep; run `tokentape sync`"
            )
        if not are_up_to_date(warehouse.database, models):
            build_all(warehouse.database, models)
        return publishing.publish(
            warehouse.database,
            folder or settings.published_dir,
            market=settings.market,
            now=now,
            keep=settings.snapshots_kept,
            models=models,
        )


def _load_some(
    settings: Settings, landing: Landing, sweeps: Iterable[LandedSweep], report: LoadReport
) -> LoadReport:
    # polars and the contracts take a second to import, and Dagster imports this module to draw its
    # graph.
    from pipeline.market import read_market  # noqa: PLC0415

    batches: list[MarketBatch] = []
    problems = list(report.problems)
    for sweep in sweeps:
        manifest = sweep.manifest
        try:
            answers = landing.answers(sweep)
            batches.append(read_market(manifest, answers, manifest.answers_sha256))
        except CorruptLandingError as error:
            problems.append(str(error))
    with open_warehouse(settings) as warehouse:
        came_in = [batch.sweep.row(0, named=True) for batch in batches if warehouse.load(batch)]
    return LoadReport(
        loaded=report.loaded + tuple(sweep["sweep_id"] for sweep in came_in),
        known=report.known + len(batches) - len(came_in),
        endpoints=report.endpoints + sum(sweep["endpoints"] for sweep in came_in),
        quarantined=report.quarantined + sum(sweep["quarantined"] for sweep in came_in),
        flagged=report.flagged + sum(sweep["flagged"] for sweep in came_in),
        problems=tuple(problems),
    )


def _readable(landing: Landing, first: date, last: date) -> tuple[list[LandedSweep], list[str]]:
    """Return the sweeps of the days, and what is wrong with those that cannot be read."""
    problems: list[str] = []
    sweeps = landing.sweeps(first, last, lambda error: problems.append(str(error)))
    return sweeps, sorted(problems)


def _refuse_other_market(settings: Settings, sweeps: Iterable[LandedSweep]) -> None:
    for sweep in sweeps:
        if sweep.manifest.market != settings.market:
            raise OtherMarketError(
                f"{settings.landing_dir} holds the {sweep.manifest.market} market "
                f"(sweep {sweep.manifest.sweep_id}), the settings say {settings.market}; "
                "give each market its own TOKENTAPE_DATA_DIR"
            )


def _nothing_landed(
    settings: Settings, first: date, last: date, problems: Sequence[str]
) -> NothingLandedError:
    if problems:
        return NothingLandedError(problems[0])
    days = f"{first}" if first == last else f"{first} to {last}"
    return NothingLandedError(
        f"landing holds no sweep of {days} ({settings.landing_dir}); the past cannot be pulled, "
        "only today can: run `tokentape sync`"
    )
