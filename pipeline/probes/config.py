"""What to probe, how, and how much may be spent: the file ``probes.json``."""

from __future__ import annotations

import json
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn, Self, get_args

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Discriminator,
    Field,
    Tag,
    ValidationError,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from pydantic.json_schema import GenerateJsonSchema

from pipeline.probes.config_errors import ProbeConfigError, explain
from pipeline.probes.config_parts import Arrival, Budget, OwnPrompts, Pin, Price
from pipeline.probes.config_target import Target
from pipeline.probes.config_values import Part, ReadNumber, Seconds, Whole, check_cron

__all__ = [
    "DEFAULT_CONFIG",
    "PROMPT_SETS",
    "Arrival",
    "Budget",
    "OwnPrompts",
    "Pin",
    "Price",
    "ProbeConfig",
    "ProbeConfigError",
    "PromptSetName",
    "Target",
    "json_schema",
    "load_probe_config",
]

DEFAULT_CONFIG = Path(__file__).with_name("default_probes.json")
SCHEMA_PATH = Path(__file__).resolve().parents[2] / "docs" / "probes.schema.json"
PromptSetName = Literal["short_chat", "1k_in_1k_out", "10k_in", "cached_prefix", "cold_start"]
PROMPT_SETS: tuple[PromptSetName, ...] = get_args(PromptSetName)
MOST_STREAMS = 256  # up to here the instrument's error is known


def _as_list(value: Any) -> Any:
    return value if isinstance(value, list | tuple) else [value]


def _kind_of_prompts(value: Any) -> str:
    return "<own>" if isinstance(value, dict | OwnPrompts) else "<built in>"


Streams = Annotated[Whole, Field(ge=1, le=MOST_STREAMS)]
_STREAMS_SCHEMA = {"type": "integer", "minimum": 1, "maximum": MOST_STREAMS}
Prompts = Annotated[
    Annotated[PromptSetName, Tag("<built in>")] | Annotated[OwnPrompts, Tag("<own>")],
    Discriminator(_kind_of_prompts),
]


