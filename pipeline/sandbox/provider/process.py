"""The sandbox provider in a process of its own, for as long as a context lasts."""

from __future__ import annotations

import json
import ssl
import subprocess
import sys
from contextlib import closing
from datetime import date
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from pipeline.sandbox.provider.script import Script
from pipeline.sandbox.provider.truth import TrueRequest

_ROOT = Path(__file__).resolve().parents[3]
_STOP_S = 10
_CALL_S = 30


class ProviderError(Exception):
    """The provider does not run, or refuses what it is told. One line."""


class ProviderProcess:
    """Serves on ``base_url`` while the context lasts; ends with this process, however it ends.

    ``ca_file`` is the certificate to trust when it speaks TLS. ``market`` serves the sandbox market
    as OpenRouter, with the told days before ``anchor``. Raises ``ProviderError``.
    """

    def __init__(
        self,
        script: Script | None = None,
        *,
        is_tls: bool = False,
        market: bool = False,
        anchor: date | None = None,
        port: int = 0,
        python: str = sys.executable,
    ) -> None:
        self._is_tls = is_tls
        self._command = [python, "-m", "pipeline.sandbox.provider", "--until-input-ends"]
        self._command += ["--port", str(port), "--script", (script or Script()).model_dump_json()]
        self._command += ["--market"] if market else []
        self._command += ["--anchor", anchor.isoformat()] if anchor else []

    def __enter__(self) -> Self:
        self._folder = TemporaryDirectory(prefix="sandbox-provider-")
        self.ca_file = Path(self._folder.name) / "ca.pem" if self._is_tls else None
        command = [*self._command, *(["--tls", str(self.ca_file)] if self.ca_file else [])]
        self._process = subprocess.Popen(  # noqa: S603 - the command is put together by us
            command,
            cwd=_ROOT,  # where -m looks first
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # Ctrl-C is for us, not for it.
            start_new_session=True,
        )
        assert self._process.stdout is not None  # noqa: S101
        self.base_url = self._process.stdout.readline().decode("ascii").strip()
        if not self.base_url:
            self._stop()
            raise ProviderError("the sandbox provider did not start")
        self._trusted = ssl.create_default_context(cafile=self.ca_file) if self.ca_file else None
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stop()

    def truth(self) -> list[TrueRequest]:
        """Return the requests whose answers are over, each of them once."""
        lines = self._call("GET", "/sandbox/truth").splitlines()
        return [TrueRequest.from_line(line) for line in lines]

    def set_script(self, script: Script) -> None:
        """Play ``script`` from the next request on."""
        self._call("POST", "/sandbox/script", script.model_dump_json())

    def _call(self, method: str, path: str, body: str | None = None) -> bytes:
        address = urlsplit(self.base_url)
        host, port = address.hostname or "", address.port
        opened = (
            HTTPSConnection(host, port, timeout=_CALL_S, context=self._trusted)
            if self._trusted
            else HTTPConnection(host, port, timeout=_CALL_S)
        )
        try:
            with closing(opened) as connection:
                connection.request(method, path, body)
                response = connection.getresponse()
                answer = response.read()
        except (OSError, HTTPException) as problem:
            raise ProviderError(f"the sandbox provider does not answer: {problem}") from None
        if response.status != 200:
            raise ProviderError(json.loads(answer)["error"]["message"])
        return answer

    def _stop(self) -> None:
        with self._process as process:
            assert process.stdin is not None  # noqa: S101
            process.stdin.close()
            try:
                process.wait(_STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()
        self._folder.cleanup()
