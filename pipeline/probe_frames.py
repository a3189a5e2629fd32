"""A landed probe run as frames of the raw tables; pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import polars as pl

from pipeline import raw_tables
from pipeline.contracts.probe_requests import PROBE_REQUESTS
from pipeline.landing.probe_records import ProbeRecord, ProbeRunManifest
from pipeline.probes.reading import read_sample
from pipeline.probes.records import BatchRecord, SelfCheck
from pipeline.probes.sample import Sample
from pipeline.probes.throughput import steady_window
from pipeline.probes.transcript import Transcript
from pipeline.raw_tables import frame_of


@dataclass(frozen=True)
class ProbeRunFrames:
    """The rows of one run, by raw table; ``requests`` are those that keep the contract."""

    run: pl.DataFrame
    batches: pl.DataFrame
    requests: pl.DataFrame
    self_checks: pl.DataFrame
    quarantine: pl.DataFrame

    def tables(self) -> dict[str, pl.DataFrame]:
        """Return the frames by name of their table in schema ``raw``."""
        return {
            "probe_runs": self.run,
            "probe_batches": self.batches,
            "probe_requests": self.requests,
            "probe_self_checks": self.self_checks,
            "quarantine": self.quarantine,
        }


def read_probe_run(manifest: ProbeRunManifest, records: Iterable[ProbeRecord]) -> ProbeRunFrames:
    """Read the samples of a run and hold them against their contract."""
    of_run: dict[str, Any] = {"run_id": manifest.run_id, "partition_date": manifest.partition_date}
    samples: list[Sample] = []
    batches: list[BatchRecord] = []
    checks: list[SelfCheck] = []
    for record in records:
        match record:
            case Transcript():
                samples.append(read_sample(record))
            case BatchRecord():
                batches.append(record)
            case SelfCheck():
                checks.append(record)
    rows = [vars(sample) | of_run for sample in samples]
    verdict = PROBE_REQUESTS.enforce(frame_of(rows, raw_tables.PROBE_REQUESTS))
    return ProbeRunFrames(
        run=frame_of([_run_row(manifest)], raw_tables.PROBE_RUNS),
        batches=frame_of(_batch_rows(batches, samples, of_run), raw_tables.PROBE_BATCHES),
        requests=verdict.accepted,
        self_checks=frame_of(
            [asdict(check) | of_run for check in checks], raw_tables.PROBE_SELF_CHECKS
        ),
        quarantine=frame_of(
            [
                _quarantine_row(samples[found.position], manifest, found.rule, found.detail)
                for found in verdict.refused
            ],
            raw_tables.QUARANTINE,
        ),
    )


def _run_row(manifest: ProbeRunManifest) -> dict[str, Any]:
    return manifest.model_dump() | {
        "problems_json": json.dumps(manifest.problems),
        "landing_sha256": manifest.records_sha256,
    }


def _batch_rows(
    batches: Iterable[BatchRecord], samples: Sequence[Sample], of_run: dict[str, Any]
) -> list[dict[str, Any]]:
    samples_of: dict[int, list[Sample]] = {}
    for sample in samples:
        samples_of.setdefault(sample.batch, []).append(sample)
    rows = []
    for batch in batches:
        tokens, seconds = steady_window(samples_of.get(batch.batch, ())) or (None, None)
        rows.append(
            asdict(batch)
            | of_run
            | {
                "started_at_utc": datetime.fromisoformat(batch.started_at_utc),
                "window_tokens": tokens,
                "window_s": seconds,
            }
        )
    return rows


def _quarantine_row(
    sample: Sample, manifest: ProbeRunManifest, rule: str, reason: str
) -> dict[str, Any]:
    return {
        # One table for all that was kept out: a run stands where other records have a sweep.
        "sweep_id": manifest.run_id,
        "partition_date": manifest.partition_date,
        "observed_at_utc": sample.sent_at_utc or sample.scheduled_at_utc,
        "table_name": "probe_requests",
        "model_id": sample.model_id,
        "row_key": sample.request_id,
        "rule": rule,
        "reason": reason,
        "record_json": json.dumps(sample.to_record()),
    }
