"""``tokentape up``: one sweep, then the product side by side."""

from __future__ import annotations

import threading

import click

from pipeline.commands.exit_codes import DONE, FAILED, PARTIAL, WRONG_USE
from pipeline.commands.serving import require_ports, run_command, serve
from pipeline.running import stop_signals
from pipeline.services import snapshot_manifest
from pipeline.settings import Settings, load_settings
from pipeline.sources.http import SourceError, SourceUnreachable
from pipeline.sources.reach import ask_source


@click.command()
@click.option("--no-sweep", is_flag=True, help="Pull nothing now; show what is there.")
@click.option("--no-serve", is_flag=True, help="Sweep, build and publish, then end.")
def up(no_sweep: bool, no_serve: bool) -> int:
    """Sweep the market once, then serve the app and Dagster until Ctrl-C.

    Dagster's daemon repeats the sweep every day. History is kept: stop and start as you like.
    Without a network the app opens on the last snapshot, if there is one.
    """
    settings = load_settings()
    if not no_serve:
        require_ports(settings)
    with stop_signals() as stop:
        code = DONE if no_sweep else _sweep(settings, stop)
        if stop.is_set():
            click.echo("tokentape: stopped", err=True)
            return FAILED
        if code not in (DONE, PARTIAL) and (code == WRONG_USE or no_serve):
            return code
        manifest = snapshot_manifest(settings)
        if manifest is None:
            if code == DONE:
                click.echo(
                    "tokentape: no snapshot is there yet; run it without --no-sweep", err=True
                )
            return FAILED
        if code == FAILED:
            click.echo(
                f"tokentape: going on with the snapshot of {manifest.get('as_of_utc')}", err=True
            )
        return code if no_serve else serve(settings, stop)


def _sweep(settings: Settings, stop: threading.Event) -> int:
    try:
        ask_source(settings)
    except SourceUnreachable as error:
        click.echo(
            f"tokentape: {error.reason}; `make demo` shows the product without a network", err=True
        )
        return FAILED
    except SourceError:
        # It is there. The sweep has more patience, and tells what is wrong if that does not help.
        pass
    return run_command(settings, stop, "sync")
