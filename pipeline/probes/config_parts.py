"""The smaller parts of a probe configuration: price, pin, prompts of one's own, arrival, budget."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)

from pipeline.probes.config_values import Part, ReadNumber, Usd, UsdLimit
from pipeline.probes.transcript import Loop


def file_beside(value: Path, info: ValidationInfo) -> Path:
    """Return ``value`` as seen from the folder of the configuration; it must be a file."""
    folder: Path = (info.context or {}).get("folder", Path())
    path = (folder / value.expanduser()).resolve()
    if not path.is_file():
        raise ValueError(f"there is no file {path}")
    return path


class Price(Part):
    """A price in USD per million tokens, exact; numbers or texts that hold one."""

    input_usd_per_mtok: Usd
    output_usd_per_mtok: Usd
    cache_read_usd_per_mtok: Usd | None = Field(
        None, description="Of prompt tokens read from the cache; as input if not stated."
    )


def _as_tags(value: Any) -> Any:
    tags = [value] if isinstance(value, str) else value
    if isinstance(tags, list | tuple) and len(tags) != 1:
        raise ValueError("should name exactly one tag; write one target for each endpoint")
    return tags


class Pin(Part):
    """OpenRouter's ``provider`` object: the one endpoint that may serve, without fallbacks."""

    only: Annotated[
        tuple[Annotated[str, Field(min_length=1)]],
        BeforeValidator(_as_tags),
        WithJsonSchema(
            {
                "anyOf": [
                    {"type": "string", "minLength": 1},
                    {
                        "type": "array",
                        "items": {"type": "string", "minLength": 1},
                        "minItems": 1,
                        "maxItems": 1,
                    },
                ]
            }
        ),
    ] = Field(description="Tag of the endpoint, as /models/{id}/endpoints lists it.")
    allow_fallbacks: Literal[False] = False


class OwnPrompts(Part):
    """Prompts of one's own: a file with one JSON object a line, ``prompt`` or ``messages``."""

    jsonl: Annotated[Path, AfterValidator(file_beside)] = Field(
        description='File of lines like {"prompt": "...", "max_tokens": 100} or '
        '{"messages": [...]}; relative to this file.'
    )

    @property
    def set_name(self) -> str:
        """Name of the set: that of the file, without its ending."""
        return self.jsonl.stem


class Arrival(Part):
    """How requests arrive: each when a stream is free, or at a rate, whatever the answers do."""

    kind: Literal["closed", "constant", "poisson"] = Field(
        "closed",
        description="closed: a stream sends when its last answer is whole; "
        "constant and poisson: open loops.",
    )
    rate_per_s: Annotated[float, Field(strict=True, gt=0, le=10_000), ReadNumber] | None = Field(
        None, description="Requests per second (open loops)."
    )

    @model_validator(mode="after")
    def _rate_is_for_open_loops(self) -> Self:
        if self.kind == "closed" and self.rate_per_s is not None:
            raise ValueError("has a rate_per_s, which a closed loop does not take; take it out")
        if self.kind != "closed" and self.rate_per_s is None:
            raise ValueError(f"is {self.kind} and needs rate_per_s, requests per second")
        return self

    @property
    def loop(self) -> Loop:
        """Whether answers hold back requests."""
        return "closed" if self.kind == "closed" else "open"


class Budget(Part):
    """The most that may be spent; null is no limit."""

    usd_per_run: UsdLimit | None = Decimal("0.25")
    usd_per_day: UsdLimit | None = Field(Decimal("1.00"), description="A day in UTC.")

    @property
    def is_explicit(self) -> bool:
        """Whether somebody set a limit; then a target without a known price is refused."""
        return any(getattr(self, name) is not None for name in self.model_fields_set)
