"""Where scripts come from; here one that somebody wrote."""

from __future__ import annotations

from typing import Protocol

from pipeline.sandbox.api import Reply, error
from pipeline.sandbox.provider.ask import Ask
from pipeline.sandbox.provider.script import Script


class RefusedError(Exception):
    """Nobody serves what was asked for."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.reply = error(status, message)


class ScriptSource(Protocol):
    """Decides what is played for whom; ``script`` is what was set from outside."""

    script: Script

    @property
    def base_path(self) -> str:
        """The path of the API."""

    def script_for(self, ask: Ask) -> Script:
        """Return what is played for ``ask``; raises ``RefusedError``."""

    def look_up(self, path: str, query: str, *, is_authenticated: bool) -> Reply:
        """Return the reply to a GET of ``path``."""


class Scripted:
    """Plays ``script`` for every model."""

    base_path = "/v1"

    def __init__(self, script: Script) -> None:
        self.script = script

    def script_for(self, ask: Ask) -> Script:
        """Return the script as it holds for the model."""
        return self.script.for_model(ask.model)

    def look_up(self, path: str, query: str, *, is_authenticated: bool) -> Reply:
        """Return a model for each pattern of the script."""
        if not path.endswith("/models"):
            return error(404, f"No route for GET {path}")
        ids = list(self.script.models) or ["sandbox"]
        return Reply(200, {"object": "list", "data": [{"id": i, "object": "model"} for i in ids]})
