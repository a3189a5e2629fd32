"""Who is asked: one endpoint at OpenRouter, or a provider's own API."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    JsonValue,
    field_validator,
    model_validator,
)

from pipeline.probes.config_errors import ProbeConfigError
from pipeline.probes.config_parts import Pin, Price, file_beside
from pipeline.probes.config_values import Part, as_floats

OPENROUTER_HOST = "openrouter.ai"
# Where the key of a known host is looked up when ``api_key_env`` does not say.
KEY_VARIABLES = {
    OPENROUTER_HOST: "OPENROUTER_API_KEY",
    "api.groq.com": "GROQ_API_KEY",
    "api.fireworks.ai": "FIREWORKS_API_KEY",
    "api.together.xyz": "TOGETHER_API_KEY",
    "api.together.ai": "TOGETHER_API_KEY",
    "api.deepinfra.com": "DEEPINFRA_API_KEY",
    "api.novita.ai": "NOVITA_API_KEY",
    "api.cloudflare.com": "CLOUDFLARE_API_TOKEN",
    "api.inference.wandb.ai": "WANDB_API_KEY",
    "api.cerebras.ai": "CEREBRAS_API_KEY",
    "api.sambanova.ai": "SAMBANOVA_API_KEY",
}
# The probe sets these itself, and what it spends and measures rests on them.
_OWN_BODY_KEYS = (
    "model",
    "messages",
    "stream",
    "stream_options",
    "max_tokens",
    "max_completion_tokens",
    "temperature",
    "provider",
    "n",
)
_PLACEHOLDER = re.compile(r"\{([A-Z][A-Z0-9_]*)\}")


class Target(Part):
    """One endpoint to measure."""

    name: str = Field(
        pattern=r"^[^\s,]([^,\n\r\t]*[^\s,])?$", max_length=100, description="Name of the target."
    )
    base_url: str = Field(
        description="Address of the API, to which /chat/completions is added. "
        "{NAMES_IN_CAPITALS} are filled from the environment or .env."
    )
    model: str = Field(min_length=1, description="Id of the model at this address.")
    model_id: str = Field(
        default_factory=lambda values: str(values.get("model", "")),
        min_length=1,
        description="Id of the model at OpenRouter, under which the figures are shown; "
        "model if not stated.",
    )
    provider: Pin | None = Field(None, description="Pins one endpoint of OpenRouter.")
    provider_name: str | None = Field(
        None, min_length=1, description="Display name of the provider that must serve."
    )
    api_key_env: str | None = Field(
        None, description="Environment variable that holds the key; known hosts have their own."
    )
    region: str | None = Field(
        None, min_length=1, description="Label of where the target serves or is asked from."
    )
    price: Price | None = Field(None, description="Overrides the listed price.")
    ca_file: Annotated[Path, AfterValidator(file_beside)] | None = Field(
        None, description="Certificates (PEM) to trust at this address instead of the system's."
    )
    extra_body: Annotated[dict[str, JsonValue], BeforeValidator(as_floats)] = Field(
        default_factory=dict, description="More keys of the request body, like reasoning."
    )

    @field_validator("base_url")
    @classmethod
    def _http_url(cls, value: str) -> str:
        if not re.fullmatch(r"https?://[^\s/?#@{}]+(/[^\s?#]*)?", value):
            raise ValueError(
                "should be an http:// or https:// URL without user, query or fragment, "
                'like "https://api.groq.com/openai/v1"'
            )
        if value.rstrip("/").endswith("/chat/completions"):
            raise ValueError("should end before /chat/completions, which is added")
        return value.rstrip("/")

    @field_validator("api_key_env")
    @classmethod
    def _name_of_variable(cls, value: str | None) -> str | None:
        # Capitals only, as no key of a provider is written: its value would end up in the records.
        if value is not None and not re.fullmatch(r"[A-Z][A-Z0-9_]*", value):
            raise ValueError(
                "should be the name of an environment variable in capitals, like GROQ_API_KEY; "
                "never the key itself"
            )
        return value

    @field_validator("extra_body")
    @classmethod
    def _not_our_keys(cls, value: dict[str, JsonValue]) -> dict[str, JsonValue]:
        for key in _OWN_BODY_KEYS:
            if key in value:
                raise ValueError(f"holds {key!r}, which the probe sets itself; take it out")
        return value

    @property
    def tag(self) -> str | None:
        """The pinned endpoint, None for a target that is not pinned."""
        return None if self.provider is None else self.provider.only[0]

    @property
    def host(self) -> str:
        """Host of ``base_url``."""
        return urlsplit(self.base_url).hostname or ""

    @property
    def is_openrouter(self) -> bool:
        """Whether OpenRouter's own keys and headers go with the request."""
        return self.provider is not None or self.host == OPENROUTER_HOST

    @property
    def key_env(self) -> str | None:
        """The variable that holds the key; None when nobody says where a key would be."""
        is_private = self.base_url.startswith("https://")
        return self.api_key_env or (KEY_VARIABLES.get(self.host) if is_private else None)

    @model_validator(mode="after")
    def _pin_is_for_openrouter(self) -> Self:
        if self.provider is not None and self.host in KEY_VARIABLES.keys() - {OPENROUTER_HOST}:
            raise ValueError(
                f"has a provider pin, but {self.host} is not OpenRouter; take out provider"
            )
        return self

    def completions_url(self, environ: Mapping[str, str]) -> str:
        """Return the address to ask, its placeholders filled from ``environ``.

        Raises ``ProbeConfigError`` when one of them is not there.
        """
        missing = [name for name in _PLACEHOLDER.findall(self.base_url) if not environ.get(name)]
        if missing:
            raise ProbeConfigError(
                f"base_url of target {self.name} needs {' and '.join(missing)}; "
                "set it in the environment or .env"
            )
        filled = _PLACEHOLDER.sub(lambda found: environ[found[1]], self.base_url)
        return f"{filled}/chat/completions"
