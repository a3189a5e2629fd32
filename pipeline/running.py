"""Run programs side by side: start, wait until they answer, stop them all, leave no orphan."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import requests

POLL_S = 0.1
# Asked first as Ctrl-C in a terminal would ask, because Dagster closes cleanly on that alone.
STOPPING = ((signal.SIGINT, 8.0), (signal.SIGTERM, 4.0), (signal.SIGKILL, 2.0))
LOG_TAIL_BYTES = 4096
PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


class PortTakenError(Exception):
    """A port that is needed is in use."""


class ServiceError(Exception):
    """A service ended by itself, or did not come up; the message names its log."""


@dataclass(frozen=True)
class Service:
    """A program that serves HTTP until it is stopped; ``ready_url`` answers once it is up."""

    name: str
    command: Sequence[str]
    folder: Path
    environment: Mapping[str, str]
    log_path: Path
    ready_url: str


def require_free_port(host: str, port: int, setting: str) -> None:
    """Raise ``PortTakenError``, naming ``setting``, when nothing could listen at host:port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        # As servers do, so that connections of a server stopped just now do not count.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise PortTakenError(
                f"cannot listen at {host}:{port} ({error.strerror}); "
                f"stop what runs there or set {setting} to another port"
            ) from None


@contextmanager
def stop_signals() -> Iterator[threading.Event]:
    """Give an event that SIGINT and SIGTERM set; the former handlers come back at the end.

    Another thread sets it. A handler runs in the main thread, which may be in the middle of
    waiting for that same event; setting it there would wait for a lock that is held below it.
    """
    stop = threading.Event()
    wanted = (signal.SIGINT, signal.SIGTERM)
    heard, told = socket.socketpair()

    def listen() -> None:
        while number := heard.recv(1):
            if number[0] in wanted:
                stop.set()

    listener = threading.Thread(target=listen, name="signals")
    with heard, told:
        told.setblocking(False)
        former_fd = signal.set_wakeup_fd(told.fileno(), warn_on_full_buffer=False)
        former = {number: signal.signal(number, lambda *_: None) for number in wanted}
        listener.start()
        try:
            yield stop
        finally:
            for number, handler in former.items():
                signal.signal(number, handler)
            signal.set_wakeup_fd(former_fd)
            told.shutdown(socket.SHUT_WR)
            listener.join()


def run_to_end(
    command: Sequence[str], environment: Mapping[str, str], stop: threading.Event
) -> int:
    """Run a command with this terminal and return its exit code; ended early when stopped."""
    process = _start(command, Path.cwd(), environment, output=None)
    try:
        while process.poll() is None and not stop.wait(POLL_S):
            pass
    finally:
        _stop([process])
    return process.returncode


def run_side_by_side(
    services: Sequence[Service],
    stop: threading.Event,
    on_ready: Callable[[], None],
    start_timeout_s: float = 180.0,
) -> None:
    """Start all services, call ``on_ready`` when every one answers, and run until ``stop`` is set.

    Raises ``ServiceError`` when a service ends by itself or does not answer in time. All are
    stopped when this returns or raises.
    """
    processes: list[subprocess.Popen[bytes]] = []
    try:
        for service in services:
            service.log_path.parent.mkdir(parents=True, exist_ok=True)
            with service.log_path.open("wb") as log:
                process = _start(
                    service.command, service.folder, service.environment, output=log.fileno()
                )
            processes.append(process)
        waiting = list(services)
        deadline = time.monotonic() + start_timeout_s
        while not stop.wait(POLL_S):
            for service, process in zip(services, processes, strict=True):
                if process.poll() is not None:
                    raise ServiceError(
                        f"{service.name} ended by itself with code {process.returncode}: "
                        f"{_last_line(service.log_path)} (log: {service.log_path})"
                    )
            if waiting:
                waiting = [service for service in waiting if not _answers(service.ready_url)]
                if not waiting:
                    on_ready()
                elif time.monotonic() > deadline:
                    raise ServiceError(
                        f"{waiting[0].name} does not answer at {waiting[0].ready_url} after "
                        f"{start_timeout_s:g} s (log: {waiting[0].log_path})"
                    )
    finally:
        _stop(processes)


def _start(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], output: int | None
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - the command is put together by us
        list(command),
        cwd=folder,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT if output is not None else None,
        # A group of its own: Ctrl-C reaches us alone, and a stop reaches its children too.
        start_new_session=True,
        preexec_fn=_prepare_child,  # noqa: PLW1509 - two system calls, no lock taken
    )


def _prepare_child() -> None:
    # Started with & by a script, we would pass on an ignored SIGINT, and Dagster would not stop.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if _libc is not None:
        # When we are killed, the child is told to end.
        _libc.prctl(PR_SET_PDEATHSIG, signal.SIGINT)


def _stop(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    for number, grace_s in STOPPING:
        remaining = [process for process in processes if _group_lives(process)]
        if not remaining:
            return
        for process in remaining:
            _signal_group(process, number)
        deadline = time.monotonic() + grace_s
        while any(_group_lives(process) for process in remaining):
            if time.monotonic() > deadline:
                break
            time.sleep(POLL_S)


def _group_lives(process: subprocess.Popen[bytes]) -> bool:
    return process.poll() is None or _signal_group(process, 0)


def _signal_group(process: subprocess.Popen[bytes], number: int) -> bool:
    # start_new_session made the process the leader of a group with its own id.
    try:
        os.killpg(process.pid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _answers(url: str) -> bool:
    with requests.Session() as session:
        # A proxy of the environment cannot reach this machine's own ports.
        session.trust_env = False
        try:
            return session.get(url, timeout=2).ok
        except requests.RequestException:
            return False


def _last_line(path: Path) -> str:
    with path.open("rb") as log:
        log.seek(max(0, path.stat().st_size - LOG_TAIL_BYTES))
        lines = log.read().decode(errors="replace").split("\n")
    said = [line.strip() for line in lines if line.strip()]
    return said[-1] if said else "it said nothing"
