"""What landing holds: answers, failures and manifests, and how an answer becomes a line of JSON."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import AwareDatetime

from pipeline.landing.sealed import Begun, Landed
from pipeline.landing.sealing import line_of


@dataclass(frozen=True)
class Answer:
    """One HTTP answer as it came; ``body`` is what was left after transfer and content decoding.

    ``request`` is path and query below the base URL, ``subject`` the model id asked for (None for
    the lists), ``attempt`` counts from 1, ``headers`` are the few worth keeping, in lower case.
    """

    request: str
    subject: str | None
    attempt: int
    status: int
    arrived_at_utc: datetime
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class RequestFailure:
    """A request that gave up, with or without an answer; ``reason`` is one line."""

    request: str
    subject: str | None
    reason: str


class SweepStart(Begun):
    """What is known of a sweep when it begins."""

    sweep_id: str
    base_url: str
    is_authenticated: bool


class SweepManifest(SweepStart):
    """What a sealed sweep holds; sha256 and size are of ``answers.jsonl.gz`` as it is on disk."""

    finished_at_utc: AwareDatetime
    is_interrupted: bool
    answers: int
    failures: list[RequestFailure]
    answers_sha256: str
    answers_bytes: int


# A sealed sweep and its folder.
LandedSweep = Landed[SweepManifest]


def answer_line(answer: Answer) -> bytes:
    """Return ``answer`` as one line; a body that is not UTF-8 goes in as base64."""
    record: dict[str, Any] = {
        "request": answer.request,
        "subject": answer.subject,
        "attempt": answer.attempt,
        "status": answer.status,
        "arrived_at_utc": answer.arrived_at_utc.isoformat(),
        "headers": answer.headers,
    }
    try:
        record["body"] = answer.body.decode("utf-8")
    except UnicodeDecodeError:
        record["body_base64"] = base64.b64encode(answer.body).decode("ascii")
    return line_of(record)


def failure_line(failure: RequestFailure) -> bytes:
    """Return ``failure`` as one line, told from an answer by its key ``failure``."""
    return line_of(
        {"request": failure.request, "subject": failure.subject, "failure": failure.reason}
    )


def read_line(line: bytes) -> Answer | RequestFailure:
    """Return what ``answer_line`` or ``failure_line`` wrote; ``ValueError`` for a torn line."""
    record = json.loads(line)
    if "failure" in record:
        return RequestFailure(record["request"], record["subject"], record["failure"])
    body = record.get("body")
    return Answer(
        request=record["request"],
        subject=record["subject"],
        attempt=record["attempt"],
        status=record["status"],
        arrived_at_utc=datetime.fromisoformat(record["arrived_at_utc"]),
        headers=record["headers"],
        body=base64.b64decode(record["body_base64"]) if body is None else body.encode("utf-8"),
    )
