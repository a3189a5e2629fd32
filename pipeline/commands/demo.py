"""``tokentape demo``: the product on a made-up market."""

from __future__ import annotations

import threading
from datetime import datetime

import click
from pydantic import SecretStr

from pipeline import fact_steps
from pipeline.commands.exit_codes import DONE, FAILED
from pipeline.commands.serving import require_ports, run_command, serve
from pipeline.demo import demo_anchor, demo_settings, land_history
from pipeline.demo_probes import land_probes, write_probe_config
from pipeline.landing import LandedSweep, Landing
from pipeline.progress import Progress
from pipeline.running import stop_signals
from pipeline.sandbox.market import Market
from pipeline.sandbox.provider.process import ProviderProcess
from pipeline.sandbox.server import SandboxServer
from pipeline.services import snapshot_manifest
from pipeline.settings import Settings, load_settings
from pipeline.steps import utc_now


@click.command()
@click.option("--no-serve", is_flag=True, help="Make history, build and publish, then end.")
def demo(no_serve: bool) -> int:
    """Show the whole product on a made-up market, without any network.

    A local server stands in for the API. It is swept once for each of the last 90 days, with the
    clock set back, and then by the daily schedule. Probes of the last two weeks are made up as
    well; from now on they are measured, against a local provider. Everything is labelled as demo
    data and kept apart in ./data-demo (or TOKENTAPE_DATA_DIR, if set), Dagster's runs too. Started
    again, it adds only the days that are missing.
    """
    settings = demo_settings(load_settings())
    if not no_serve:
        require_ports(settings)
    now = utc_now()
    market = Market(anchor=demo_anchor(settings, now.date()))
    probes_file = settings.data_dir / "probes.json"
    with (
        stop_signals() as stop,
        SandboxServer(market) as sandbox,
        ProviderProcess(market=True, anchor=market.anchor) as provider,
    ):
        settings = settings.model_copy(
            update={
                "openrouter_url": sandbox.url,
                "probes_file": probes_file,
                "huggingface_url": sandbox.hub_url,
                "huggingface_requests_per_s": 1000.0,
                # A stand-in, as the key is: a real one has no business there.
                "huggingface_token": SecretStr("demo"),
            }
        )
        write_probe_config(probes_file, provider.base_url)
        click.echo(f"demo: a made-up market, in {settings.data_dir}")
        land_history(settings, sandbox, now, stop)
        made = [land_probes(settings, market, now, stop), _land_cards(settings, now, stop)]
        code = DONE if _is_published(settings) and not any(made) else _bring_in(settings, stop)
        if stop.is_set():
            click.echo("tokentape: stopped", err=True)
            return FAILED
        return code if no_serve or code != DONE else serve(settings, stop)


def _land_cards(settings: Settings, now: datetime, stop: threading.Event) -> LandedSweep | None:
    if stop.is_set():
        return None
    return fact_steps.land_due_cards(settings, lambda: now, Progress("demo model cards"))


def _bring_in(settings: Settings, stop: threading.Event) -> int:
    return FAILED if stop.is_set() else run_command(settings, stop, "backfill")


def _is_published(settings: Settings) -> bool:
    manifest = snapshot_manifest(settings)
    if manifest is None:
        return False
    newest = max(sweep.manifest.started_at_utc for sweep in Landing(settings.landing_dir).sweeps())
    return datetime.fromisoformat(str(manifest["as_of_utc"])) >= newest
