"""The objects that OpenRouter answers with, typed; times are unix seconds, prices USD per token."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field


def _not_boolean(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("a boolean is no number")
    return value


# The widest numbers that the tables hold; contracts decide what is plausible.
Count = Annotated[int, Field(strict=True, ge=-(2**63), lt=2**63)]
Code = Annotated[int, Field(strict=True, ge=-(2**31), lt=2**31)]
Number = Annotated[float, BeforeValidator(_not_boolean), Field(allow_inf_nan=False)]
UnixSeconds = Annotated[int, Field(strict=True, ge=0, lt=253_402_300_800)]  # up to year 9999


class _Answer(BaseModel):
    """An object of an answer: keys that are declared nowhere are allowed, and can be counted."""

    model_config = ConfigDict(extra="allow")


class ArchitectureAnswer(_Answer):
    """What goes in and out of a model."""

    modality: str | None = None
    input_modalities: list[str] | None = None
    output_modalities: list[str] | None = None
    tokenizer: str | None = None
    instruct_type: str | None = None


class TopProviderAnswer(_Answer):
    """Limits of the endpoint that OpenRouter would choose first."""

    context_length: Count | None = None
    max_completion_tokens: Count | None = None
    is_moderated: bool | None = None


class AliasTargetAnswer(_Answer):
    """The model that an alias stands for now."""

    slug: str | None = None
    name: str | None = None


class ModelAnswer(_Answer):
    """One entry of ``/models``; prices are USD per token, net of discounts."""

    id: str
    name: str
    canonical_slug: str | None = None
    hugging_face_id: str | None = None
    description: str | None = None
    created: UnixSeconds | None = None
    context_length: Count | None = None
    architecture: ArchitectureAnswer | None = None
    pricing: dict[str, Any]
    top_provider: TopProviderAnswer | None = None
    supported_parameters: list[str] | None = None
    knowledge_cutoff: str | None = None
    expiration_date: str | None = None
    alias_target: AliasTargetAnswer | None = None
    reasoning: Any = None
    benchmarks: Any = None
    # Known, and not kept in a column.
    per_request_limits: Any = None
    default_parameters: Any = None
    supported_voices: Any = None
    links: Any = None


class PercentilesAnswer(_Answer):
    """Percentiles of the last 30 minutes; p90 and p99 of throughput are the fast tail."""

    p50: Number | None = None
    p75: Number | None = None
    p90: Number | None = None
    p99: Number | None = None


class EndpointAnswer(_Answer):
    """One endpoint of a model; uptimes in percent, latency in ms, throughput in tokens a second."""

    provider_name: str
    tag: str
    name: str | None = None
    model_id: str | None = None
    model_name: str | None = None
    quantization: str | None = None
    context_length: Count | None = None
    max_completion_tokens: Count | None = None
    max_prompt_tokens: Count | None = None
    pricing: dict[str, Any]
    status: Code | None = None
    uptime_last_5m: Number | None = None
    uptime_last_30m: Number | None = None
    uptime_last_1d: Number | None = None
    latency_last_30m: PercentilesAnswer | None = None
    throughput_last_30m: PercentilesAnswer | None = None
    perf_last_30m_by_workload: Any = None
    supports_implicit_caching: bool | None = None
    supported_parameters: list[str] | None = None
    # Known, and not kept in a column.
    supports_tool_choice: Any = None
    supports_voice_cloning: Any = None
    supports_image_reference: Any = None
    supports_multiple_audio_references: Any = None
    native_tools: Any = None


class ProviderAnswer(_Answer):
    """One entry of ``/providers``."""

    name: str
    slug: str
    headquarters: str | None = None
    datacenters: list[str] | None = None
    privacy_policy_url: str | None = None
    terms_of_service_url: str | None = None
    status_page_url: str | None = None
