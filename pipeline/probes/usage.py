"""What a provider reports of a request: tokens, cost and its own times."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

# Times that a provider states beside its usage: llama.cpp, Cerebras, Fireworks, Azure, OpenRouter.
_TIMINGS = ("timings", "time_info", "perf_metrics", "latency_checkpoint", "openrouter_metadata")
# Times that it states inside: Groq, SambaNova, GPUStack.
_TIME_IN_USAGE = re.compile(r"time|latency|per_sec")
# https://docs.x.ai/developers/cost-tracking
_XAI_TICKS_PER_USD = 10**10


@dataclass(frozen=True)
class Tokens:
    """Token counts as reported, None where they are not.

    ``completion`` includes ``reasoning``, which exceeds it all the same in some providers' counts.
    """

    prompt: int | None
    completion: int | None
    reasoning: int | None
    cached: int | None


def merged(older: dict[str, Any], newer: dict[str, Any]) -> dict[str, Any]:
    """Return the usage after ``newer`` came: what it states wins, a null erases nothing."""
    if not newer:
        return older
    return {**older, **{key: value for key, value in newer.items() if value is not None}}


def read_tokens(usage: dict[str, Any]) -> Tokens:
    """Read the counts of a ``usage``; nonsense is None.

    xAI, asked directly, counts reasoning beside the completion; its total shows that, and the
    completion is read with it.
    """
    prompt = _count(usage, "prompt_tokens")
    completion = _count(usage, "completion_tokens")
    reasoning = _first_count(
        (usage.get("completion_tokens_details"), "reasoning_tokens"),
        (usage, "reasoning_tokens"),
    )
    if prompt is not None and completion is not None and reasoning:
        with_reasoning = completion + reasoning
        if _count(usage, "total_tokens") == prompt + with_reasoning:
            completion = with_reasoning
    return Tokens(
        prompt=prompt,
        completion=completion,
        reasoning=reasoning,
        cached=_first_count(
            (usage.get("prompt_tokens_details"), "cached_tokens"),
            (usage, "cached_tokens"),
            (usage, "prompt_cache_hit_tokens"),  # DeepSeek
        ),
    )


def reported_cost(usage: dict[str, Any]) -> Decimal | None:
    """Return what the request cost in USD, exact, as the provider reports it.

    OpenRouter's ``cost`` under a key of one's own (``is_byok``) is its fee only, to which the
    provider's charge comes.
    """
    cost, details = usage.get("cost"), usage.get("cost_details")
    ticks = _amount(usage.get("cost_in_usd_ticks"), below=10**6 * _XAI_TICKS_PER_USD)
    upstream = _amount(
        details.get("upstream_inference_cost") if isinstance(details, dict) else None
    )
    reported = (
        _amount(
            cost.get("total_cost") if isinstance(cost, dict) else cost
        ),  # Perplexity: an object
        _amount(usage.get("estimated_cost")),  # DeepInfra
        None if ticks is None else ticks / _XAI_TICKS_PER_USD,
    )
    charged = next((usd for usd in reported if usd is not None), None)
    if charged is None:
        return upstream
    return charged + upstream if upstream and usage.get("is_byok") is True else charged


def server_timing(document: dict[str, Any]) -> dict[str, Any]:
    """Return what a chunk says of the server's own times, under the key where it stands."""
    return {key: document[key] for key in _TIMINGS if document.get(key)}


def timing_in_usage(usage: dict[str, Any]) -> dict[str, Any]:
    """Return the entries of a usage that are times or rates."""
    return {key: value for key, value in usage.items() if _TIME_IN_USAGE.search(key)}


def _first_count(*places: tuple[Any, str]) -> int | None:
    counts = (_count(holder, key) for holder, key in places)
    return next((count for count in counts if count is not None), None)


def _count(holder: Any, key: str) -> int | None:
    value = holder.get(key) if isinstance(holder, dict) else None
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return None
    return int(value) if 0 <= value < 2**31 else None


def _amount(value: Any, below: int = 10**6) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return None
    return Decimal(value) if 0 <= value < below else None
