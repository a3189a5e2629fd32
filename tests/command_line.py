"""Run the command line within a test: the exit code that it ends with, and what it says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from pipeline import cli


@dataclass(frozen=True)
class Ended:
    """What a command left: its exit code, and what it said."""

    code: int
    out: str
    err: str

    @property
    def line(self) -> str:
        """The one line on stderr that an error consists of."""
        lines = self.err.splitlines()
        assert len(lines) == 1, self.err
        return lines[0]


Tokentape = Callable[..., Ended]


def run_command(capsys: pytest.CaptureFixture[str], *arguments: str) -> Ended:
    """Run ``tokentape`` with ``arguments`` in this process."""
    with pytest.raises(SystemExit) as ended:
        cli.main(arguments)
    # The log goes to stderr as well, with its time in front.
    said = capsys.readouterr()
    err = "".join(line for line in said.err.splitlines(True) if line.startswith("tokentape:"))
    assert isinstance(ended.value.code, int)
    return Ended(ended.value.code, said.out, err)
