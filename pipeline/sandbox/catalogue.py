"""The sandbox market as it stands on its anchor day, read from ``data/models.yaml``."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import yaml

DATA = Path(__file__).parent / "data"
QUANTIZATIONS = ("fp4", "mxfp4", "int4", "fp8", "int8", "fp16", "bf16", "fp32")


@dataclass(frozen=True)
class ProviderPlan:
    """A company that serves models; ``ttft_ms`` and ``tokens_per_s`` for a model of middle size."""

    slug: str
    name: str
    headquarters: str | None
    site: str | None
    temper: str
    ttft_ms: float
    tokens_per_s: float


@dataclass(frozen=True)
class EndpointPlan:
    """One way to be served one model; prices in USD per million tokens, net of ``discount``."""

    key: str  # "model tag" or "model tag#2", as on the anchor day: never changes
    model_id: str
    provider: ProviderPlan
    tag: str
    input: Decimal
    output: Decimal
    cache_read: Decimal | None
    cache_write: Decimal | None
    context_length: int
    max_output: int | None
    max_prompt: int | None
    quantization: str
    discount: Decimal
    extra: dict[str, str]  # further price texts, served as they are
    overrides: tuple[dict[str, Any], ...]
    steady: bool

    @property
    def tier(self) -> str:
        """``flex`` or ``priority`` for an opt-in tier, else ``standard``."""
        last = self.tag.rpartition("/")[2]
        return last if last in {"flex", "priority"} else "standard"


@dataclass(frozen=True)
class ModelPlan:
    """A row of the model list, with the plans of its endpoints."""

    id: str
    name: str
    created: date
    about: str
    slug: str
    weights: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    tokenizer: str
    instruct: str | None
    cutoff: date | None
    expires_in_days: int | None
    expires_on: date | None
    abilities: str
    active_b: float
    scores: tuple[float, float, float] | None
    arena: tuple[float, float, int] | None
    moderated: bool
    alias_of: str | None
    router: str | None  # the price text of a router row
    context: int | None  # of a router row; else the largest of its endpoints
    endpoints: tuple[EndpointPlan, ...]


@dataclass(frozen=True)
class Catalogue:
    """All plans, by id and by slug, in the order of the file."""

    models: dict[str, ModelPlan]
    providers: dict[str, ProviderPlan]


@cache
def load_catalogue() -> Catalogue:
    """Read the plans that come with the package."""
    providers = {plan.slug: plan for plan in map(_provider, read_data("providers.yaml"))}
    models = [_model(row, providers) for row in read_data("models.yaml")]
    return Catalogue({model.id: model for model in models}, providers)


def read_data(name: str) -> Any:
    """Return what the YAML file ``name`` of the data folder holds."""
    return yaml.load((DATA / name).read_text(encoding="utf-8"), yaml.CSafeLoader)


def decimal_or_none(value: object) -> Decimal | None:
    """Return the exact decimal of a number or text; None for null and for ``-``."""
    return None if value is None or value == "-" else Decimal(str(value))


def _provider(line: str) -> ProviderPlan:
    slug, name, headquarters, site, temper, ttft_ms, tokens_per_s = map(str.strip, line.split("|"))
    return ProviderPlan(
        slug=slug,
        name=name,
        headquarters=None if headquarters == "-" else headquarters,
        site=None if site == "-" else site,
        temper=temper,
        ttft_ms=float(ttft_ms),
        tokens_per_s=float(tokens_per_s),
    )


def _model(row: dict[str, Any], providers: dict[str, ProviderPlan]) -> ModelPlan:
    entries = [e if isinstance(e, dict) else {"line": e} for e in row.get("endpoints", ())]
    seen: Counter[str] = Counter()
    return ModelPlan(
        id=row["id"],
        name=row["name"],
        created=row["created"],
        about=row["about"],
        slug=row.get("slug", row["id"]),
        weights=row.get("weights", ""),
        inputs=tuple(row.get("inputs", ["text"])),
        outputs=tuple(row.get("outputs", ["text"])),
        tokenizer=row["tokenizer"],
        instruct=row.get("instruct"),
        cutoff=row.get("cutoff"),
        expires_in_days=row.get("expires_in_days"),
        expires_on=row.get("expires_on"),
        abilities=row.get("abilities", "plain"),
        active_b=float(row.get("active_b", 30)),
        scores=tuple(row["scores"]) if "scores" in row else None,
        arena=tuple(row["arena"]) if "arena" in row else None,
        moderated=row.get("moderated", False),
        alias_of=row.get("alias_of"),
        router=row.get("router"),
        context=row.get("context"),
        endpoints=tuple(_endpoint(row["id"], entry, providers, seen) for entry in entries),
    )


def _endpoint(
    model_id: str,
    entry: dict[str, Any],
    providers: dict[str, ProviderPlan],
    seen: Counter[str],
) -> EndpointPlan:
    tag, *numbers = entry["line"].split()
    price_in, price_out, cache_read, context, max_output = map(decimal_or_none, numbers[:5])
    assert price_in is not None and price_out is not None and context is not None  # noqa: S101
    seen[tag] += 1
    suffix = tag.rpartition("/")[2]
    quantization = suffix if suffix in QUANTIZATIONS else "unknown"
    if "provider" in entry:
        provider = next(plan for plan in providers.values() if plan.name == entry["provider"])
    else:
        head = tag.partition("/")[0]
        provider = providers.get(head) or providers[head.removesuffix("-turbo")]
    return EndpointPlan(
        key=f"{model_id} {tag}" + (f"#{seen[tag]}" if seen[tag] > 1 else ""),
        model_id=model_id,
        provider=provider,
        tag=tag,
        input=price_in,
        output=price_out,
        cache_read=cache_read,
        cache_write=decimal_or_none(entry.get("cache_write")),
        context_length=int(context),
        max_output=None if max_output is None else int(max_output),
        max_prompt=entry.get("max_prompt"),
        quantization=numbers[5] if len(numbers) > 5 else quantization,
        discount=Decimal(str(entry.get("discount", 0))),
        extra=entry.get("extra", {}),
        overrides=tuple(entry.get("overrides", ())),
        steady=entry.get("steady", False),
    )
