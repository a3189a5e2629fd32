"""What `up` and `demo` share: a job run as a child, then app and Dagster side by side."""

from __future__ import annotations

import sys
import threading

import click

from pipeline.commands.exit_codes import DONE
from pipeline.running import require_free_port, run_side_by_side, run_to_end
from pipeline.services import (
    app_service,
    app_url,
    dagster_service,
    dagster_url,
    environment,
    model_page_url,
    prepare_dagster_home,
    snapshot_manifest,
)
from pipeline.settings import Settings, SettingsError


def require_ports(settings: Settings) -> None:
    """Raise ``PortTakenError`` or ``SettingsError`` when the two services could not listen."""
    if settings.app_port == settings.dagster_port:
        raise SettingsError(
            f"TOKENTAPE_APP_PORT and TOKENTAPE_DAGSTER_PORT are both {settings.app_port}; "
            "give each its own"
        )
    require_free_port(settings.host, settings.app_port, "TOKENTAPE_APP_PORT")
    require_free_port(settings.host, settings.dagster_port, "TOKENTAPE_DAGSTER_PORT")


def run_command(settings: Settings, stop: threading.Event, *arguments: str) -> int:
    """Run a command of tokentape as a child, with this terminal; return its exit code.

    A child, because the job's libraries take 400 MB, and this process may serve for weeks.
    """
    command = (sys.executable, "-m", "pipeline.cli", *arguments)
    return run_to_end(command, environment(settings), stop)


def serve(settings: Settings, stop: threading.Event) -> int:
    """Run app and Dagster until ``stop`` is set; raises ``ServiceError`` when one ends."""
    prepare_dagster_home(settings)
    click.echo("starting the app and Dagster ...")
    services = [app_service(settings), dagster_service(settings)]
    run_side_by_side(services, stop, on_ready=lambda: _announce(settings))
    click.echo("stopped")
    return DONE


def _announce(settings: Settings) -> None:
    manifest = snapshot_manifest(settings) or {}
    click.echo(f"\ntokentape is up ({settings.market} market, as of {manifest.get('as_of_utc')})")
    click.echo(f"  app      {app_url(settings)}")
    page = model_page_url(settings)
    if page is not None:
        click.echo(f"  a model  {page}")
    click.echo(f"  Dagster  {dagster_url(settings)}")
    click.echo(f"  next sweeps daily at {settings.sweep_at_utc:%H:%M} UTC; ", nl=False)
    click.echo(f"logs in {settings.data_dir / 'logs'}; Ctrl-C stops both")
