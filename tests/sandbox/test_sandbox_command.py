"""``python -m pipeline.sandbox`` as a process of its own, and its refusals."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import requests
from click.testing import CliRunner

from pipeline.sandbox.__main__ import main
from pipeline.sandbox.faults import KINDS


def test_the_command_serves_until_it_is_told_to_stop() -> None:
    arguments = ["--port", "0", "--at", "2026-11-30T06:17", "--fault", "http_503,path=/providers"]
    command = [sys.executable, "-m", "pipeline.sandbox", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        try:
            assert requests.get(f"{url}/models", timeout=10).status_code == 200
            assert requests.get(f"{url}/providers", timeout=10).status_code == 503
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=10) == 0


def test_help_names_every_fault() -> None:
    output = CliRunner().invoke(main, ["--help"]).output
    assert all(name in output for name in KINDS)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--fault", "gremlins"], "no fault is called 'gremlins'; known: latency"),
        (["--fault", "latency=long"], "are numbers"),
        (["--at", "yesterday"], "is not an ISO time"),
        (["--recording", "/dev/null/none"], "does not exist"),
    ],
)
def test_a_wrong_option_is_refused_in_one_line(arguments: list[str], said: str) -> None:
    result = CliRunner().invoke(main, ["--port", "0", *arguments])
    assert result.exit_code == 2
    assert said in result.output
    assert "Traceback" not in result.output


def test_a_file_that_is_no_recording_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "sweep.json"
    path.write_text(json.dumps({"data": [{"id": "a/b"}]}))
    result = CliRunner().invoke(main, ["--port", "0", "--recording", str(path)])
    assert result.exit_code == 1
    assert "needs modelId and response" in result.output
