"""The sandbox provider as OpenRouter for the sandbox market, and its command."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
import requests
from click.testing import CliRunner

from pipeline.sandbox.market import Market
from pipeline.sandbox.provider.__main__ import main
from pipeline.sandbox.provider.ask import Ask
from pipeline.sandbox.provider.market_provider import MarketProvider
from pipeline.sandbox.provider.process import ProviderProcess
from pipeline.sandbox.provider.quirks import KINDS
from pipeline.sandbox.provider.script import Script
from pipeline.sandbox.provider.scripted import RefusedError

NOW = datetime(2026, 11, 30, 6, 17, tzinfo=UTC)
LLAMA = "meta-llama/llama-3.1-8b-instruct"
THINKER = "openai/gpt-oss-120b"


def script_for(model: str, pin: str | None = None, prompt: str = "hi", **script: Any) -> Script:
    provider = MarketProvider(Market(), Script(**script), now=lambda: NOW)
    return provider.script_for(Ask(model, prompt, 300, False, False, pin, True, None))


def rows(model: str) -> dict[str, dict[str, Any]]:
    data = Market().endpoints(model, NOW, is_authenticated=True)
    assert data is not None
    return {row["tag"]: row for row in data["endpoints"]}


def test_an_endpoint_is_as_fast_as_the_market_says() -> None:
    row = rows(LLAMA)["groq"]
    played = [script_for(LLAMA, "groq", f"prompt {number}") for number in range(101)]
    ttfts = sorted(script.ttft_ms[0] for script in played)
    speeds = sorted(1000 * script.tokens_per_chunk / script.gap_ms for script in played)
    assert ttfts[50] == pytest.approx(row["latency_last_30m"]["p50"], rel=0.2)
    assert speeds[50] == pytest.approx(row["throughput_last_30m"]["p50"], rel=0.1)
    assert script_for(LLAMA, "groq", "a") == script_for(LLAMA, "groq", "a")


def test_an_endpoint_has_the_prices_of_the_moment_and_its_name() -> None:
    script = script_for(LLAMA, "cloudflare/fp8")
    assert script.provider == "Cloudflare"
    assert script.prices is not None
    assert (script.prices.input, script.prices.output) == (Decimal("0.152"), Decimal("0.287"))


def test_a_reasoning_model_reasons() -> None:
    assert script_for(LLAMA, "groq").reasoning_tokens == 0
    assert 40 <= script_for(THINKER).reasoning_tokens < 160


def test_without_a_pin_the_first_endpoint_serves() -> None:
    first = next(iter(rows(LLAMA).values()))
    assert script_for(LLAMA).provider == first["provider_name"]
    assert script_for(LLAMA, "deepinfra").provider == "DeepInfra"  # a slug alone pins, too


@pytest.mark.parametrize(
    ("model", "pin", "said"),
    [
        ("no/such", None, "No endpoints found for no/such."),
        (LLAMA, "nobody", "No allowed providers are available for the selected model."),
        (LLAMA, "groq/fp8", "No allowed providers are available for the selected model."),
    ],
)
def test_what_nobody_serves_is_a_404(model: str, pin: str | None, said: str) -> None:
    with pytest.raises(RefusedError, match=said) as refused:
        script_for(model, pin)
    assert refused.value.reply.status == 404


def test_quirks_from_outside_come_on_top() -> None:
    quirks = script_for(LLAMA, "groq", quirks=("stall=1",)).quirks
    assert quirks[0].startswith("comments=")
    assert quirks[-1] == "stall=1"


@pytest.fixture(scope="module")
def provider() -> Iterator[ProviderProcess]:
    with ProviderProcess(market=True) as running:
        yield running


def test_it_streams_and_lists_what_the_market_has(provider: ProviderProcess) -> None:
    assert provider.base_url.endswith("/api/v1")
    body = {
        "model": LLAMA,
        "stream": True,
        "max_tokens": 2,
        "messages": [{"role": "user", "content": "hi"}],
        "provider": {"only": ["groq"], "allow_fallbacks": False},
    }
    url = f"{provider.base_url}/chat/completions"
    answer = requests.post(url, json=body, timeout=10)
    lines = [line for line in answer.text.split("\n") if line.startswith("data: {")]
    chunks = [json.loads(line.removeprefix("data: ")) for line in lines]
    assert {chunk["provider"] for chunk in chunks} == {"Groq"}
    assert {chunk["id"] for chunk in chunks} == {answer.headers["X-Generation-Id"]}
    [usage] = [chunk["usage"] for chunk in chunks if chunk.get("usage")]
    assert usage["completion_tokens"] == 2
    assert usage["cost"] > 0
    listed = requests.get(f"{provider.base_url}/models/{LLAMA}/endpoints", timeout=10).json()
    assert "groq" in {row["tag"] for row in listed["data"]["endpoints"]}
    refused = requests.post(url, json=body | {"model": "no/such"}, timeout=10)
    assert refused.json() == {"error": {"code": 404, "message": "No endpoints found for no/such."}}


def test_the_command_serves_until_it_is_told_to_stop() -> None:
    command = [sys.executable, "-m", "pipeline.sandbox.provider", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        try:
            assert requests.get(f"{url}/models", timeout=10).status_code == 200
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=10) == 0


def test_the_command_ends_with_its_input_and_so_with_a_parent_that_is_killed() -> None:
    command = [sys.executable, "-m", "pipeline.sandbox.provider", "--port", "0"]
    with subprocess.Popen(
        [*command, "--until-input-ends"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(timeout=10) == 0


def test_help_names_every_key_and_every_quirk() -> None:
    output = CliRunner().invoke(main, ["--help"]).output
    assert all(name in output for name in [*KINDS, *Script.model_fields])


def test_a_wrong_script_is_refused_in_one_line() -> None:
    result = CliRunner().invoke(main, ["--port", "0", "--script", '{"gap": 1}'])
    assert result.exit_code == 2
    assert "gap: " in result.output
    assert "Traceback" not in result.output
