"""Probes and the rest keep out of each other's way."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

import pytest
from small_market import settings_at

from pipeline import locks
from pipeline.measuring import MachineBusyError, measuring, while_not_measuring
from pipeline.services import environment
from pipeline.settings import Settings

Lock = Callable[[Settings], AbstractContextManager[None]]
HOLD = """
import sys
from pipeline import locks
from pipeline.measuring import measuring
from pipeline.settings import load_settings
with measuring(load_settings()):
    print("in", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def impatient(tmp_path: Path) -> Settings:
    return settings_at(tmp_path, "http://127.0.0.1:9", warehouse_lock_timeout_s=0)


def is_free(lock: Lock, settings: Settings) -> bool:
    try:
        with lock(settings):
            return True
    except MachineBusyError:
        return False


@pytest.mark.parametrize("lock", [measuring, while_not_measuring])
def test_who_waits_too_long_for_a_probe_is_told_which_process_it_is(
    impatient: Settings, lock: Lock
) -> None:
    with measuring(impatient), pytest.raises(MachineBusyError) as error, lock(impatient):
        pass

    assert f"a probe (process {os.getpid()}) is measuring" in str(error.value)


def test_work_goes_on_beside_other_work_but_a_probe_waits_for_it(impatient: Settings) -> None:
    with while_not_measuring(impatient), while_not_measuring(impatient):
        assert not is_free(measuring, impatient)

    assert is_free(measuring, impatient)


def test_work_that_comes_again_and_again_does_not_keep_a_probe_waiting_for_ever(
    impatient: Settings,
) -> None:
    patient = impatient.model_copy(update={"warehouse_lock_timeout_s": 60})
    measured = threading.Event()

    def measure() -> None:
        with measuring(patient):
            measured.set()

    probe = threading.Thread(target=measure)
    with ExitStack() as work:
        work.enter_context(while_not_measuring(impatient))
        probe.start()
        while is_free(while_not_measuring, impatient):
            pass
        assert not measured.is_set()
    probe.join()

    assert measured.is_set()
    assert is_free(while_not_measuring, impatient)


@pytest.mark.parametrize("lock", [measuring, while_not_measuring])
def test_who_waits_for_a_while_is_told_what_for_even_on_a_terminal(
    impatient: Settings,
    lock: Lock,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(locks, "TOLD_AFTER_S", 0.0)
    patient = impatient.model_copy(update={"warehouse_lock_timeout_s": 60})
    waiting = threading.Thread(target=is_free, args=(lock, patient))

    with measuring(impatient):
        waiting.start()
        while not caplog.messages:
            pass
    waiting.join()

    assert caplog.messages == [f"waiting: a probe (process {os.getpid()}) is measuring"]
    assert caplog.records[0].levelno == logging.WARNING


def test_a_killed_probe_leaves_the_machine_to_the_others(impatient: Settings) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD],
        env=environment(impatient),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"in\n"
        assert not is_free(while_not_measuring, impatient)
        holder.kill()

    assert is_free(while_not_measuring, impatient)
    assert is_free(measuring, impatient)
