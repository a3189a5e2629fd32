"""The steps of the main job, usable without Dagster: land, load, build, publish."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline import publishing
from pipeline.building import BuildResult, are_up_to_date, build_all
from pipeline.landing import CorruptLandingError, LandedSweep, Landing
from pipeline.loading import (
    Loaded,
    LoadReport,
    NothingLandedError,
    count_by_day,
    load_new,
    nothing_landed,
    readable,
    refuse_other_market,
)
from pipeline.progress import Progress
from pipeline.settings import Settings
from pipeline.sources.sweeping import land_sweep
from pipeline.sql_models import SqlModel
from pipeline.warehouse import Warehouse, open_warehouse

if TYPE_CHECKING:
    from pipeline.market import MarketBatch

# Answers are parsed without the warehouse's lock; so many sweeps then go in under one hold of it.
SWEEPS_PER_HOLD = 10
REMEDY = "the past cannot be pulled, only today can: run `tokentape sync`"

Clock = Callable[[], datetime]


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
        refuse_other_market(settings, [newest] if newest is not None else [], "sweep")
    return land_sweep(settings, landing, now=now, progress=progress)


def landed_days(settings: Settings, first: date, last: date) -> dict[date, int]:
    """Return the days from ``first`` to ``last`` that landing holds, with their sweeps counted.

    What an interrupted run left behind is sealed first, and counts. Raises
    ``NothingLandedError`` when there is none.
    """
    landing = Landing(settings.landing_dir)
    landing.recover(utc_now())
    sweeps, problems = readable(landing.sweeps, first, last)
    if not sweeps:
        raise nothing_landed(settings, (first, last), problems, "sweep", REMEDY)
    return count_by_day(sweeps)


def load_landed(settings: Settings, first: date, last: date) -> LoadReport:
    """Bring the landed sweeps of the days ``first`` to ``last`` into the warehouse, oldest first.

    A sweep that is in already is left alone. A damaged one is reported and left out; the others
    go in. Raises ``NothingLandedError`` when there is no readable sweep, ``OtherMarketError``, and
    the warehouse's own errors.
    """
    # polars and the contracts take a second to import, and Dagster imports this module to draw its
    # graph.
    from pipeline.market import read_market  # noqa: PLC0415

    landing = Landing(settings.landing_dir)
    landing.recover(utc_now())
    sweeps, problems = readable(landing.sweeps, first, last)
    refuse_other_market(settings, sweeps, "sweep")

    def read(sweep: LandedSweep) -> MarketBatch:
        return read_market(sweep.manifest, landing.answers(sweep), sweep.manifest.answers_sha256)

    report = load_new(
        settings,
        sweeps,
        per_hold=SWEEPS_PER_HOLD,
        ids_in=Warehouse.loaded_sweep_ids,
        read=read,
        bring_in=_bring_in,
    )
    problems += report.problems
    if not report.loaded and not report.known:
        raise nothing_landed(settings, (first, last), problems, "sweep", REMEDY)
    return replace(report, problems=tuple(problems))


def build(settings: Settings, models: Sequence[SqlModel]) -> list[BuildResult]:
    """Bring ``models``, which are all SQL models in order, up to date."""
    with open_warehouse(settings) as warehouse:
        return build_all(warehouse.database, models)


def publish(
    settings: Settings, models: Sequence[SqlModel], now: datetime, folder: Path | None = None
) -> publishing.Snapshot:
    """Publish the marts below ``folder``, by default the data folder's; all of one state.

    ``models`` are all SQL models; those that are behind are built first. What comes from files that
    are kept by hand, offers and scores, is read anew.

    Raises ``NothingLandedError`` when the warehouse holds no sweep.
    """
    # They need the contracts, which take a second to import.
    from pipeline.offers.loading import load_offers  # noqa: PLC0415
    from pipeline.scores.loading import load_scores  # noqa: PLC0415

    with open_warehouse(settings) as warehouse:
        if not warehouse.loaded_sweep_ids():
            raise NothingLandedError(
                "there is nothing to publish: the warehouse holds no sweep; run `tokentape sync`"
            )
        load_offers(warehouse.database, settings)
        load_scores(warehouse.database, settings)
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


def _bring_in(warehouse: Warehouse, batch: MarketBatch) -> Loaded | None:
    if not warehouse.load(batch):
        return None
    sweep = batch.sweep.row(0, named=True)
    return Loaded(sweep["sweep_id"], sweep["endpoints"], sweep["quarantined"], sweep["flagged"])
