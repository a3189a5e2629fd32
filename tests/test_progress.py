from __future__ import annotations

import io
import logging
import threading

import pytest

from pipeline.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_log_gets_a_line_a_minute_and_one_at_the_end(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "tokentape")
    seconds = iter([0.0, 0.0, *[30.0], *[60.0, 60.0], *[90.0], *[125.0, 125.0], 130.0])
    progress = Progress("sweep", stream=io.StringIO(), monotonic=lambda: next(seconds))

    with progress.counting(5):
        for step in range(4):  # at 30, 60, 90 and 125 s
            progress.advance(has_failed=step == 2)

    assert caplog.messages == [
        "sweep: 2 of 5 done, 0 failed, 60 s",
        "sweep: 4 of 5 done, 1 failed, 125 s",
        "sweep: 4 of 5 done, 1 failed, 130 s",
    ]


def test_a_terminal_gets_a_bar_and_no_line(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "tokentape")
    threads = threading.active_count()
    terminal = Terminal()
    progress = Progress("sweep", stream=terminal)

    with progress.counting(2):
        progress.advance()
        progress.advance(has_failed=True)

    assert "2/2" in terminal.getvalue()
    assert "failed=1" in terminal.getvalue()
    assert caplog.messages == []
    assert threading.active_count() == threads


def test_the_last_line_comes_also_when_the_job_breaks_off(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "tokentape")
    progress = Progress("sweep", stream=io.StringIO(), monotonic=lambda: 0.0)

    with pytest.raises(KeyboardInterrupt), progress.counting(3):
        raise KeyboardInterrupt

    assert caplog.messages == ["sweep: 0 of 3 done, 0 failed, 0 s"]
