"""``tokentape probe``: measure streaming endpoints."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from pipeline.commands.exit_codes import DONE, FAILED, PARTIAL
from pipeline.commands.probe_config import CONFIG_OPTION, load_config, wrong_use
from pipeline.commands.probe_output import Outputs
from pipeline.commands.probe_table import run_lines
from pipeline.commands.probing import measure, tell, tell_estimates, tell_result
from pipeline.probes.planning import idle_targets, plan_run
from pipeline.probes.targets import TargetCheck
from pipeline.settings import Settings, load_settings
from pipeline.steps import utc_now
from pipeline.target_lookup import check_pins, last_sent, look_up

OUTPUT = click.Path(dir_okay=False, allow_dash=True)


@click.command()
@CONFIG_OPTION
@click.option("--target", "names", multiple=True, help="This target only; may be repeated.")
@click.option(
    "--json", "json_path", type=OUTPUT, help="Write a JSON object a request; - is stdout."
)
@click.option("--csv", "csv_path", type=OUTPUT, help="Write a CSV line a request; - is stdout.")
@click.option("--with-warm-up", is_flag=True, help="Write the requests of the warm-up as well.")
@click.option("--no-self-check", is_flag=True, help="Do not check the instrument beforehand.")
@click.option("--dry-run", is_flag=True, help="Print requests, tokens and cost; send nothing.")
@click.option("--check", is_flag=True, help="Only say which pinned targets are gone.")
@click.option("--land", is_flag=True, help="Keep the run, load it and publish, through Dagster.")
def probe(
    *,
    config_path: Path | None,
    names: tuple[str, ...],
    json_path: str | None,
    csv_path: str | None,
    with_warm_up: bool,
    no_self_check: bool,
    dry_run: bool,
    check: bool,
    land: bool,
) -> int:
    """Measure streaming chat completions: TTFT, tokens/s, failures, cost.

    Keys come from the environment or .env: OPENROUTER_API_KEY, GROQ_API_KEY and so on; a target
    may name another variable. What a run may cost is estimated before it starts, and nothing is
    sent that the budget of the configuration has no room for.

    Ends with code 3 when some target was not measured, with 1 when none was.
    """
    outputs = Outputs(json_path, csv_path, with_warm_up)
    if land and (names or no_self_check):
        raise click.UsageError("--land takes the whole configuration, with its self-check")
    settings = load_settings()
    with wrong_use():
        config = load_config(config_path, settings, names)
        if check:
            return _tell_checks(check_pins(config.providers, settings))
        if land and not dry_run:
            return _land(settings, config_path, outputs)
        ready = look_up(config, settings)
        asked, now = last_sent(settings).of(config.providers), utc_now()
        plan = plan_run(config, asked, now)
        if "cold_start" in config.prompts:
            tell(
                f"target {target.name} was asked less than {config.cold_start_idle_minutes:g} "
                "minutes ago: no cold start"
                for target in config.providers
                if target.name not in idle_targets(config, asked, now)
            )
        if dry_run:
            return tell_estimates(config, plan, ready, settings)
        result = measure(config, plan, ready, settings, outputs, self_check=not no_self_check)
    return tell_result(run_lines(result, ready.prices), result, settings, outputs)


def _land(settings: Settings, config_path: Path | None, outputs: Outputs) -> int:
    # Dagster takes a second to import, and plain measuring does without it.
    from pipeline.commands.landed_probe import land  # noqa: PLC0415

    if config_path is not None:
        settings = settings.model_copy(update={"probes_file": config_path})
    return land(settings, outputs)


def _tell_checks(checks: Sequence[TargetCheck]) -> int:
    if not checks:
        click.echo("no target is pinned to an endpoint, so there is nothing to check")
    for found in checks:
        served_by = found.provider_name or "-"
        click.echo(f"{found.status:<7}  {found.target.name}  {found.target.tag}  {served_by}")
    tell(found.problem for found in checks if found.problem is not None)
    if checks and all(found.status == "unknown" for found in checks):
        return FAILED
    return DONE if all(found.status == "found" for found in checks) else PARTIAL
