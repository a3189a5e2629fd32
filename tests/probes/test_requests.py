"""The HTTP request of an ask: what is in it, and what never is."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from probe_plans import config_of, target
from probe_transcripts import ASK

from pipeline.probes.config import Target
from pipeline.probes.exchange import Deadlines, EngineRequest
from pipeline.probes.requests import request_of

DEADLINES = Deadlines(connect_s=10, idle_s=60, total_s=120)
MESSAGES = [{"role": "user", "content": "[c0ffee] Über allen Gipfeln"}]


def asked(
    *, key: str | None = "k-123", asks_for_usage: bool = True, temperature: float | None = 0.0,
    **more: Any,
) -> EngineRequest:  # fmt: skip
    found: Target = config_of(target(**more)).providers[0]
    ask = replace(ASK, requested_model=found.model, temperature=temperature)
    return request_of(
        ask,
        MESSAGES,
        found,
        url=found.completions_url({}),
        key=key,
        deadlines=DEADLINES,
        asks_for_usage=asks_for_usage,
    )


def body(request: EngineRequest) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(request.body)
    return found


def test_a_direct_provider_is_asked_as_openai_is() -> None:
    request = asked(base_url="https://api.groq.com/openai/v1", model="llama-3.1-8b-instant")

    assert request.url == "https://api.groq.com/openai/v1/chat/completions"
    assert body(request) == {
        "model": "llama-3.1-8b-instant",
        "messages": MESSAGES,
        "stream": True,
        "max_tokens": 300,
        "temperature": 0.0,
        "stream_options": {"include_usage": True},
    }
    assert request.headers.pop("User-Agent").startswith("tokentape-probe/")
    assert request.headers == {
        "Accept": "text/event-stream",
        "Accept-Encoding": "identity",
        "Content-Type": "application/json",
        "Authorization": "Bearer k-123",
    }


def test_openrouter_is_pinned_to_one_endpoint_and_must_not_answer_from_its_cache() -> None:
    request = asked(base_url="https://openrouter.ai/api/v1", provider={"only": ["deepinfra/bf16"]})

    assert body(request)["provider"] == {"only": ["deepinfra/bf16"], "allow_fallbacks": False}
    assert request.headers["X-OpenRouter-Cache"] == "false"


def test_more_keys_of_the_body_go_with_it() -> None:
    request = asked(extra_body={"reasoning": {"effort": "low"}})

    assert body(request)["reasoning"] == {"effort": "low"}


def test_a_limit_of_tokens_is_always_sent_and_a_temperature_if_there_is_one() -> None:
    request = asked(temperature=None)

    assert body(request)["max_tokens"] == 300
    assert "temperature" not in body(request)


def test_a_target_that_refuses_stream_options_is_asked_without() -> None:
    assert "stream_options" not in body(asked(asks_for_usage=False))


def test_without_a_key_there_is_no_authorization() -> None:
    assert "Authorization" not in asked(key=None).headers


def test_certificates_of_a_target_and_the_deadlines_go_to_the_engine(tmp_path: Path) -> None:
    ca_file = tmp_path / "ca.pem"
    ca_file.touch()

    request = asked(ca_file=str(ca_file))

    assert request.ca_file == str(ca_file)
    assert request.deadlines == DEADLINES
