"""The objects that Hugging Face answers with, typed; sizes in bytes, counts in parameters."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

from pipeline.sources.openrouter_answers import Count


class _Answer(BaseModel):
    """An object of an answer: keys that are declared nowhere are of no use here."""

    model_config = ConfigDict(extra="ignore")


class SafetensorsAnswer(_Answer):
    """Parameters by type of number, as the hub counted them in the files' headers."""

    parameters: dict[str, Count] = {}
    total: Count | None = None


class GgufAnswer(_Answer):
    """What the hub read in the header of a GGUF file."""

    total: Count | None = None


class LfsAnswer(_Answer):
    """A large file: its content's digest and size."""

    sha256: str | None = None
    size: Count | None = None


class FileAnswer(_Answer):
    """A file of the repository."""

    rfilename: str
    size: Count | None = None
    lfs: LfsAnswer | None = None


class CardDataAnswer(_Answer):
    """The head of the card, written by hand: a licence may be a list, or anything."""

    license: Any = None
    license_name: Any = None
    license_link: Any = None


class CardAnswer(_Answer):
    """``/api/models/{id}``; ``gated`` is false, or how access is given (auto, manual)."""

    id: str
    gated: bool | str | None = None
    pipeline_tag: str | None = None
    tags: list[str] | None = None
    safetensors: SafetensorsAnswer | None = None
    gguf: GgufAnswer | None = None
    siblings: list[FileAnswer] | None = None
    cardData: CardDataAnswer | None = None  # noqa: N815 - the hub's name of it
