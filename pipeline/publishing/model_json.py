"""One JSON file a model, and the list of all: what a program wants with a single request."""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path, PurePosixPath

from pipeline.duck import Database
from pipeline.publishing.marts import Mart
from pipeline.publishing.text_forms import json_object

INDEX_NAME = "models.json"
# One segment of a model id. The first character rules out "." and "..".
SAFE_SEGMENT = re.compile(r"[A-Za-z0-9_~][A-Za-z0-9_.:+@~-]{0,199}")

logger = logging.getLogger(__name__)


def model_path(model_id: str) -> PurePosixPath | None:
    """Return the place of a model's file below the snapshot; None for an id that is no path."""
    author, _, slug = model_id.partition("/")
    if not (SAFE_SEGMENT.fullmatch(author) and SAFE_SEGMENT.fullmatch(slug)):
        return None
    return PurePosixPath("models", author, f"{slug}.json")


def write_model_files(
    database: Database, marts: dict[str, Mart], folder: Path, *, market: str
) -> None:
    """Write ``models/<author>/<slug>.json`` for every model ever listed, below ``folder``.

    Each holds ``model`` (its facts), ``providers``, ``performance`` (what our probes measured) and
    ``price_history``, lists of rows. Nothing in it tells the time of publishing, so the file of a
    model that is gone stays the same.
    """
    facts = _rows_by_model(database, marts["model_facts"])
    providers = _rows_by_model(database, marts["provider_table"])
    performance = _rows_by_model(database, marts["probe_summary"])
    history = _rows_by_model(database, marts["price_history"])
    for model_id, model in facts.items():
        place = model_path(model_id)
        if place is None:
            logger.warning("model id %r cannot name a file; it has no JSON of its own", model_id)
            continue
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            f'{{"format":1,"market":{json.dumps(market)},"model":{model},\n'
            f'"providers":{_array(providers.get(model_id))},\n'
            f'"performance":{_array(performance.get(model_id))},\n'
            f'"price_history":{_array(history.get(model_id))}}}\n'
        )


def write_model_index(database: Database, market_table: Mart, path: Path, *, market: str) -> None:
    """Write ``models.json``: the rows of ``market_table``, one model listed now each."""
    rows = database.rows(
        f"select {json_object(market_table.columns)} from {market_table.relation} order by model_id"
    )
    models = _array(",\n".join(row[0] for row in rows) or None)
    path.write_text(f'{{"format":1,"market":{json.dumps(market)},"models":{models}}}\n')


def _rows_by_model(database: Database, mart: Mart) -> dict[str, str]:
    # The tables stand in their fixed order; rowid keeps it inside each model.
    rows = database.rows(
        f"select model_id, string_agg({json_object(mart.columns)}, e',\\n' order by rowid) "
        f"from {mart.relation} group by model_id order by model_id"
    )
    return dict(rows)


def _array(rows: str | None) -> str:
    return f"[\n{rows}\n]" if rows else "[]"
