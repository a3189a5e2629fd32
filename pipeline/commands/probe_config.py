"""The configuration that a command measures by, and its errors as wrong use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from pipeline.probes.budget import BudgetError
from pipeline.probes.config import (
    DEFAULT_CONFIG,
    ProbeConfig,
    ProbeConfigError,
    load_probe_config,
)
from pipeline.settings import Settings

CONFIG_OPTION = click.option(
    "--config",
    "config_path",
    type=click.Path(dir_okay=False, path_type=Path),
    help="What to measure; default: TOKENTAPE_PROBES_FILE, else the targets of tokentape.",
)


@contextmanager
def wrong_use() -> Iterator[None]:
    """Turn a wrong configuration, or one that is too dear, into wrong use of the command."""
    try:
        yield
    except (ProbeConfigError, BudgetError) as error:
        raise click.ClickException(str(error)) from None


def load_config(path: Path | None, settings: Settings, names: Sequence[str]) -> ProbeConfig:
    """Read the configuration, with the targets ``names`` only if there are any."""
    config = load_probe_config(path or settings.probes_file or DEFAULT_CONFIG)
    there = {target.name: target for target in config.providers}
    for name in names:
        if name not in there:
            raise ProbeConfigError(f"there is no target {name}; there are: {', '.join(there)}")
    if not names:
        return config
    chosen = tuple(target for target in config.providers if target.name in names)
    return config.model_copy(update={"providers": chosen})
