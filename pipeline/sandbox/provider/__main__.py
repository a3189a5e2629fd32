"""``python -m pipeline.sandbox.provider``: the sandbox provider as a server of its own."""

from __future__ import annotations

import signal
import sys
from datetime import UTC, datetime
from pathlib import Path
from ssl import SSLContext

import click

from pipeline.sandbox.provider.quirks import KINDS
from pipeline.sandbox.provider.script import Script, ScriptError
from pipeline.sandbox.provider.scripted import Scripted, ScriptSource
from pipeline.sandbox.provider.server import ProviderServer

_KEYS = "\n".join(f"  {name:<22} {field.default}" for name, field in Script.model_fields.items())
_KNOWN = "\n".join(
    f"  {name:<22} {kind.does}" + (f" [{kind.default:g}]" if kind.default is not None else "")
    for name, kind in KINDS.items()
)
_HELP = f"""Stream chat completions on this machine, and log when each chunk was truly sent.

Point a client at the URL that is printed. Streams follow a script: the same script and order of
requests give the same streams. Ctrl-C stops it.

\b
Keys of a script, with their defaults:
{_KEYS}

\b
Its quirks (NAME[=VALUE][,probability=P][,first=N]), with the value's default in []:
{_KNOWN}

\b
While it runs:
  curl -d '{{"tokens": 8, "quirks": ["crlf", "stall=2"]}}' http://HOST:PORT/sandbox/script
  curl http://HOST:PORT/sandbox/truth
"""


def _read_script(context: click.Context, option: click.Parameter, text: str) -> Script:
    try:
        return Script.from_json(text)
    except ScriptError as problem:
        raise click.BadParameter(str(problem)) from None


@click.command(help=_HELP)
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", default=8081, show_default=True, help="0 takes a free one.")
@click.option("--script", default="{}", callback=_read_script, metavar="JSON", help="What to play.")
@click.option(
    "--market",
    "is_market",
    is_flag=True,
    help="Be OpenRouter for the sandbox market: models, tags, speeds and prices are the market's.",
)
@click.option("--seed", type=int, help="Of the market.")
@click.option(
    "--anchor", type=click.DateTime(["%Y-%m-%d"]), help="The market's anchor day [today]."
)
@click.option(
    "--tls",
    "ca_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Speak TLS; the certificate that clients must trust is written to this file.",
)
@click.option(
    "--until-input-ends", is_flag=True, help="Stop when standard input ends, as with a parent."
)
def main(
    *,
    host: str,
    port: int,
    script: Script,
    is_market: bool,
    seed: int | None,
    anchor: datetime | None,
    ca_file: Path | None,
    until_input_ends: bool,
) -> None:
    """Run the server until it is interrupted."""
    source = _market_provider(script, seed, anchor) if is_market else Scripted(script)
    try:
        tls = None if ca_file is None else _server_context(ca_file)
        server = ProviderServer(source, host=host, port=port, tls=tls)
    except OSError as problem:
        raise click.ClickException(f"cannot listen on {host}:{port}: {problem}") from None
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: server.loop.stop())
    if until_input_ends:
        # Nothing is ever written to it: it can be read when its other end is closed.
        server.loop.watch(sys.stdin.buffer, server.loop.stop)
    click.echo(server.base_url)
    server.run()


# Tests and self-checks start a server often, and most of these need neither of the two.
def _market_provider(script: Script, seed: int | None, anchor: datetime | None) -> ScriptSource:
    from pipeline.sandbox.market import DEFAULT_SEED, Market  # noqa: PLC0415
    from pipeline.sandbox.provider.market_provider import MarketProvider  # noqa: PLC0415

    day = (anchor or datetime.now(UTC)).date()
    return MarketProvider(Market(DEFAULT_SEED if seed is None else seed, day), script)


def _server_context(ca_file: Path) -> SSLContext:
    from pipeline.sandbox.provider.authority import server_context  # noqa: PLC0415

    return server_context(ca_file)


if __name__ == "__main__":
    main()
