"""``tokentape publish``: a snapshot of what the warehouse holds."""

from __future__ import annotations

from pathlib import Path

import click

from pipeline import steps
from pipeline.measuring import while_not_measuring
from pipeline.settings import load_settings
from pipeline.sql_models import load_sql_models


@click.command()
@click.option(
    "--to",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder to publish in; default: `published` in the data folder.",
)
def publish(folder: Path | None) -> int:
    """Publish a snapshot of what the warehouse holds; nothing is pulled.

    Tables that are behind are built first. The snapshot becomes `current` in the folder by one
    atomic rename: readers see the former one or this, never a mix.
    """
    settings = load_settings()
    with while_not_measuring(settings):
        snapshot = steps.publish(settings, load_sql_models(), steps.utc_now(), folder)
    click.echo(f"published {snapshot.path}")
    return 0
