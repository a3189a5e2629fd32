"""What a snapshot is made from: the marts, of which market, as of which sweep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from pipeline.duck import Database
from pipeline.publishing.history import MONTHLY_MART
from pipeline.publishing.manifest import LATEST_SWEEPS_NAMED, SourceSweeps
from pipeline.publishing.marts import Mart, MartsError, find_marts

if TYPE_CHECKING:
    from pipeline.sql_models import SqlModel

# Others are published as well; without these there is no model file, no index, no time.
NEEDED = frozenset(
    (
        "market_table",
        "model_facts",
        "price_history",
        "probe_summary",
        "provider_table",
        "sweep_log",
        MONTHLY_MART,
    )
)


@dataclass(frozen=True)
class Source:
    """``marts`` and the SQL ``models`` that made them, by name, and the sweeps behind them."""

    marts: Mapping[str, Mart]
    models: Mapping[str, SqlModel]
    market: str
    as_of_utc: datetime
    sweeps: SourceSweeps


def read_source(database: Database, market: str, models: Sequence[SqlModel]) -> Source:
    """Look up what there is to publish; raises ``MartsError`` when that is not enough."""
    marts = find_marts(database)
    missing = sorted(NEEDED - marts.keys())
    if missing:
        raise MartsError(f"mart {missing[0]} is missing; build the SQL models first")
    sweep_log = marts["sweep_log"].relation
    # A failed sweep brought no market: it is logged, but nothing is as of it.
    as_of_utc = database.value(
        f"select max(started_at_utc) from {sweep_log} where status <> 'failed'"
    )
    if as_of_utc is None:
        raise MartsError("there is no sweep to publish; run `tokentape sync` first")
    latest = database.rows(
        f"select sweep_id from {sweep_log} order by started_at_utc desc, sweep_id desc "
        f"limit {LATEST_SWEEPS_NAMED}"
    )
    return Source(
        marts=marts,
        models={model.name: model for model in models if model.schema == "marts"},
        market=market,
        as_of_utc=as_of_utc,
        sweeps=SourceSweeps(
            count=database.value(f"select count(*) from {sweep_log}"),
            latest=tuple(row[0] for row in latest),
        ),
    )
