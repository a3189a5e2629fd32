"""What landing holds of probes: starts, manifests, and how a record becomes a line of JSON.

A line is an object with one key: ``transcript``, ``batch`` or ``self_check``.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from decimal import Decimal

from pydantic import AwareDatetime

from pipeline.landing.sealed import Begun, Landed
from pipeline.landing.sealing import line_of
from pipeline.probes.records import BatchRecord, SelfCheck
from pipeline.probes.transcript import Transcript

ProbeRecord = Transcript | BatchRecord | SelfCheck


class ProbeRunStart(Begun):
    """What is known of a run when it begins; the configuration holds no key."""

    run_id: str
    region: str | None
    config_json: str
    engine_json: str


class ProbeRunManifest(ProbeRunStart):
    """What a sealed run holds; sha256 and size are of ``records.jsonl.gz`` as it is on disk.

    ``requests`` counts all that were planned, warm-ups and those never sent included; ``ok`` those
    of them that went well. ``cost_usd`` is the sum of what providers reported, None when none did.
    ``problems`` say in one line each what was not measured.
    """

    finished_at_utc: AwareDatetime
    is_interrupted: bool
    requests: int
    ok: int
    batches: int
    cost_usd: Decimal | None
    problems: tuple[str, ...]
    records_sha256: str
    records_bytes: int


# A sealed run and its folder.
LandedProbeRun = Landed[ProbeRunManifest]


def transcript_line(transcript: Transcript) -> bytes:
    """Return ``transcript`` as one line."""
    return b'{"transcript":' + transcript.to_line().rstrip() + b"}\n"


def batch_line(batch: BatchRecord) -> bytes:
    """Return ``batch`` as one line."""
    return line_of({"batch": asdict(batch)})


def self_check_line(check: SelfCheck) -> bytes:
    """Return ``check`` as one line."""
    return line_of({"self_check": asdict(check)})


def read_line(line: bytes) -> ProbeRecord:
    """Return what one of the above wrote; ``ValueError`` for a torn line."""
    ((key, value),) = json.loads(line).items()
    match key:
        case "transcript":
            return Transcript.from_record(value)
        case "batch":
            return BatchRecord(**value)
        case "self_check":
            return SelfCheck(**value)
    raise ValueError(f"a line of a probe run is none of ours: {key}")
