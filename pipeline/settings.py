"""Every knob of tokentape, read from the environment and ``.env``, checked at start."""

from __future__ import annotations

import os
import re
from datetime import time
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from dotenv import dotenv_values
from pydantic import AliasChoices, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from pipeline.api_keys import WRONG_KEY, is_usable_key

# Settings with such names are never shown.
SECRETS = ("_KEY", "_TOKEN")
Port = Annotated[int, Field(ge=1, le=65535)]


class SettingsError(Exception):
    """A setting is wrong. One line: which one, what was found, what is wanted."""


class Settings(BaseSettings):
    """Settings of one installation; see ``docs/operations.md`` for the table of them."""

    model_config = SettingsConfigDict(
        env_prefix="TOKENTAPE_",
        env_file=".env",
        extra="ignore",
        frozen=True,
        env_ignore_empty=True,
    )

    data_dir: Path = Field(Path("data"), description="Folder of landing, warehouse and snapshots.")
    market: Literal["live", "demo"] = Field(
        "live", description="Which market the data folder holds; demo data is labelled everywhere."
    )

    openrouter_url: str = Field("https://openrouter.ai/api/v1", description="Base URL of the API.")
    openrouter_api_key: SecretStr | None = Field(
        None,
        validation_alias=AliasChoices("OPENROUTER_API_KEY", "TOKENTAPE_OPENROUTER_API_KEY"),
        description="Optional; fills in latency and throughput.",
    )

    huggingface_url: str = Field(
        "https://huggingface.co", description="Base URL of the hub that holds model cards."
    )
    huggingface_token: SecretStr | None = Field(
        None,
        validation_alias=AliasChoices("HF_TOKEN", "TOKENTAPE_HUGGINGFACE_TOKEN"),
        description="Optional; opens the gated models that its owner has been let in to.",
    )
    huggingface_requests_per_s: float = Field(
        2.0, gt=0, le=1000, description="Upper bound on the rate; the hub counts by five minutes."
    )
    model_cards_per_run: int = Field(
        300, ge=1, le=10_000, description="Models whose cards are asked for in one run, at most."
    )
    model_card_days: int = Field(
        7, ge=1, le=365, description="Age at which a model's card is asked for again."
    )

    sweep_concurrency: int = Field(8, ge=1, le=64, description="Requests in flight in a sweep.")
    requests_per_s: float = Field(
        400.0, gt=0, le=1000, description="Upper bound on the rate at which requests start."
    )
    connect_timeout_s: float = Field(10.0, gt=0, le=300)
    read_timeout_s: float = Field(60.0, gt=0, le=600)
    max_retries: int = Field(4, ge=0, le=10, description="Further tries after a passing fault.")
    max_retry_wait_s: float = Field(
        60.0, ge=0, le=3600, description="A longer Retry-After fails the request."
    )
    max_body_mib: int = Field(64, ge=1, le=1024, description="A larger answer is refused.")

    sweep_at_utc: Annotated[time, NoDecode] = Field(
        time(6, 17), description="Time of the daily sweep, UTC, HH:MM."
    )

    probes_file: Path | None = Field(
        None,
        description="What to probe; set, the schedule of probes is on. Else a plan of tokentape's.",
    )
    offers_file: Path | None = Field(
        None, description="CSV of subscriptions, in place of the bundled one."
    )
    rigs_file: Path | None = Field(
        None, description="CSV of rigs of one's own, beside the reference rigs on model pages."
    )
    region: str | None = Field(
        None, description="Label of the place that measures, where a target states none."
    )

    host: str = Field("127.0.0.1", description="Address on which the app and Dagster listen.")
    app_port: Port = 8501
    dagster_port: Port = 3000

    warehouse_lock_timeout_s: float = Field(
        600.0, ge=0, description="How long a run waits for another one to release the warehouse."
    )
    duckdb_memory_limit: str = Field("2GB", description="Memory that DuckDB may take.")
    duckdb_threads: int = Field(2, ge=1, le=256)
    snapshots_kept: int = Field(3, ge=1, description="Published snapshots kept on disk.")

    @field_validator("openrouter_api_key", "huggingface_token")
    @classmethod
    def _usable_key(cls, value: SecretStr | None) -> SecretStr | None:
        key = value.get_secret_value().strip() if value is not None else ""
        if key and not is_usable_key(key):
            raise ValueError(f"it {WRONG_KEY}")
        return SecretStr(key) if key else None

    @field_validator("openrouter_url", "huggingface_url")
    @classmethod
    def _http_url(cls, value: str) -> str:
        if not re.fullmatch(r"https?://[^\s/?#@]+(/[^\s?#]*)?", value):
            raise ValueError("must be an http:// or https:// URL without user, query or fragment")
        return value.rstrip("/")

    @field_validator("sweep_at_utc", mode="before")
    @classmethod
    def _clock_time(cls, value: object) -> object:
        if isinstance(value, str) and not re.fullmatch(r"([01]\d|2[0-3]):[0-5]\d", value):
            raise ValueError("must be a time of day like 06:17")
        return value

    @field_validator("duckdb_memory_limit")
    @classmethod
    def _memory_size(cls, value: str) -> str:
        if not re.fullmatch(r"\d+(\.\d+)?\s*(MB|GB|TB|MiB|GiB|TiB)", value):
            raise ValueError("must be a size like 2GB or 512MiB")
        return value

    @property
    def landing_dir(self) -> Path:
        """Raw answers, one folder a sweep."""
        return self.data_dir / "landing"

    @property
    def warehouse_path(self) -> Path:
        """The DuckDB file that only the pipeline opens."""
        return self.data_dir / "warehouse.duckdb"

    @property
    def published_dir(self) -> Path:
        """Published snapshots; ``current`` points at the newest."""
        return self.data_dir / "published"


def load_settings() -> Settings:
    """Read the settings once more; raises ``SettingsError`` with one line a wrong setting."""
    try:
        return Settings()
    except ValidationError as error:
        raise SettingsError("; ".join(_explain(item) for item in error.errors())) from None


@cache
def current_settings() -> Settings:
    """Return the settings of this process, read at the first call."""
    return load_settings()


def environment_of(settings: Settings) -> dict[str, str]:
    """Return the environment with what ``.env`` adds to it; keys of targets stand there."""
    in_file = {name: value for name, value in dotenv_values(".env").items() if value is not None}
    found = {**in_file, **os.environ}
    if settings.openrouter_api_key is not None:
        found["OPENROUTER_API_KEY"] = settings.openrouter_api_key.get_secret_value()
    if settings.huggingface_token is not None:
        found["HF_TOKEN"] = settings.huggingface_token.get_secret_value()
    return found


def _explain(item: object) -> str:
    details = dict(item)  # type: ignore[call-overload]
    field = str(details["loc"][0])
    name = field.upper() if field.isupper() else f"TOKENTAPE_{field.upper()}"
    problem = str(details["msg"]).removeprefix("Value error, ")
    found = "" if name.endswith(SECRETS) else f"={details['input']!r}"
    return f"{name}{found} is not usable: {problem}"
