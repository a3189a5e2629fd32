"""The script: how fast, how long and how odd the streams of a provider are."""

from __future__ import annotations

from decimal import Decimal
from fnmatch import fnmatchcase
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    ValidationError,
    field_validator,
    model_validator,
)

from pipeline.sandbox.provider.quirks import Quirk

Share = Annotated[float, Field(ge=0, le=1)]


class ScriptError(ValueError):
    """A script cannot be played. One line: which key, and what is wrong with it."""


class Prices(BaseModel):
    """What tokens cost, in USD per million; a cached token costs ``input`` unless said."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: Decimal
    output: Decimal
    cache_read: Decimal | None = None


class Script(BaseModel):
    """What a provider plays; the same script and order of requests give the same streams.

    The TTFT is drawn evenly from ``ttft_ms``, each gap between two chunks from ``gap_ms`` x
    (1 ± ``jitter``). A chunk carries ``tokens_per_chunk`` tokens. ``tokens`` of answer follow
    ``reasoning_tokens`` of reasoning, which stand under the key ``reasoning_as`` or stay hidden.
    Each further stream of the same endpoint slows all of a stream by the share
    ``slowdown_per_stream``. A prompt that is in the cache as a whole saves the share
    ``cached_saving`` of the TTFT; 0 caches nothing.

    ``is_openrouter`` gives the ids, keys and usage of OpenRouter, with the cost where there are
    ``prices``. ``quirks`` are written as ``Quirk`` says. ``models`` replaces keys for models whose
    name matches a shell pattern; the first that matches holds.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    seed: int = 1
    ttft_ms: tuple[NonNegativeFloat, NonNegativeFloat] = (100.0, 300.0)
    gap_ms: NonNegativeFloat = 10.0
    jitter: Share = 0.5
    tokens: NonNegativeInt = 64
    tokens_per_chunk: PositiveInt = 1
    reasoning_tokens: NonNegativeInt = 0
    reasoning_as: Literal["reasoning", "reasoning_content", "reasoning_details", "hidden"] = (
        "reasoning_content"
    )
    slowdown_per_stream: NonNegativeFloat = 0.0
    cached_saving: Share = 0.0
    rate_limit_per_s: PositiveFloat | None = None
    provider: str | None = None
    is_openrouter: bool = False
    prices: Prices | None = None
    quirks: tuple[str, ...] = ()
    models: dict[str, dict[str, Any]] = {}

    @field_validator("quirks")
    @classmethod
    def _are_known(cls, quirks: tuple[str, ...]) -> tuple[str, ...]:
        for text in quirks:
            Quirk.parse(text)
        return quirks

    @model_validator(mode="after")
    def _models_are_scripts(self) -> Self:
        for pattern in self.models:
            self._with(self.models[pattern])
        return self

    @classmethod
    def from_json(cls, text: str | bytes) -> Script:
        """Read a JSON object of the fields; raises ``ScriptError``."""
        try:
            return cls.model_validate_json(text)
        except ValidationError as problem:
            first = problem.errors(include_url=False)[0]
            where = ".".join(map(str, first["loc"])) or "script"
            raise ScriptError(f"{where}: {first['msg']}") from None

    def for_model(self, name: str) -> Script:
        """Return what holds for the model ``name``."""
        for pattern, changes in self.models.items():
            if fnmatchcase(name, pattern):
                return self._with(changes)
        return self

    def _with(self, changes: dict[str, Any]) -> Script:
        return Script.model_validate(self.model_dump(exclude={"models"}) | changes)
