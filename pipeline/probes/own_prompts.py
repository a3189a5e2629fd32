"""Prompts of one's own, from a file of one JSON object a line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from pipeline.probes.config_errors import ProbeConfigError, explain
from pipeline.probes.config_values import Part, Whole
from pipeline.probes.prompt import Prompt, prompt_of

DEFAULT_MAX_TOKENS = 300


def read_prompts(path: Path, max_tokens: int | None = None) -> tuple[Prompt, ...]:
    """Read prompts of one's own, one JSON object a line; ``max_tokens`` goes before theirs.

    Raises ``ProbeConfigError`` that names the line.
    """
    try:
        lines = path.read_text("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise ProbeConfigError(f"{path}: is not UTF-8 (byte {error.start})") from None
    except OSError as error:
        raise ProbeConfigError(f"{path}: {error.strerror}") from None
    prompts = tuple(
        _read_line(f"{path}: line {number}", line, path.stem, max_tokens)
        for number, line in enumerate(lines, 1)
        if line.strip()
    )
    if not prompts:
        raise ProbeConfigError(f'{path}: holds no prompt; write lines like {{"prompt": "..."}}')
    return prompts


class _TextPart(BaseModel):
    model_config = ConfigDict(extra="allow")

    type: Literal["text"]
    text: str


class _Message(BaseModel):
    model_config = ConfigDict(extra="allow")

    role: Annotated[str, Field(min_length=1)]
    content: str | Annotated[list[_TextPart], Field(min_length=1)]


class _Line(Part):
    prompt: Annotated[str, Field(min_length=1)] | None = Field(None, description="One user's text.")
    messages: Annotated[list[_Message], Field(min_length=1)] | None = None
    max_tokens: Whole | None = Field(None, ge=1)

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.prompt is None) == (self.messages is None):
            raise ValueError("should hold either prompt or messages")
        return self


def _read_line(where: str, line: str, set_name: str, max_tokens: int | None) -> Prompt:
    try:
        raw = json.loads(line)
        read = _Line.model_validate(raw)
    except json.JSONDecodeError as error:
        raise ProbeConfigError(f"{where}, column {error.colno}: not JSON: {error.msg}") from None
    except ValidationError as error:
        raise ProbeConfigError(explain(where, error, raw, _Line.model_json_schema())) from None
    messages = (
        [{"role": "user", "content": read.prompt}]
        if read.messages is None
        else [message.model_dump(exclude_unset=True) for message in read.messages]
    )
    return prompt_of(set_name, messages, max_tokens or read.max_tokens or DEFAULT_MAX_TOKENS)
