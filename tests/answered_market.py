"""Write small sweeps as answers of the source, the way landing hands them out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any

from pipeline.landing import Answer, RequestFailure, SweepManifest
from pipeline.market import MarketBatch, read_market
from pipeline.sources.openrouter import endpoints_request

MODEL = "acme/small-8b"
ARRIVED = datetime(2026, 11, 30, 6, 17, 5, tzinfo=UTC)
FINISHED = datetime(2026, 11, 30, 6, 18, tzinfo=UTC)


def model(model_id: str = MODEL, **changes: Any) -> dict[str, Any]:
    """Describe one entry of the model list, complete and unsurprising."""
    entry = {
        "id": model_id,
        "canonical_slug": f"{model_id}-20260901",
        "hugging_face_id": "Acme/Small-8B",
        "name": "Acme: Small 8B",
        "created": 1788220800,
        "description": "A small model.",
        "context_length": 131072,
        "architecture": {
            "modality": "text->text",
            "input_modalities": ["text"],
            "output_modalities": ["text"],
            "tokenizer": "Other",
            "instruct_type": None,
        },
        "pricing": {"prompt": "0.00000005", "completion": "0.00000008"},
        "top_provider": {
            "context_length": 131072,
            "max_completion_tokens": 16384,
            "is_moderated": False,
        },
        "per_request_limits": None,
        "supported_parameters": ["max_tokens", "temperature"],
        "default_parameters": {},
        "supported_voices": None,
        "knowledge_cutoff": None,
        "expiration_date": None,
        "links": {"details": f"/api/v1/models/{model_id}-20260901/endpoints"},
    }
    return entry | changes


def endpoint(provider_name: str = "Acme", tag: str = "acme", **changes: Any) -> dict[str, Any]:
    """Describe one endpoint of a model, complete and unsurprising."""
    entry = {
        "name": f"{provider_name} | {MODEL}-20260901",
        "model_id": MODEL,
        "model_name": "Acme: Small 8B",
        "context_length": 131072,
        "pricing": {"prompt": "0.00000005", "completion": "0.00000008", "discount": 0},
        "provider_name": provider_name,
        "tag": tag,
        "quantization": "fp8",
        "max_completion_tokens": 16384,
        "max_prompt_tokens": None,
        "supported_parameters": ["max_tokens"],
        "status": 0,
        "uptime_last_5m": None,
        "uptime_last_30m": 99.97,
        "uptime_last_1d": 100,
        "supports_implicit_caching": False,
        "latency_last_30m": None,
        "throughput_last_30m": None,
    }
    return entry | changes


def provider(name: str = "Acme", slug: str = "acme", **changes: Any) -> dict[str, Any]:
    """Describe one entry of the provider list."""
    entry = {
        "name": name,
        "slug": slug,
        "privacy_policy_url": "https://acme.example/privacy",
        "terms_of_service_url": None,
        "status_page_url": None,
        "headquarters": "US",
        "datacenters": ["US", "DE"],
    }
    return entry | changes


def answer(
    request: str,
    payload: Any,
    *,
    subject: str | None = None,
    status: int = 200,
    attempt: int = 1,
    arrived_at_utc: datetime = ARRIVED,
) -> Answer:
    """Give ``payload`` (bytes as they are, else as JSON) as one HTTP answer."""
    body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    return Answer(request, subject, attempt, status, arrived_at_utc, {}, body)


def models_answer(
    entries: Sequence[Any],
    request: str = "/models",
    *,
    arrived_at_utc: datetime = ARRIVED,
    **beside: Any,
) -> Answer:
    """Give a page of the model list, with what stands ``beside`` it."""
    payload = {"data": list(entries), **beside}
    return answer(request, payload, arrived_at_utc=arrived_at_utc)


def providers_answer(entries: Sequence[Any] = (provider(),)) -> Answer:
    """Give the provider list."""
    return answer("/providers", {"data": list(entries)})


def endpoints_answer(
    endpoints: Sequence[Any], model_id: str = MODEL, *, says: str | None = None, **how: Any
) -> Answer:
    """Give the endpoint list of ``model_id``; ``says`` is the id inside when it is another."""
    data = {"id": says or model_id, "name": "Acme: Small 8B", "endpoints": list(endpoints)}
    return answer(endpoints_request(model_id), {"data": data}, subject=model_id, **how)


def sweep(
    endpoints: Mapping[str, Sequence[Any]], providers: Sequence[Any] = (provider(),)
) -> list[Answer]:
    """Give a whole sweep over models with the given endpoints."""
    return [
        models_answer([model(model_id) for model_id in endpoints]),
        providers_answer(providers),
        *(endpoints_answer(offers, model_id) for model_id, offers in endpoints.items()),
    ]


def manifest(failures: Iterable[RequestFailure] = (), **changes: Any) -> SweepManifest:
    """Describe a sealed sweep of 2026-11-30."""
    fields = {
        "sweep_id": "20261130T061700Z-00000001",
        "partition_date": date(2026, 11, 30),
        "started_at_utc": datetime(2026, 11, 30, 6, 17, tzinfo=UTC),
        "finished_at_utc": FINISHED,
        "market": "live",
        "base_url": "https://openrouter.ai/api/v1",
        "is_authenticated": False,
        "is_interrupted": False,
        "answers": 0,
        "failures": list(failures),
        "answers_sha256": "0" * 64,
        "answers_bytes": 0,
    }
    return SweepManifest.model_validate(fields | changes)


def read(answers: Iterable[Answer], failures: Iterable[RequestFailure] = ()) -> MarketBatch:
    """Read answers as the answers of that sweep."""
    return read_market(manifest(failures), answers, "0" * 64)
