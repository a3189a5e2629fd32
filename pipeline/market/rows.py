"""Records of the answers, one by one, to rows of the raw tables; a bad one harms no other."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from pipeline.exact_json import write_json
from pipeline.prices import Pricing, WrongPrice, read_pricing
from pipeline.sources.openrouter import kind_of, usable_model_id
from pipeline.sources.openrouter_answers import (
    ArchitectureAnswer,
    EndpointAnswer,
    ModelAnswer,
    PercentilesAnswer,
    ProviderAnswer,
    TopProviderAnswer,
)

AnswerT = TypeVar("AnswerT", bound=BaseModel)
Notes = list[tuple[str, str]]

_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_NO_EXPIRATION = "2098-12-31"  # a recorded placeholder
_NO_ARCHITECTURE = ArchitectureAnswer()
_NO_LIMITS = TopProviderAnswer()
_NO_PERCENTILES = PercentilesAnswer()


class UnreadableError(Exception):
    """A record cannot become a row; ``rule`` is what the quarantine files it under."""

    def __init__(self, rule: str, reason: str) -> None:
        super().__init__(reason)
        self.rule = rule


class ReadRecord(NamedTuple):
    """A row without the sweep's columns, the typed answer behind it, and soft findings.

    ``notes`` are (rule, detail) of what was surprising and does not show in the finished row.
    """

    row: dict[str, Any]
    answer: BaseModel
    notes: Notes


def read_model(record: Any) -> ReadRecord:
    """Read one entry of ``/models``; raises ``UnreadableError``."""
    answer = _typed(ModelAnswer, record)
    if usable_model_id(record) is None:
        raise UnreadableError("model_id_unusable", f"id {answer.id!r} is no author/slug[:variant]")
    pricing = _priced(answer.pricing)
    notes = _price_notes(pricing)
    kind = kind_of(record)
    author, _, slug = answer.id.removeprefix("~").partition("/")
    architecture = answer.architecture or _NO_ARCHITECTURE
    limits = answer.top_provider or _NO_LIMITS
    prices = _prices(pricing)
    if kind != "standard":
        # "-1" says that the price is that of the model which gets chosen: none is stated.
        prices = {name: None if price and price < 0 else price for name, price in prices.items()}
    row = {
        "model_id": answer.id,
        "canonical_slug": answer.canonical_slug,
        "author": author,
        "variant": slug.partition(":")[2] or None,
        "kind": kind,
        "alias_target": answer.alias_target.slug if answer.alias_target else None,
        "model_name": answer.name,
        "description": answer.description,
        "hugging_face_id": answer.hugging_face_id or None,
        "created_utc": None
        if answer.created is None
        else datetime.fromtimestamp(answer.created, UTC),
        "context_length": answer.context_length,
        "max_completion_tokens": limits.max_completion_tokens,
        "is_moderated": limits.is_moderated,
        "modality": architecture.modality,
        "input_modalities": architecture.input_modalities,
        "output_modalities": architecture.output_modalities,
        "tokenizer": architecture.tokenizer,
        "instruct_type": architecture.instruct_type,
        "supported_parameters": answer.supported_parameters,
        "knowledge_cutoff": _day("knowledge_cutoff", answer.knowledge_cutoff, notes),
        "expiration_date": _day("expiration_date", answer.expiration_date, notes),
        **prices,
        "pricing_json": pricing.pricing_json,
        "reasoning_json": None if answer.reasoning is None else write_json(answer.reasoning),
        "benchmarks_json": None if answer.benchmarks is None else write_json(answer.benchmarks),
    }
    return ReadRecord(row, answer, notes)


def read_endpoint(record: Any, model_id: str, list_position: int) -> ReadRecord:
    """Read one endpoint of ``model_id``; ``endpoint_ordinal`` is 1 until twins are told apart.

    Raises ``UnreadableError``.
    """
    answer = _typed(EndpointAnswer, record)
    pricing = _priced(answer.pricing)
    notes = _price_notes(pricing)
    if answer.model_id is not None and answer.model_id != model_id:
        notes.append(("model_id_other", f"listed under {model_id}, says {answer.model_id!r}"))
    ttft = answer.latency_last_30m or _NO_PERCENTILES
    speed = answer.throughput_last_30m or _NO_PERCENTILES
    row = {
        "model_id": model_id,
        "provider_name": answer.provider_name,
        "tag": answer.tag,
        "endpoint_ordinal": 1,
        "list_position": list_position,
        "endpoint_name": answer.name,
        "quantization": answer.quantization,
        "context_length": answer.context_length,
        "max_completion_tokens": answer.max_completion_tokens,
        "max_prompt_tokens": answer.max_prompt_tokens,
        "tier": _tier(model_id, answer.tag),
        "is_free": pricing.input_price == 0 and pricing.output_price == 0,
        **_prices(pricing),
        "discount": pricing.discount,
        "other_prices_json": pricing.other_prices_json,
        "overrides_json": pricing.overrides_json,
        "pricing_json": pricing.pricing_json,
        "status": answer.status,
        "uptime_5m_pct": answer.uptime_last_5m,
        "uptime_30m_pct": answer.uptime_last_30m,
        "uptime_1d_pct": answer.uptime_last_1d,
        "reported_ttft_p50_ms": ttft.p50,
        "reported_ttft_p75_ms": ttft.p75,
        "reported_ttft_p90_ms": ttft.p90,
        "reported_ttft_p99_ms": ttft.p99,
        "reported_tokens_per_s_p50": speed.p50,
        "reported_tokens_per_s_p75": speed.p75,
        "reported_tokens_per_s_p90": speed.p90,
        "reported_tokens_per_s_p99": speed.p99,
        "reported_requests_30m": _requests(answer.perf_last_30m_by_workload),
        "supports_implicit_caching": answer.supports_implicit_caching,
        "supported_parameters": answer.supported_parameters,
    }
    return ReadRecord(row, answer, notes)


def read_provider(record: Any) -> ReadRecord:
    """Read one entry of ``/providers``; raises ``UnreadableError``."""
    answer = _typed(ProviderAnswer, record)
    notes: Notes = []
    row = {
        "provider_name": answer.name,
        "provider_slug": answer.slug,
        "headquarters": answer.headquarters,
        "datacenters": answer.datacenters,
        "privacy_policy_url": _link("privacy_policy_url", answer.privacy_policy_url, notes),
        "terms_of_service_url": _link("terms_of_service_url", answer.terms_of_service_url, notes),
        "status_page_url": _link("status_page_url", answer.status_page_url, notes),
    }
    return ReadRecord(row, answer, notes)


def number_twins(rows: list[dict[str, Any]]) -> None:
    """Set ``endpoint_ordinal`` 1.. among one model's rows that share provider and tag.

    The order is that of the listing itself, not of its place in the answer, which moves.
    """
    twins: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        twins.setdefault((row["provider_name"], row["tag"]), []).append(row)
    for group in twins.values():
        if len(group) > 1:
            for ordinal, row in enumerate(sorted(group, key=_twin_order), start=1):
                row["endpoint_ordinal"] = ordinal


_TWIN_ORDER = (
    "quantization",
    "context_length",
    "max_completion_tokens",
    "input_usd_per_token",
    "output_usd_per_token",
    "list_position",
)


def _twin_order(row: dict[str, Any]) -> list[tuple[bool, Any]]:
    values = [row[name] for name in _TWIN_ORDER]
    return [(value is None, 0 if value is None else value) for value in values]


def _typed(kind: type[AnswerT], record: Any) -> AnswerT:
    try:
        return kind.model_validate(record)
    except ValidationError as error:
        first, *others = error.errors(include_url=False, include_input=False)
        where = ".".join(str(part) for part in first["loc"]) or "record"
        more = f" (and {len(others)} more)" if others else ""
        raise UnreadableError("malformed", f"{where}: {first['msg']}{more}") from None


def _priced(pricing: dict[str, Any]) -> Pricing:
    try:
        return read_pricing(pricing)
    except WrongPrice as error:
        raise UnreadableError("price_unreadable", str(error)) from None


def _prices(pricing: Pricing) -> dict[str, Decimal | None]:
    return {
        "input_usd_per_token": pricing.input_price,
        "output_usd_per_token": pricing.output_price,
        "cache_read_usd_per_token": pricing.cache_read_price,
        "cache_write_usd_per_token": pricing.cache_write_price,
    }


def _price_notes(pricing: Pricing) -> Notes:
    if not pricing.rounded_keys:
        return []
    return [
        ("price_precision", f"rounded: {', '.join(pricing.rounded_keys)} of {pricing.pricing_json}")
    ]


def _tier(model_id: str, tag: str) -> str:
    last = tag.rpartition("/")[2]
    if last in ("flex", "priority"):
        return last
    return "batch" if model_id.endswith(":batch") else "standard"


def _requests(workloads: Any) -> int | None:
    text = workloads.get("text_generation") if isinstance(workloads, dict) else None
    count = text.get("request_count") if isinstance(text, dict) else None
    return count if type(count) is int and abs(count) < 2**63 else None


def _day(key: str, text: str | None, notes: Notes) -> date | None:
    if not text or text == _NO_EXPIRATION:
        return None
    try:
        return date.fromisoformat(text if _DAY.fullmatch(text) else "")
    except ValueError:
        notes.append(("date_unreadable", f"{key} {text!r}"))
        return None


def _link(key: str, text: str | None, notes: Notes) -> str | None:
    # Links end up on pages, where any other scheme could run as a script.
    if not text or text.startswith(("https://", "http://")):
        return text or None
    notes.append(("link_refused", f"{key} {text!r}"))
    return None
