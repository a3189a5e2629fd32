"""The JSON objects of the answers, key for key as the live API writes them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from pipeline.sandbox.catalogue import EndpointPlan, ModelPlan, ProviderPlan
from pipeline.sandbox.dice import Dice
from pipeline.sandbox.health import Health
from pipeline.sandbox.quotes import Quote, per_token, pricing

_PLAIN = ["max_tokens", "temperature", "top_p", "stop", "frequency_penalty", "presence_penalty"]
_TOOLS = [*_PLAIN, "seed", "response_format", "structured_outputs", "tools", "tool_choice"]
_REASONING = [*_TOOLS, "reasoning", "include_reasoning"]
_PARAMETERS = {
    "plain": _PLAIN,
    "tools": _TOOLS,
    "reasoning": _REASONING,
    "reasoning-only": _REASONING,
}
_DEFAULTS = dict.fromkeys(
    ("temperature", "top_p", "top_k", "frequency_penalty", "presence_penalty", "repetition_penalty")
)


@dataclass(frozen=True)
class Offer:
    """An endpoint that is on the market at an instant, with its prices."""

    plan: EndpointPlan
    quote: Quote

    @property
    def rank(self) -> tuple[bool, Any, Any, str]:
        """Sort key of the list: cheapest first, opt-in tiers behind."""
        return self.plan.tier != "standard", self.quote.input, self.quote.output, self.plan.key


def model_row(
    model: ModelPlan, offers: list[Offer], created: datetime, today: date, target: ModelPlan | None
) -> dict[str, Any]:
    """Return a row of ``/models``; its price is that of the first offer.

    ``offers`` are sorted; of an alias they are those of ``target``, of a router they are empty.
    """
    first = offers[0] if offers else None
    row: dict[str, Any] = {"id": model.id, "canonical_slug": model.slug}
    if target is not None:
        row["alias_target"] = {"name": target.name, "slug": target.id}
    row |= {
        "hugging_face_id": model.weights if target is None and model.router is None else None,
        "name": model.name,
        "created": int(created.timestamp()),
        "description": model.about,
        "context_length": model.context or max((o.plan.context_length for o in offers), default=0),
        "architecture": architecture(model),
        "pricing": _headline(model, first),
        "top_provider": {
            "context_length": first.plan.context_length if first else None,
            "max_completion_tokens": first.plan.max_output if first else None,
            "is_moderated": model.moderated,
        },
        "per_request_limits": None,
        "supported_parameters": sorted(_PARAMETERS[model.abilities]),
        "default_parameters": {} if model.weights else _DEFAULTS,
        "supported_voices": None,
        "knowledge_cutoff": model.cutoff and model.cutoff.isoformat(),
        "expiration_date": _expiration(model, today),
        # Built from the canonical slug as the live API does: it loses the variant.
        "links": {"details": f"/api/v1/models/{model.slug}/endpoints"},
    }
    if model.abilities.startswith("reasoning") and model.router is None:
        row["reasoning"] = {
            "mandatory": model.abilities == "reasoning-only",
            "supported_efforts": ["high", "medium", "low"],
            "default_effort": "medium",
        }
    if model.scores:
        row["benchmarks"] = _benchmarks(model, model.scores)
    return row


def architecture(model: ModelPlan) -> dict[str, Any]:
    """Return the ``architecture`` object of a model."""
    return {
        "modality": f"{'+'.join(model.inputs)}->{'+'.join(model.outputs)}",
        "input_modalities": list(model.inputs),
        "output_modalities": list(model.outputs),
        "tokenizer": model.tokenizer,
        "instruct_type": model.instruct,
    }


def endpoint_row(model: ModelPlan, offer: Offer, state: Health, dice: Dice) -> dict[str, Any]:
    """Return an element of ``endpoints``, without latency and throughput (null: no key sent)."""
    plan = offer.plan
    variant = model.id.partition(":")[2]
    slug = f"{model.slug}:{variant}" if variant else model.slug
    row: dict[str, Any] = {
        "name": f"{plan.provider.name} | {slug}",
        "model_id": model.id,
        "model_name": model.name,
        "context_length": plan.context_length,
        "pricing": pricing(plan, offer.quote),
        "provider_name": plan.provider.name,
        "tag": plan.tag,
        "quantization": plan.quantization,
        "max_completion_tokens": plan.max_output,
        "max_prompt_tokens": plan.max_prompt,
        "supported_parameters": _PARAMETERS[model.abilities],
        "status": state.status,
        "uptime_last_30m": state.uptime_30m,
        "uptime_last_5m": state.uptime_5m,
        "uptime_last_1d": state.uptime_1d,
        "supports_implicit_caching": plan.cache_read is not None and plan.cache_write is None,
        "latency_last_30m": None,
        "throughput_last_30m": None,
    }
    # Keys that came later stand on some rows only.
    if model.abilities != "plain" and dice.unit(plan.provider.slug, "tool choice") < 0.7:
        row["supports_tool_choice"] = {
            "none": True,
            "auto": True,
            "required": True,
            "function": True,
        }
    if dice.unit(plan.key, "voice cloning") < 0.5:
        row["supports_voice_cloning"] = False
    return row


def provider_row(provider: ProviderPlan, dice: Dice) -> dict[str, Any]:
    """Return a row of ``/providers``."""
    site = provider.site and f"https://{provider.site}"
    has_status_page = site is not None and dice.unit(provider.slug, "status page") < 0.7
    centers = [None, [], [provider.headquarters], [provider.headquarters, "DE"]]
    return {
        "name": provider.name,
        "slug": provider.slug,
        "privacy_policy_url": site and f"{site}/privacy",
        "terms_of_service_url": site and f"{site}/terms",
        "status_page_url": f"https://status.{provider.site}" if has_status_page else None,
        "headquarters": provider.headquarters,
        "datacenters": dice.pick(centers, provider.slug, "dc") if provider.headquarters else None,
    }


def _headline(model: ModelPlan, first: Offer | None) -> dict[str, Any]:
    if model.router is not None:
        return {"prompt": model.router, "completion": model.router}
    if first is not None:
        prices = pricing(first.plan, first.quote)
        del prices["discount"]  # only the endpoints tell of discounts
        return prices
    plan = model.endpoints[0]  # nobody serves it now: the last known price stays
    return {"prompt": per_token(plan.input), "completion": per_token(plan.output)}


def _expiration(model: ModelPlan, today: date) -> str | None:
    if model.expires_on is not None:
        return model.expires_on.isoformat()
    if model.expires_in_days is None:
        return None
    return (today + timedelta(days=model.expires_in_days)).isoformat()


def _benchmarks(model: ModelPlan, scores: tuple[float, float, float]) -> dict[str, Any]:
    names = ("intelligence_index", "coding_index", "agentic_index")
    arena = []
    if model.arena:
        elo, win_rate, rank = model.arena
        arena = [
            {"arena": "models", "category": "code", "elo": elo, "win_rate": win_rate, "rank": rank}
        ]
    return {
        "design_arena": arena,
        "artificial_analysis": dict(zip(names, scores, strict=True)),
    }