class ProbeConfig(Part):
    """A plan of probes."""

    schema_url: str | None = Field(
        None, alias="$schema", exclude=True, description="For editors; not read."
    )
    providers: tuple[Target, ...] = Field(min_length=1, description="The targets to measure.")
    runs: Whole = Field(
        10,
        ge=1,
        le=100_000,
        description="Measured requests for each target, prompt set and concurrency.",
    )
    concurrency: Annotated[
        tuple[Streams, ...],
        BeforeValidator(_as_list),
        WithJsonSchema(
            {"anyOf": [_STREAMS_SCHEMA, {"type": "array", "items": _STREAMS_SCHEMA, "minItems": 1}]}
        ),
    ] = Field(
        (1,),
        min_length=1,
        description="Streams at a time, or a list to be measured one after the other; "
        "in an open loop the most requests that may be under way.",
    )
    prompts: tuple[Prompts, ...] = Field(
        ("short_chat",), min_length=1, description="Built-in sets by name, or files of one's own."
    )
    rounds: Whole = Field(
        1, ge=1, le=1000, description="Turns over which the runs are spread, targets shuffled."
    )
    max_tokens: Whole | None = Field(
        None, ge=1, le=1_000_000, description="Instead of the limits of the prompts."
    )
    temperature: Annotated[float, Field(strict=True, ge=0, le=2), ReadNumber] | None = Field(
        0.0, description="null: not sent."
    )
    timeout_s: Seconds = Field(120.0, description="For a whole answer.")
    connect_timeout_s: Seconds = Field(10.0, description="For a new connection.")
    idle_timeout_s: Seconds = Field(60.0, description="Between two pieces of an answer.")
    warm_up: Whole = Field(
        1, ge=0, le=100, description="Short requests for each stream beforehand, in no figure."
    )
    new_connections: Annotated[bool, Field(strict=True)] = Field(
        False, description="Whether each request opens its own connection."
    )
    ramp_s: Annotated[float, Field(strict=True, ge=0, le=3600), ReadNumber] | None = Field(
        None, description="Over which streams start; null: one mean latency."
    )
    arrival: Arrival = Field(default_factory=Arrival)
    start_jitter_s: Annotated[float, Field(strict=True, ge=0, le=86_400), ReadNumber] = Field(
        0.0, description="A scheduled run waits up to so long, by chance."
    )
    cold_start_idle_minutes: Annotated[float, Field(strict=True, ge=0, le=10_080), ReadNumber] = (
        Field(10.0, description="How long a target was left alone before a cold start.")
    )
    schedule: Annotated[str, AfterValidator(check_cron)] | None = Field(
        None, description="Five cron fields, UTC; null: only by hand."
    )
    budget: Budget = Field(default_factory=Budget)
    seed: Whole | None = Field(None, description="Of order, jitter and arrival; null: by chance.")

    @field_validator("providers")
    @classmethod
    def _names_differ(cls, value: tuple[Target, ...]) -> tuple[Target, ...]:
        first: dict[str, int] = {}
        for n, target in enumerate(value):
            if first.setdefault(target.name, n) != n:
                raise ValueError(
                    f"[{n}] has the name {target.name!r} of [{first[target.name]}]; rename one"
                )
        return value

    @field_validator("concurrency")
    @classmethod
    def _levels_differ(cls, value: tuple[int, ...]) -> tuple[int, ...]:
        if len(set(value)) < len(value):
            raise ValueError("names a level twice")
        return value

    @field_validator("prompts")
    @classmethod
    def _sets_differ(cls, value: tuple[Prompts, ...]) -> tuple[Prompts, ...]:
        own = [prompts.set_name for prompts in value if isinstance(prompts, OwnPrompts)]
        names = [prompts for prompts in value if isinstance(prompts, str)] + own
        for name, times in Counter(names).items():
            if times > 1 or (name in PROMPT_SETS and name in own):
                raise ValueError(f"gives the name {name!r} to more than one set; rename the file")
        return value

    @model_validator(mode="after")
    def _open_loops_state_their_limit(self) -> Self:
        if self.arrival.loop == "open" and "concurrency" not in self.model_fields_set:
            raise ValueError(
                f"has a {self.arrival.kind} arrival and no concurrency; "
                "state the most requests that may be under way"
            )
        return self


def load_probe_config(path: Path) -> ProbeConfig:
    """Read the configuration at ``path``; raises ``ProbeConfigError``."""
    try:
        raw = json.loads(
            path.read_text("utf-8-sig"),
            parse_float=Decimal,
            parse_constant=_no_constant,
            object_pairs_hook=_object_of,
        )
    except json.JSONDecodeError as error:
        raise ProbeConfigError(
            f"{path}: line {error.lineno}, column {error.colno}: not JSON: {error.msg}"
        ) from None
    except ValueError as error:
        raise ProbeConfigError(f"{path}: {error}") from None
    except OSError as error:
        raise ProbeConfigError(f"{path}: {error.strerror}; name a file like probes.json") from None
    try:
        return ProbeConfig.model_validate(raw, context={"folder": path.resolve().parent})
    except ValidationError as error:
        raise ProbeConfigError(explain(str(path), error, raw, json_schema())) from None


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of the file."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **ProbeConfig.model_json_schema(schema_generator=_UntitledFields),
        "title": "Probes of tokentape",
    }


class _UntitledFields(GenerateJsonSchema):
    """Leaves out titles that only repeat the names of the keys."""

    def field_title_should_be_set(self, schema: object) -> bool:
        return False


def _object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    for key, times in Counter(key for key, _ in pairs).items():
        if times > 1:
            raise ValueError(f"{key!r} is written {times} times in one object; keep one")
    return dict(pairs)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


if __name__ == "__main__":
    SCHEMA_PATH.write_text(json.dumps(json_schema(), indent=2) + "\n")
