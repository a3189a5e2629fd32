"""The command line: ``tokentape COMMAND``, see ``COMMANDS``."""

from __future__ import annotations

import importlib
import logging
import sys
import traceback
from collections.abc import Sequence

import click

from pipeline.commands.exit_codes import DONE, EXIT_CODES, FAILED, WRONG_USE

# Loaded when called: the help must not wait for Dagster, nor `doctor` for anything broken.
COMMANDS = {
    "up": "Sweep the market once, then serve the app and Dagster side by side.",
    "sync": "Pull one sweep, load it, build the tables, publish a snapshot.",
    "backfill": "Load days from landing again, build and publish; nothing is pulled.",
    "facts": "Ask for model cards: size, licence, architecture; load, build and publish.",
    "publish": "Publish a snapshot of what the warehouse holds.",
    "probe": "Measure streaming endpoints: TTFT, tokens/s, failures, cost.",
    "shadow": "Send a share of your own prompts to two targets and compare them.",
    "scores": "Bring in scores of models, for points per dollar.",
    "doctor": "Look for what is wrong: one line a finding, with its remedy.",
    "demo": "The whole product on a made-up market of 90 days, without any network.",
}


class CommandGroup(click.Group):
    """Commands, each in its own module of ``pipeline.commands``."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order in which a newcomer meets them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command's module."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(
            importlib.import_module(f"pipeline.commands.{cmd_name}"), cmd_name
        )
        command.short_help = COMMANDS[cmd_name]
        command.epilog = EXIT_CODES
        if all(parameter.name != "debug" for parameter in command.params):
            command.params.append(
                click.Option(
                    ["--debug"],
                    is_flag=True,
                    expose_value=False,
                    help="Log everything, and show the trace of an error.",
                )
            )
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=CommandGroup, epilog=EXIT_CODES)
@click.version_option(package_name="tokentape")
def tokentape() -> None:
    """The ticker tape of the LLM API market.

    Who serves a model, at what price, how fast, how reliably, and how that changed. Prices come
    from OpenRouter's public API, history stays in the data folder, and every table is published
    as Parquet, CSV and JSON.

    \b
    Settings are environment variables, or lines of a file .env:
      TOKENTAPE_DATA_DIR        folder of all data (./data)
      TOKENTAPE_OPENROUTER_URL  base URL of the API (https://openrouter.ai/api/v1)
      OPENROUTER_API_KEY        not needed; fills in latency and throughput
      HF_TOKEN                  not needed; opens gated model cards
      TOKENTAPE_SWEEP_AT_UTC    time of the daily sweep (06:17)
      TOKENTAPE_APP_PORT        8501
      TOKENTAPE_DAGSTER_PORT    3000
      TOKENTAPE_SWEEP_CONCURRENCY  requests in flight (8)
      TOKENTAPE_PROBES_FILE     what `probe` measures (some targets at OpenRouter)
      TOKENTAPE_REGION          label of the place that measures
      DAGSTER_HOME              folder of Dagster's runs (./.dagster)
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit; an error is one line on stderr."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    is_debug = "--debug" in given
    _configure_logging(is_debug=is_debug)
    sys.exit(_run(given, is_debug=is_debug))


def _run(arguments: list[str], *, is_debug: bool) -> int:
    try:
        code = tokentape.main(args=arguments, prog_name="tokentape", standalone_mode=False)
    except click.ClickException as error:
        where = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else ""
        advice = f" (see `{where} --help`)" if where else ""
        return _tell(f"{error.format_message()}{advice}", WRONG_USE)
    except (click.Abort, KeyboardInterrupt):
        return _tell("stopped", FAILED)
    except Exception as error:
        if is_debug:
            traceback.print_exc()
        return _tell(*_explain(error))
    return code if isinstance(code, int) else DONE


def _explain(error: Exception) -> tuple[str, int]:
    # Imported here: these modules take their time, and most calls have no error to tell.
    from pipeline.errors import KNOWN_ERRORS, OUTER_ERRORS, one_line  # noqa: PLC0415
    from pipeline.running import PortTakenError, ServiceError  # noqa: PLC0415
    from pipeline.settings import SettingsError  # noqa: PLC0415

    if isinstance(error, SettingsError | PortTakenError):
        return str(error), WRONG_USE
    if isinstance(error, ServiceError):
        return str(error), FAILED
    if isinstance(error, KNOWN_ERRORS + OUTER_ERRORS):
        return one_line(error), FAILED
    return f"unexpected {one_line(error)}; --debug shows where", FAILED


def _tell(line: str, code: int) -> int:
    click.echo(f"tokentape: {line}", err=True)
    return code


def _configure_logging(*, is_debug: bool) -> None:
    handler = logging.StreamHandler()
    logger = logging.getLogger("tokentape")
    # A terminal has the progress bar; a log has lines.
    on_terminal = sys.stderr.isatty()
    handler.setFormatter(
        logging.Formatter("%(message)s" if on_terminal else "%(asctime)s %(message)s")
    )
    logger.handlers = [handler]
    logger.setLevel(logging.DEBUG if is_debug else logging.WARNING if on_terminal else logging.INFO)


if __name__ == "__main__":
    main()
