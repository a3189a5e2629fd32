"""One published snapshot as the pages and routes ask it: its tables, files and manifest."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from pipeline.duck import Database
from pipeline.publishing.files import describe_file
from pipeline.publishing.manifest import MANIFEST_NAME, Manifest, PublishedFile
from pipeline.publishing.marts import Mart, find_marts
from pipeline.publishing.model_json import model_path
from pipeline.publishing.text_forms import csv_cell, json_object

# Below this likeness a suggestion is a guess that helps nobody.
LEAST_LIKENESS = 0.7


class Snapshot:
    """One published snapshot: it never changes, and any number of threads may read it.

    Frames are polars; prices come as Decimal, instants in UTC. The rows of a mart and their
    columns are those of the data dictionary.
    """

    def __init__(self, path: Path, manifest: Manifest, database: Database) -> None:
        self.path = path
        self.manifest_sha256 = describe_file(path / MANIFEST_NAME).sha256
        self._manifest = manifest
        self._database = database
        self._marts = find_marts(database, schema="main")

    @property
    def snapshot_id(self) -> str:
        """Return the id, the same for the same content."""
        return self._manifest.snapshot_id

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """Return the content of ``manifest.json``; instants are texts like 2026-11-30T06:17:00Z."""
        return self._manifest.model_dump(mode="json", exclude_none=True)

    def files(self) -> Mapping[str, PublishedFile]:
        """Return every file but the manifest, by its path below the snapshot."""
        return self._manifest.files

    def model_file(self, model_id: str) -> str | None:
        """Return the path of a model's JSON file below the snapshot; None for an unknown model."""
        place = model_path(model_id)
        return None if place is None or str(place) not in self.files() else str(place)

    def market_table(self) -> pl.DataFrame:
        """Return one row per model listed now, by model id."""
        return self._frame("market_table", order_by="model_id")

    def model_facts(self, model_id: str) -> dict[str, Any] | None:
        """Return the facts of a model that is or was listed, by column; None for another id."""
        found = self._of_model("model_facts", model_id, order_by="model_id")
        return None if found.is_empty() else found.row(0, named=True)

    def model_sizes(self) -> pl.DataFrame:
        """Return size, files and cheapest price of every model listed now, variants left out."""
        facts, market = (self._marts[name].relation for name in ("model_facts", "market_table"))
        return self._database.frame(
            "select model_id, facts.model_name, params_total_b, params_active_b, size_class, "
            "gguf_files_json, facts.created_utc, cheapest_input_usd_per_mtok, is_free "
            f"from {facts} as facts inner join {market} as market using (model_id) "
            "where facts.kind = 'standard' and facts.variant is null order by model_id"
        )

    def provider_table(self, model_id: str) -> pl.DataFrame:
        """Return one row per endpoint of a model, best first."""
        return self._of_model("provider_table", model_id, order_by="default_rank")

    def price_history(self, model_id: str) -> pl.DataFrame:
        """Return one row per endpoint of a model and span of unchanged listing, oldest first."""
        return self._of_model("price_history", model_id, order_by="valid_from_utc, endpoint_id")

    def uptime_history(self, model_id: str) -> pl.DataFrame:
        """Return what OpenRouter reported of a model's endpoints sweep by sweep, oldest first."""
        return self._of_model("uptime_history", model_id, order_by="observed_at_utc, endpoint_id")

    def probe_summary(self, model_id: str) -> pl.DataFrame:
        """Return what our probes measured of a model, a row per target, load and window."""
        return self._of_model("probe_summary", model_id, order_by="rowid")

    def performance_history(self, model_id: str) -> pl.DataFrame:
        """Return what each probe run measured of a model, oldest first."""
        return self._of_model("performance_history", model_id, order_by="started_at_utc, rowid")

    def probe_samples(self, model_id: str) -> pl.DataFrame:
        """Return the single requests of our probes of a model in the last 14 days, oldest first."""
        return self._of_model("probe_samples", model_id, order_by="sent_at_utc, rowid")

    def price_changes(self, model_id: str | None = None, limit: int = 100) -> pl.DataFrame:
        """Return the newest changes, of one model or of the whole market."""
        return self._frame(
            "price_changes",
            where="$model_id is null or model_id = $model_id",
            order_by="first_seen_new_utc desc, model_id, endpoint_id, field",
            limit=limit,
            parameters={"model_id": model_id},
        )

    def data_health(self) -> pl.DataFrame:
        """Return one row per check of the data."""
        return self._frame("data_health", order_by="check_name")

    def sweep_log(self, limit: int = 100) -> pl.DataFrame:
        """Return the newest sweeps first."""
        return self._frame("sweep_log", order_by="started_at_utc desc, sweep_id", limit=limit)

    def quarantine_log(self) -> pl.DataFrame:
        """Return the records kept out of the market, newest first."""
        return self._frame("quarantine_log", order_by="observed_at_utc desc, table_name, row_key")

    def flag_log(self) -> pl.DataFrame:
        """Return what was surprising in the latest sweep."""
        return self._frame("flag_log", order_by="rule, table_name, row_key")

    def suggest_models(self, text: str, limit: int = 5) -> list[str]:
        """Return the ids closest to ``text``: those that contain it first, then the most alike."""
        rows = self._database.rows(
            f"""
            with compared as (
                select
                    model_id,
                    is_listed,
                    contains(lower(model_id), lower(trim($text))) as is_part,
                    greatest(
                        jaro_winkler_similarity(lower(model_id), lower(trim($text))),
                        jaro_winkler_similarity(
                            lower(split_part(model_id, '/', 2)),
                            lower(split_part(trim($text), '/', -1))
                        )
                    ) as likeness
                from {self._marts["model_facts"].relation}
            )
            select model_id from compared where is_part or likeness >= $least
            order by is_part desc, likeness desc, is_listed desc, model_id limit $limit
            """,
            {"text": text, "least": LEAST_LIKENESS, "limit": limit},
        )
        return [row[0] for row in rows]

    def model_scores(self, model_id: str | None = None) -> pl.DataFrame:
        """Return the scores of a model, or of all, by source, metric and model."""
        return self._frame(
            "model_scores",
            where="$model_id is null or model_id = $model_id",
            order_by="source, metric, variant nulls first, model_id",
            parameters={"model_id": model_id},
        )

    def score_per_dollar(self, model_id: str) -> pl.DataFrame:
        """Return what a dollar buys of the scores of a model, by source and metric."""
        return self._of_model(
            "score_per_dollar",
            model_id,
            order_by="source, metric, variant nulls first, price_basis desc",
        )

    def current_endpoints(self) -> pl.DataFrame:
        """Return every endpoint of the market that is listed now, best of each model first."""
        return self._frame(
            "provider_table", where="not is_stale", order_by="model_id, default_rank"
        )

    def unmatched_names(self) -> pl.DataFrame:
        """Return the names in imported scores that stand for no model."""
        return self._frame("unmatched_names", order_by="first_seen_utc, source, source_name")

    def offers(self, model_id: str) -> pl.DataFrame:
        """Return the subscriptions that include a model, cheapest first."""
        return self._frame(
            "offers",
            where="$model_id glob model_pattern",
            order_by="usd_per_month, provider_name, plan",
            parameters={"model_id": model_id},
        )

    def provider_table_csv(self, model_id: str, endpoint_ids: Sequence[str] | None = None) -> str:
        """Return the provider table of a model as the published CSV has it, with the header.

        ``endpoint_ids`` choose rows and their order; without them it is the whole table.
        """
        mart = self._marts["provider_table"]
        cells = ", ".join(csv_cell(column) for column in mart.columns)
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(column.name for column in mart.columns)
        writer.writerows(self._provider_rows(mart, cells, model_id, endpoint_ids))
        return text.getvalue()

    def provider_table_json(self, model_id: str) -> str:
        """Return the provider table of a model as a JSON list, with exact numbers."""
        mart = self._marts["provider_table"]
        rows = self._provider_rows(mart, json_object(mart.columns), model_id)
        return "[" + ",\n".join(row[0] for row in rows) + "]\n"

    def _provider_rows(
        self,
        mart: Mart,
        selected: str,
        model_id: str,
        endpoint_ids: Sequence[str] | None = None,
    ) -> list[tuple[str, ...]]:
        sql = f"select {selected} from {mart.relation} where model_id = $model_id "
        if endpoint_ids is None:
            return self._database.rows(f"{sql} order by default_rank", {"model_id": model_id})
        return self._database.rows(
            f"{sql} and endpoint_id in $chosen order by list_position($chosen, endpoint_id)",
            {"model_id": model_id, "chosen": list(endpoint_ids)},
        )

    def _of_model(self, mart: str, model_id: str, *, order_by: str) -> pl.DataFrame:
        return self._frame(
            mart,
            where="model_id = $model_id",
            order_by=order_by,
            parameters={"model_id": model_id},
        )

    def _frame(
        self,
        mart: str,
        *,
        order_by: str,
        where: str = "true",
        limit: int | None = None,
        parameters: Mapping[str, object] | None = None,
    ) -> pl.DataFrame:
        bound = dict(parameters or {})
        sql = f"select * from {self._marts[mart].relation} where {where} order by {order_by}"
        if limit is not None:
            sql += " limit $limit"
            bound["limit"] = limit
        return self._database.frame(sql, bound)
