"""``tokentape doctor``: what is wrong, and what helps."""

from __future__ import annotations

import click

from pipeline.commands.exit_codes import DONE, FAILED
from pipeline.doctor import Finding, examine
from pipeline.settings import SettingsError, load_settings
from pipeline.steps import utc_now
from pipeline.warehouse import open_warehouse


@click.command()
@click.option(
    "--checksum",
    is_flag=True,
    help="Print only the warehouse's checksum: the same content, the same line.",
)
def doctor(checksum: bool) -> int:
    """Look at settings, versions, network, disk, warehouse, last sweep and snapshot.

    One line a finding: ok, warn or fail, what was found, and what helps. Ends with code 1 when
    one of them is a fail, else with 0.

    --checksum shows that a warehouse rebuilt from landing is the same as before.
    """
    if checksum:
        with open_warehouse(load_settings()) as warehouse:
            click.echo(warehouse.checksum())
        return DONE
    try:
        settings = load_settings()
    except SettingsError as error:
        click.echo(Finding("fail", "settings", str(error), "mend it in the environment or .env"))
        return FAILED
    worst = DONE
    for finding in examine(settings, utc_now()):
        click.echo(finding)
        if finding.level == "fail":
            worst = FAILED
    return worst
