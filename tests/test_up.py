"""The product as a person starts it: `tokentape up`, the pages, a button in Dagster, Ctrl-C."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import requests
from small_market import LLAMA, settings_at, small_sandbox

from pipeline.services import environment

PATIENCE_S = 240.0
LAUNCH = """
    mutation($selector: JobOrPipelineSelector!) {
      launchPipelineExecution(executionParams: {selector: $selector, mode: "default"}) {
        __typename ... on LaunchRunSuccess { run { runId } }
      }
    }
"""
STATUS = "query($run: ID!) { runOrError(runId: $run) { ... on Run { status } } }"
LOCATION = """
    { repositoriesOrError { ... on RepositoryConnection { nodes {
        location { name } schedules { name scheduleState { status } } jobs { name } } } } }
"""


def free_ports() -> tuple[int, int]:
    with socket.socket() as one, socket.socket() as two:
        one.bind(("127.0.0.1", 0))
        two.bind(("127.0.0.1", 0))
        return one.getsockname()[1], two.getsockname()[1]


def processes_with(text: str) -> list[int]:
    """Return the processes that have ``text`` in their environment, zombies left out."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if text.encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
    return found


class Product:
    """A running `tokentape up`, with what it has said so far."""

    def __init__(self, folder: Path, url: str) -> None:
        self.app_port, self.dagster_port = free_ports()
        settings = settings_at(
            folder / "data", url, app_port=self.app_port, dagster_port=self.dagster_port
        )
        self.mark = str(folder / "dagster")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "pipeline.cli", "up"],
            env=environment(settings) | {"DAGSTER_HOME": self.mark},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self.said: list[str] = []

    def wait_for(self, words: str) -> str:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said.append(line)
            if words in line:
                return line
        raise AssertionError(f"it ended without saying {words!r}: {''.join(self.said)}")

    def ask_dagster(self, query: str, **variables: Any) -> Any:
        answer = requests.post(
            f"http://127.0.0.1:{self.dagster_port}/graphql",
            json={"query": query, "variables": variables},
            timeout=60,
        ).json()
        assert "errors" not in answer, answer
        return answer["data"]

    def end(self) -> None:
        for pid in processes_with(self.mark):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()


@pytest.fixture
def product(tmp_path: Path) -> Iterator[Product]:
    with small_sandbox() as sandbox:
        running = Product(tmp_path, sandbox.url)
        try:
            yield running
        finally:
            running.end()


@pytest.mark.skipif(sys.platform != "linux", reason="looks for orphans in /proc")
@pytest.mark.long
@pytest.mark.timeout(2 * PATIENCE_S)
def test_up_sweeps_serves_both_sides_and_leaves_nothing_running(product: Product) -> None:
    product.wait_for(" is in: ")
    page = product.wait_for("a model").split()[-1]
    product.wait_for("Ctrl-C")

    assert page == f"http://127.0.0.1:{product.app_port}/model?model={LLAMA}"
    assert requests.get(page, timeout=60).status_code == 200

    [repository] = product.ask_dagster(LOCATION)["repositoriesOrError"]["nodes"]
    assert repository["location"]["name"] == "tokentape"
    assert "daily" in [job["name"] for job in repository["jobs"]]
    status = {each["name"]: each["scheduleState"]["status"] for each in repository["schedules"]}
    assert status == {
        "daily_at_fixed_minute": "RUNNING",
        "model_cards_daily": "RUNNING",
        "probes": "STOPPED",
    }

    launched = product.ask_dagster(
        LAUNCH,
        selector={
            "repositoryLocationName": "tokentape",
            "repositoryName": "__repository__",
            "jobName": "__ASSET_JOB",
            "assetSelection": [{"path": ["marts", "provider_table"]}],
        },
    )["launchPipelineExecution"]
    assert launched["__typename"] == "LaunchRunSuccess"
    assert ended_as(product, launched["run"]["runId"]) == "SUCCESS"

    product.process.send_signal(signal.SIGINT)
    product.wait_for("stopped")

    assert product.process.wait(PATIENCE_S) == 0
    assert processes_with(product.mark) == []


def ended_as(product: Product, run_id: str) -> str:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        status: str = product.ask_dagster(STATUS, run=run_id)["runOrError"]["status"]
        if status in ("SUCCESS", "FAILURE", "CANCELED"):
            return status
        time.sleep(0.5)
    raise AssertionError(f"run {run_id} does not end")
