"""Write answers of the hub of open weights, the way landing hands them out."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, date, datetime
from typing import Any

from pipeline.landing import Answer, RequestFailure, SweepManifest
from pipeline.sources.huggingface import card_request, config_request

REPOSITORY = "acme/Small-8B"
ARRIVED = datetime(2026, 11, 30, 6, 37, 5, tzinfo=UTC)


def card(repository: str = REPOSITORY, **changes: Any) -> dict[str, Any]:
    """Describe a repository, complete and unsurprising."""
    return {
        "id": repository,
        "gated": False,
        "pipeline_tag": "text-generation",
        "tags": ["transformers", "conversational", "license:apache-2.0"],
        "cardData": {"license": "apache-2.0"},
        "safetensors": {"parameters": {"BF16": 8_030_261_248}, "total": 8_030_261_248},
        "siblings": [{"rfilename": "config.json", "size": 900}],
        "downloads": 12,
    } | changes


def config(**changes: Any) -> dict[str, Any]:
    """Describe a ``config.json`` of a dense model."""
    return {
        "model_type": "llama",
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "hidden_size": 4096,
        "rms_norm_eps": 1e-05,
        "rope_scaling": {"factor": 8.0, "rope_type": "llama3"},
    } | changes


def card_answer(payload: Any, repository: str = REPOSITORY, **how: Any) -> Answer:
    """Give ``payload`` (bytes as they are, else as JSON) as the answer about a repository."""
    return _answer(card_request(repository), payload, repository, **how)


def config_answer(payload: Any, repository: str = REPOSITORY, **how: Any) -> Answer:
    """Give ``payload`` as the answer about its ``config.json``."""
    return _answer(config_request(repository), payload, repository, **how)


def _answer(
    request: str, payload: Any, repository: str, *, status: int = 200, code: str | None = None
) -> Answer:
    body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    headers = {} if code is None else {"x-error-code": code}
    return Answer(request, repository, 1, status, ARRIVED, headers, body)


def manifest(failures: Iterable[RequestFailure] = ()) -> SweepManifest:
    """Describe a sealed pull of 2026-11-30."""
    return SweepManifest(
        sweep_id="20261130T063700Z-00000001",
        partition_date=date(2026, 11, 30),
        started_at_utc=datetime(2026, 11, 30, 6, 37, tzinfo=UTC),
        finished_at_utc=datetime(2026, 11, 30, 6, 38, tzinfo=UTC),
        market="live",
        base_url="https://hub.test",
        is_authenticated=False,
        is_interrupted=False,
        answers=2,
        failures=list(failures),
        answers_sha256="0" * 64,
        answers_bytes=0,
    )
