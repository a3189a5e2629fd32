"""``python -m pipeline.sandbox``: the sandbox market as a server of its own."""

from __future__ import annotations

import signal
from datetime import UTC, date, datetime
from pathlib import Path
from threading import Event

import click

from pipeline.sandbox.api import Source
from pipeline.sandbox.faults import KINDS, Fault, UnknownFaultError
from pipeline.sandbox.market import DEFAULT_SEED, Market
from pipeline.sandbox.recording import Recording, RecordingError
from pipeline.sandbox.server import SandboxServer

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_KNOWN = "\n".join(
    f"  {name:<18} {kind.does}" + (f" [{kind.default:g}]" if kind.default is not None else "")
    for name, kind in KINDS.items()
)
_HELP = f"""Serve a market on this machine under /api/v1, as OpenRouter does.

Without --recording it is a made-up, deterministic market: the same seed, anchor and time give
the same answers. Point a client at the URL that is printed. Ctrl-C stops it.

\b
Faults (--fault NAME[=VALUE][,path=PATTERN][,probability=P][,first=N]), value's default in []:
{_KNOWN}

\b
While it runs:
  curl -d '{{"faults": [{{"name": "http_503", "first": 2}}]}}' http://HOST:PORT/sandbox/faults
  curl -d '{{"now": "2026-11-30T06:17:00Z"}}' http://HOST:PORT/sandbox/clock
"""


def _read_faults(
    context: click.Context, option: click.Parameter, texts: tuple[str, ...]
) -> tuple[Fault, ...]:
    try:
        return tuple(map(Fault.from_text, texts))
    except UnknownFaultError as problem:
        raise click.BadParameter(str(problem)) from None


@click.command(help=_HELP)
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", default=8080, show_default=True, help="0 takes a free one.")
@click.option("--seed", default=DEFAULT_SEED, show_default=True, help="Of market and faults.")
@click.option(
    "--anchor", type=click.DateTime(["%Y-%m-%d"]), help="Day the told 90 days lead to [today]."
)
@click.option(
    "--at", "instant", help="Stop the market's clock at this ISO time (UTC if it says none)."
)
@click.option(
    "--recording",
    type=click.Path(exists=True, path_type=Path),
    help="Recorded sweep, or folder of them.",
)
@click.option(
    "--sweep", default="", help="Part of the sweep's file name, when --recording is a folder."
)
@click.option("--models", type=_FILE, help="Recorded body of /models for --recording.")
@click.option("--providers", type=_FILE, help="Recorded body of /providers for --recording.")
@click.option("--latency-ms", default=0.0, help="Wait before each answer.")
@click.option(
    "--page-size", type=click.IntRange(1, 1000), help="/models comes in pages of this size."
)
@click.option("--compress", is_flag=True, help="Answer with gzip where the client takes it.")
@click.option(
    "--fault",
    "faults",
    callback=_read_faults,
    metavar="NAME...",
    multiple=True,
    help="Switch a fault on; repeatable.",
)
def main(
    *,
    host: str,
    port: int,
    seed: int,
    anchor: datetime | None,
    instant: str | None,
    recording: Path | None,
    sweep: str,
    models: Path | None,
    providers: Path | None,
    latency_ms: float,
    page_size: int | None,
    compress: bool,
    faults: tuple[Fault, ...],
) -> None:
    """Run the server until it is interrupted."""
    fixed = _instant(instant)
    day = anchor.date() if anchor else (fixed or datetime.now(UTC)).date()
    source = _source(
        seed=seed,
        anchor=day,
        recording=recording,
        sweep=sweep,
        models=models,
        providers=providers,
    )
    try:
        server = SandboxServer(
            source,
            faults=faults,
            latency_ms=latency_ms,
            host=host,
            port=port,
            page_size=page_size,
            compress=compress,
            seed=seed,
        )
    except OSError as problem:
        raise click.ClickException(f"cannot listen on {host}:{port}: {problem}") from None
    server.set_now(fixed)
    stop = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    with server:
        click.echo(server.url)
        stop.wait()


def _instant(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        raise click.UsageError(f"--at {text!r} is not an ISO time like 2026-11-30T06:17") from None
    return instant if instant.tzinfo else instant.replace(tzinfo=UTC)


def _source(
    *,
    seed: int,
    anchor: date,
    recording: Path | None,
    sweep: str,
    models: Path | None,
    providers: Path | None,
) -> Source:
    if recording is None:
        return Market(seed, anchor)
    try:
        if recording.is_dir():
            return Recording.find(recording, sweep)
        return Recording.open(recording, models, providers)
    except RecordingError as problem:
        raise click.ClickException(str(problem)) from None


if __name__ == "__main__":
    main()
