"""Bring the scores of all files into the warehouse, every name matched with a model or with none.

Everything is made anew each time: the files are few and small, and a model that was listed since,
or an alias that was added, may match a name that had no match.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from datetime import datetime

import polars as pl

from pipeline.duck import Database
from pipeline.landing import CorruptLandingError
from pipeline.raw_tables import ColumnTypes, frame_of
from pipeline.scores.aliases import (
    BUNDLED_ALIASES,
    USER_ALIASES,
    Alias,
    ScoreAliasError,
    load_aliases,
    read_aliases,
)
from pipeline.scores.bundled import BUNDLED, bundled_scores, known_sources
from pipeline.scores.cells import ScoreFileError
from pipeline.scores.contract import SCORE_COLUMNS
from pipeline.scores.landing import ScoreLanding
from pipeline.scores.names import KnownModel, NameMatcher
from pipeline.scores.reading import read_scores
from pipeline.settings import Settings

log = logging.getLogger("tokentape")

_ROWS: ColumnTypes = {
    "file_id": pl.String,
    "landed_at_utc": pl.Datetime("us", "UTC"),
    **SCORE_COLUMNS,
}
_NAMES: ColumnTypes = dict.fromkeys(
    ("source", "source_name", "model_id", "matched_by", "kind", "variant", "reason"), pl.String
)
_SOURCES: ColumnTypes = dict.fromkeys(
    ("source", "title", "source_url", "licence", "citation"), pl.String
)


def load_scores(database: Database, settings: Settings) -> None:
    """Fill ``raw.score_rows``, ``raw.score_names`` and ``raw.score_sources``, in one transaction.

    What cannot be used, an import that is damaged or a file of aliases with a mistake, is logged
    and left out: it must not keep the market from being published.
    """
    rows = pl.concat(_frames(settings))
    names = rows.select("source", "source_name").unique().sort("source", "source_name").rows()
    matcher = NameMatcher(_known_models(database), _aliases(settings))
    matches = [
        {"source": source, "source_name": name, **asdict(matcher.match(source, name))}
        for source, name in names
    ]
    with database.transaction():
        for table, frame in (
            ("score_rows", rows),
            ("score_names", frame_of(matches, _NAMES)),
            ("score_sources", frame_of(list(known_sources().values()), _SOURCES)),
        ):
            database.execute(f"delete from raw.{table}")
            database.insert(f"raw.{table}", frame)


def _frames(settings: Settings) -> Iterator[pl.DataFrame]:
    yield _of_file(bundled_scores().rows, BUNDLED, None)
    landing = ScoreLanding(settings.landing_dir)
    for found in landing.imports(on_corrupt=_log_left_out):
        try:
            scores = read_scores(
                landing.body(found),
                found.kind,
                # The day of the import, so that a later load reads the same.
                today=found.imported_at_utc.date(),
                taken_sources=known_sources(),
            )
        except (CorruptLandingError, ScoreFileError) as error:
            _log_left_out(error)
        else:
            yield _of_file(scores.rows, found.import_id, found.imported_at_utc)


def _of_file(rows: pl.DataFrame, file_id: str, landed_at_utc: datetime | None) -> pl.DataFrame:
    return rows.with_columns(
        pl.lit(file_id, pl.String).alias("file_id"),
        pl.lit(landed_at_utc, pl.Datetime("us", "UTC")).alias("landed_at_utc"),
    ).select(*_ROWS)


def _known_models(database: Database) -> Iterable[KnownModel]:
    # Neither an alias (~author/x-latest) nor a router is a model that was scored.
    rows = database.rows(
        "select model_id, max_by(canonical_slug, observed_at_utc), "
        "max_by(hugging_face_id, observed_at_utc) "
        "from raw.models where kind = 'standard' group by model_id"
    )
    return (KnownModel(*row) for row in rows)


def _aliases(settings: Settings) -> dict[tuple[str, str], Alias]:
    try:
        return load_aliases(settings.data_dir / USER_ALIASES)
    except ScoreAliasError as error:
        _log_left_out(error)
        return read_aliases(BUNDLED_ALIASES)


def _log_left_out(error: Exception) -> None:
    log.warning("scores: left out: %s", error)
