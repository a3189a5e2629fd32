"""The way of one table's records: read, held against the contract, taken in or put aside."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

import polars as pl

from pipeline.contracts.rules import Contract, Rule
from pipeline.exact_json import write_json
from pipeline.landing import SweepManifest
from pipeline.market.keys import UnknownKeys
from pipeline.market.rows import ReadRecord, UnreadableError
from pipeline.raw_tables import frame_of


@dataclass(frozen=True)
class TableKind:
    """What tells one table's intake from another's.

    ``answer_kind`` is the name of its records in the counts of unknown keys, ``name_keys`` are
    the keys by which a record calls itself, within its model if it ``is_part_of_model``.
    """

    table_name: str
    answer_kind: str
    contract: Contract
    name_keys: tuple[str, ...]
    is_part_of_model: bool = False


class _Taken(NamedTuple):
    record: Any
    model_id: str | None
    observed_at_utc: datetime
    read: ReadRecord


class Intake:
    """Collects the records of one table in one sweep; ``close`` returns the accepted rows.

    ``quarantine`` and ``flags`` are rows of those raw tables.
    """

    def __init__(self, kind: TableKind, manifest: SweepManifest, unknown_keys: UnknownKeys) -> None:
        self.quarantine: list[dict[str, Any]] = []
        self.flags: list[dict[str, Any]] = []
        self._kind = kind
        self._of_sweep = {
            "sweep_id": manifest.sweep_id,
            "partition_date": manifest.partition_date,
        }
        self._unknown_keys = unknown_keys
        self._taken: list[_Taken] = []

    def take(
        self,
        record: Any,
        observed_at_utc: datetime,
        read: Callable[[Any], ReadRecord],
        model_id: str | None = None,
    ) -> dict[str, Any] | None:
        """Take in one record; returns its row, or None when it could not be read.

        ``model_id`` is the model that it belongs to, if any.
        """
        try:
            found = read(record)
        except UnreadableError as error:
            self._refuse(record, model_id, observed_at_utc, error.rule, str(error))
            return None
        found.row.update(self._of_sweep, observed_at_utc=observed_at_utc)
        self._unknown_keys.count_answer(self._kind.answer_kind, found.answer)
        self._taken.append(_Taken(record, model_id, observed_at_utc, found))
        return found.row

    def close(self, also: Iterable[Rule] = ()) -> pl.DataFrame:
        """Hold all rows taken in against the contract and return the accepted ones, in order."""
        contract = self._kind.contract
        frame = frame_of([taken.read.row for taken in self._taken], contract.columns)
        verdict = contract.enforce(frame, also=also)
        refused = {finding.position for finding in verdict.refused}
        for finding in verdict.refused:
            taken = self._taken[finding.position]
            self._refuse(
                taken.record, taken.model_id, taken.observed_at_utc, finding.rule, finding.detail
            )
        for position, taken in enumerate(self._taken):
            if position not in refused:
                for rule, detail in taken.read.notes:
                    self._flag(taken, rule, detail)
        for finding in verdict.flags:
            self._flag(self._taken[finding.position], finding.rule, finding.detail)
        return verdict.accepted

    def _refuse(
        self, record: Any, model_id: str | None, observed_at_utc: datetime, rule: str, reason: str
    ) -> None:
        self.quarantine.append(
            {
                **self._of_sweep,
                "observed_at_utc": observed_at_utc,
                "table_name": self._kind.table_name,
                "model_id": model_id,
                "row_key": self._row_key(record, model_id),
                "rule": rule,
                "reason": reason,
                "record_json": write_json(record),
            }
        )

    def _flag(self, taken: _Taken, rule: str, detail: str) -> None:
        ordinal = taken.read.row.get("endpoint_ordinal", 1)
        row_key = self._row_key(taken.record, taken.model_id)
        self.flags.append(
            {
                **self._of_sweep,
                "observed_at_utc": taken.observed_at_utc,
                "table_name": self._kind.table_name,
                "row_key": row_key if ordinal == 1 else f"{row_key} | {ordinal}",
                "rule": rule,
                "detail": detail,
            }
        )

    def _row_key(self, record: Any, model_id: str | None) -> str:
        says = record if isinstance(record, dict) else {}
        names = [str(says.get(key)) for key in self._kind.name_keys]
        parts = [str(model_id), *names] if self._kind.is_part_of_model else names
        return " | ".join(" ".join(part.split())[:200] for part in parts)
