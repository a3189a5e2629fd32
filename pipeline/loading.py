"""From landing into the warehouse, for landed folders of any kind: which there are, how they go in.

``what`` names a kind in messages: ``sweep`` or ``probe``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TypeVar

from pipeline.landing import CorruptLandingError
from pipeline.landing.sealed import Landed, Manifest, OnCorrupt
from pipeline.settings import Settings
from pipeline.warehouse import Warehouse, open_warehouse

Batch = TypeVar("Batch")


class StepError(Exception):
    """A step cannot be done; one line says why and what helps."""


class NothingLandedError(StepError):
    """Landing holds nothing of the days asked for."""


class OtherMarketError(StepError):
    """The data folder holds another market than the settings name."""


@dataclass(frozen=True)
class Loaded:
    """A folder that came in: how many rows it is measured by, how many were odd."""

    id: str
    rows: int
    quarantined: int
    flagged: int = 0


@dataclass(frozen=True)
class LoadReport:
    """What a load did: what came in, how many folders were in already, and what went wrong."""

    came_in: tuple[Loaded, ...] = ()
    known: int = 0
    problems: tuple[str, ...] = ()

    @property
    def loaded(self) -> tuple[str, ...]:
        """Ids of the folders that came in, oldest first."""
        return tuple(folder.id for folder in self.came_in)

    @property
    def rows(self) -> int:
        """Rows that came in: endpoints of sweeps, requests of probes."""
        return sum(folder.rows for folder in self.came_in)

    @property
    def quarantined(self) -> int:
        """Records that were kept out."""
        return sum(folder.quarantined for folder in self.came_in)

    @property
    def flagged(self) -> int:
        """Records that came in although they are surprising."""
        return sum(folder.flagged for folder in self.came_in)


def readable(
    listing: Callable[[date, date, OnCorrupt], list[Landed[Manifest]]], first: date, last: date
) -> tuple[list[Landed[Manifest]], list[str]]:
    """Return the folders of the days, and what is wrong with those that cannot be read."""
    problems: list[str] = []
    found = listing(first, last, lambda error: problems.append(str(error)))
    return found, sorted(problems)


def count_by_day(folders: Iterable[Landed[Manifest]]) -> dict[date, int]:
    """Return how many of ``folders`` there are of each day."""
    return dict(Counter(folder.manifest.partition_date for folder in folders))


def refuse_other_market(settings: Settings, folders: Iterable[Landed[Manifest]], what: str) -> None:
    """Raise ``OtherMarketError`` for a folder of another market than the settings'."""
    for folder in folders:
        if folder.manifest.market != settings.market:
            raise OtherMarketError(
                f"{settings.landing_dir} holds the {folder.manifest.market} market "
                f"({what} {folder.path.name}), the settings say {settings.market}; "
                "give each market its own TOKENTAPE_DATA_DIR"
            )


def nothing_landed(
    settings: Settings, days: tuple[date, date], problems: Sequence[str], what: str, remedy: str
) -> NothingLandedError:
    """Return the error that nothing of ``days``, first and last, can be had from landing."""
    if problems:
        return NothingLandedError(problems[0])
    first, last = days
    named = f"{first}" if first == last else f"{first} to {last}"
    return NothingLandedError(
        f"landing holds no {what} of {named} ({settings.landing_dir}); {remedy}"
    )


def load_new(
    settings: Settings,
    folders: Sequence[Landed[Manifest]],
    *,
    per_hold: int,
    ids_in: Callable[[Warehouse], set[str]],
    read: Callable[[Landed[Manifest]], Batch],
    bring_in: Callable[[Warehouse, Batch], Loaded | None],
) -> LoadReport:
    """Bring those of ``folders`` that are new into the warehouse, in their order.

    ``read`` is called without the warehouse's lock, for ``per_hold`` of them at a time; what it
    finds damaged is reported and left out. ``bring_in`` returns None for what is in already.
    """
    if not folders:
        return LoadReport()
    with open_warehouse(settings) as warehouse:
        in_already = ids_in(warehouse)
    new = [folder for folder in folders if folder.path.name not in in_already]
    came_in: list[Loaded] = []
    problems: list[str] = []
    for start in range(0, len(new), per_hold):
        batches: list[Batch] = []
        for folder in new[start : start + per_hold]:
            try:
                batches.append(read(folder))
            except CorruptLandingError as error:
                problems.append(str(error))
        with open_warehouse(settings) as warehouse:
            results = [bring_in(warehouse, batch) for batch in batches]
        came_in += [loaded for loaded in results if loaded is not None]
    known = len(folders) - len(came_in) - len(problems)
    return LoadReport(tuple(came_in), known, tuple(problems))
