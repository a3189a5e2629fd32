"""The market's endpoints as providers: as fast, as dear and as reliable as the market says."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any
from urllib.parse import unquote

from pipeline.sandbox.api import BASE_PATH, Api, Reply
from pipeline.sandbox.dice import Dice
from pipeline.sandbox.market import Market
from pipeline.sandbox.provider.ask import Ask
from pipeline.sandbox.provider.script import Prices, Script
from pipeline.sandbox.provider.scripted import RefusedError

# Of an endpoint with too little traffic for figures of its own.
_LATENCY_MS = {"p50": 900.0, "p90": 1600.0}
_TOKENS_PER_S = {"p50": 50.0}
_NORMAL_P90 = 1.2816
# How providers behind OpenRouter begin and end their streams.
_HABITS: tuple[tuple[str, ...], ...] = (
    ("usage_on_finish",),
    ("role_with_text", "two_finish"),
    ("late_role=1", "usage_on_finish"),
    (),
)
_HIDES_REASONING = {"OpenAI", "Azure"}


class MarketProvider:
    """Serves ``market`` as OpenRouter does, by model id and ``provider.only``.

    Times and failures follow what the market reports of an endpoint at the moment. The quirks of
    ``script`` come on top of the endpoint's own; the rest of it is not played.
    """

    base_path = BASE_PATH

    def __init__(
        self, market: Market, script: Script, now: Callable[[], datetime] | None = None
    ) -> None:
        self.script = script
        self._market = market
        self._now = now or _real_time
        self._dice = Dice(market.seed)
        self._rows = lru_cache(maxsize=256)(self._ask_market)

    def script_for(self, ask: Ask) -> Script:
        """Return what the pinned endpoint plays, or the first of the model."""
        rows = self._rows(ask.model, self._now().replace(second=0, microsecond=0))
        if not rows:
            raise RefusedError(404, f"No endpoints found for {ask.model}.")
        row = next((row for row in rows if _is_pinned(row["tag"], ask.pin)), None)
        if row is None:
            raise RefusedError(404, "No allowed providers are available for the selected model.")
        return self._script(row, ask)

    def look_up(self, path: str, query: str, *, is_authenticated: bool) -> Reply:
        """Answer as the market does."""
        path = unquote(path).removeprefix(BASE_PATH)
        return Api(self._market).answer(path, query, self._now(), is_authenticated=is_authenticated)

    def _ask_market(self, model_id: str, minute: datetime) -> list[dict[str, Any]]:
        data = self._market.endpoints(model_id, minute, is_authenticated=True)
        return [] if data is None else data["endpoints"]

    def _script(self, row: dict[str, Any], ask: Ask) -> Script:
        provider, dice = row["provider_name"], self._dice
        request = (row["model_id"], row["tag"], ask.prompt)
        ttft_ms = _drawn(row["latency_last_30m"] or _LATENCY_MS, dice.bell(*request, "ttft"))
        speed = (row["throughput_last_30m"] or _TOKENS_PER_S)["p50"]
        speed *= math.exp(0.15 * dice.bell(*request, "speed"))
        size = dice.pick((1, 1, 1, 2, 3), provider, "tokens per chunk")
        reasons = "reasoning" in row["supported_parameters"]
        return Script(
            seed=self._market.seed,
            ttft_ms=(ttft_ms, ttft_ms),
            gap_ms=1000 * size / speed,
            tokens=int(dice.between(180, 320, *request, "tokens")),
            tokens_per_chunk=size,
            reasoning_tokens=int(dice.between(40, 160, *request, "thoughts")) if reasons else 0,
            reasoning_as="hidden" if provider in _HIDES_REASONING else "reasoning_details",
            slowdown_per_stream=dice.between(0.002, 0.03, provider, "slowdown"),
            cached_saving=0.6 if row["supports_implicit_caching"] else 0.0,
            provider=provider,
            is_openrouter=True,
            prices=_prices(row["pricing"]),
            quirks=(*self._quirks(row, ttft_ms), *self.script.quirks),
        )

    def _quirks(self, row: dict[str, Any], ttft_ms: float) -> list[str]:
        provider = row["provider_name"]
        uptime = row["uptime_last_30m"]
        failing = 0.0 if uptime is None else round(1 - uptime / 100, 3)
        throttled = round(self._dice.between(0, 0.02, provider, "throttles"), 3)
        return [
            f"comments={1 + int(ttft_ms / 500)}",
            *self._dice.pick(_HABITS, provider, "habits"),
            f"status=503,probability={failing}",
            f"rate_limited=2,probability={throttled}",
            "error_chunk=502,probability=0.003",
        ]


def _is_pinned(tag: str, pin: str | None) -> bool:
    """Tell whether ``pin``, a tag or a provider's slug, means the endpoint with ``tag``."""
    slug, _, variant = tag.partition("/")
    is_opt_in = variant.endswith(("flex", "priority"))
    return tag == pin or (pin in {None, slug} and not is_opt_in)


def _drawn(quantiles: dict[str, float], bell: float) -> float:
    sigma = math.log(quantiles["p90"] / quantiles["p50"]) / _NORMAL_P90
    return quantiles["p50"] * math.exp(sigma * bell)


def _prices(pricing: dict[str, Any]) -> Prices:
    cached = pricing.get("input_cache_read")
    return Prices(
        input=_per_mtok(pricing["prompt"]),
        output=_per_mtok(pricing["completion"]),
        cache_read=None if cached is None else _per_mtok(cached),
    )


def _per_mtok(usd_per_token: str) -> Decimal:
    return Decimal(usd_per_token).scaleb(6)


def _real_time() -> datetime:
    return datetime.now(UTC)
