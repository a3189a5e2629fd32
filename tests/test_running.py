"""Programs side by side: all come up, all go down, nothing is left behind."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import requests
from processes import is_running

from pipeline.running import (
    PortTakenError,
    Service,
    ServiceError,
    require_free_port,
    run_side_by_side,
    run_to_end,
    stop_signals,
)

# A server that says which process it is, and starts a child that would outlive it.
SERVER = """
    import http.server, os, signal, subprocess, sys
    port, pid_file, *flags = sys.argv[1:]
    if "stubborn" in flags:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            if self.path == "/die":
                print("giving up", flush=True)
                os._exit(7)
            self.send_response(200)
            self.end_headers()
        def log_message(self, *args):
            pass
    server = http.server.HTTPServer(("127.0.0.1", int(port)), Handler)
    open(pid_file, "w").write(f"{os.getpid()} {child.pid}")
    server.serve_forever()
"""
PATIENCE_S = 30.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.02)


@pytest.fixture
def make_service(tmp_path: Path) -> Callable[..., Service]:
    script = tmp_path / "server.py"
    script.write_text(textwrap.dedent(SERVER))

    def make(name: str, *flags: str, port: int | None = None) -> Service:
        port = port or free_port()
        command = (sys.executable, str(script), str(port), str(tmp_path / f"{name}.pids"), *flags)
        return Service(
            name=name,
            command=command,
            folder=tmp_path,
            environment=dict(os.environ),
            log_path=tmp_path / "logs" / f"{name}.log",
            ready_url=f"http://127.0.0.1:{port}/",
        )

    return make


def pids_of(service: Service) -> list[int]:
    return [int(pid) for pid in Path(service.command[3]).read_text().split()]


def test_all_come_up_and_all_go_down_with_their_children(
    make_service: Callable[..., Service],
) -> None:
    services = [make_service("one"), make_service("two")]
    stop = threading.Event()
    seen: list[bool] = []

    def on_ready() -> None:
        seen.extend(is_running(pid) for service in services for pid in pids_of(service))
        stop.set()

    run_side_by_side(services, stop, on_ready)

    assert seen == [True] * 4
    assert not any(is_running(pid) for service in services for pid in pids_of(service))


def test_one_that_ends_takes_the_other_with_it_and_its_last_words_are_told(
    make_service: Callable[..., Service],
) -> None:
    services = [make_service("one"), make_service("two")]

    def on_ready() -> None:
        with pytest.raises(requests.ConnectionError):
            requests.get(f"{services[1].ready_url}die", timeout=PATIENCE_S)

    with pytest.raises(ServiceError, match=r"two ended by itself with code 7: giving up \(log: "):
        run_side_by_side(services, threading.Event(), on_ready)

    assert not any(is_running(pid) for service in services for pid in pids_of(service))


def test_one_that_does_not_come_up_in_time_is_named(
    make_service: Callable[..., Service],
) -> None:
    sound = make_service("sound")
    silent = Service(
        name="silent",
        command=(sys.executable, "-c", "import time; time.sleep(600)"),
        folder=sound.folder,
        environment=sound.environment,
        log_path=sound.log_path.with_name("silent.log"),
        ready_url=f"http://127.0.0.1:{free_port()}/",
    )

    with pytest.raises(ServiceError, match="silent does not answer at"):
        run_side_by_side([sound, silent], threading.Event(), lambda: None, start_timeout_s=0.5)


def test_one_that_ignores_the_first_signal_is_stopped_by_the_next(
    make_service: Callable[..., Service], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "pipeline.running.STOPPING",
        ((signal.SIGINT, 0.2), (signal.SIGTERM, 5.0), (signal.SIGKILL, 5.0)),
    )
    service = make_service("one", "stubborn")
    stop = threading.Event()

    run_side_by_side([service], stop, stop.set)

    assert not any(is_running(pid) for pid in pids_of(service))


def test_a_stop_before_all_is_up_is_heard(make_service: Callable[..., Service]) -> None:
    stop = threading.Event()
    stop.set()

    run_side_by_side([make_service("one")], stop, lambda: pytest.fail("it was not to come up"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_ask_to_stop_and_the_former_handler_comes_back(number: signal.Signals) -> None:
    former = signal.getsignal(number)

    with stop_signals() as stop:
        os.kill(os.getpid(), number)
        assert stop.wait(PATIENCE_S)

    assert signal.getsignal(number) is former


def test_a_signal_in_the_middle_of_a_wait_is_heard() -> None:
    # With the event set in the handler, one of five hung: it met the event's own lock.
    code = (
        "from pipeline.running import stop_signals\n"
        "for _ in range(5):\n"
        "    with stop_signals() as stop:\n"
        "        print('there', flush=True)\n"
        "        while not stop.wait(0):\n"
        "            pass\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        try:
            for _ in range(5):
                assert child.stdout.readline() == b"there\n"
                child.terminate()
            assert child.wait(PATIENCE_S) == 0
        finally:
            child.kill()


def test_a_child_hears_ctrl_c_even_when_a_script_had_us_ignore_it() -> None:
    former = signal.signal(signal.SIGINT, signal.SIG_IGN)
    code = "import signal, sys; sys.exit(signal.getsignal(signal.SIGINT) == signal.SIG_IGN)"
    try:
        ended = run_to_end([sys.executable, "-c", code], dict(os.environ), threading.Event())
    finally:
        signal.signal(signal.SIGINT, former)

    assert ended == 0


def test_a_command_gives_its_exit_code() -> None:
    ended = run_to_end(
        [sys.executable, "-c", "raise SystemExit(3)"], dict(os.environ), threading.Event()
    )

    assert ended == 3


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child of its parent's end")
def test_the_services_end_when_we_are_killed(
    make_service: Callable[..., Service], tmp_path: Path
) -> None:
    service = make_service("one")
    code = f"""
        import os, threading
        from pathlib import Path
        from pipeline.running import Service, run_side_by_side
        service = Service("one", {tuple(service.command)!r}, Path({str(tmp_path)!r}),
                          dict(os.environ), Path({str(service.log_path)!r}), {service.ready_url!r})
        run_side_by_side([service], threading.Event(), lambda: print("ready", flush=True))
    """
    parent = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).resolve().parents[1],
    )
    assert parent.stdout is not None
    parent.stdout.readline()

    parent.kill()
    parent.wait()
    parent.stdout.close()

    server, child = pids_of(service)
    wait_until(lambda: not is_running(server))
    os.kill(child, signal.SIGKILL)


def test_a_free_port_is_taken_as_free() -> None:
    require_free_port("127.0.0.1", free_port(), "TOKENTAPE_APP_PORT")


def test_a_taken_port_is_named_with_its_setting() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]

        with pytest.raises(PortTakenError, match=rf"127\.0\.0\.1:{port} .*TOKENTAPE_APP_PORT"):
            require_free_port("127.0.0.1", port, "TOKENTAPE_APP_PORT")
