"""What a request for a completion asks for."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from pipeline.sandbox.provider.http_requests import HttpRequest

_CHARACTERS_PER_TOKEN = 4


class AskError(ValueError):
    """The body is no request for a streamed completion. One line."""


@dataclass(frozen=True)
class Ask:
    """A request for a streamed completion; of the key only whether there is one.

    ``pin`` is the first entry of ``provider.only``.
    """

    model: str
    prompt: str
    max_tokens: int | None
    has_stream_options: bool
    wants_usage: bool
    pin: str | None
    has_key: bool
    accept_encoding: str | None

    @property
    def prompt_tokens(self) -> int:
        """How many tokens the prompt has, by its length."""
        return -(-len(self.prompt) // _CHARACTERS_PER_TOKEN)

    @classmethod
    def of(cls, request: HttpRequest) -> Ask:
        """Read the request; raises ``AskError``."""
        try:
            body = json.loads(request.body)
            options = body.get("stream_options")
            limit = body.get("max_completion_tokens", body.get("max_tokens"))
            ask = cls(
                model=str(body["model"]),
                prompt="".join(_text(message["content"]) for message in body["messages"]),
                max_tokens=None if limit is None else int(limit),
                has_stream_options=options is not None,
                wants_usage=bool(options and options.get("include_usage")),
                pin=next(iter((body.get("provider") or {}).get("only") or ()), None),
                has_key="authorization" in request.headers,
                accept_encoding=request.headers.get("accept-encoding"),
            )
        except (KeyError, TypeError, AttributeError, ValueError) as problem:
            raise AskError(f"expected JSON with model and messages: {problem!r}") from None
        if body.get("stream") is not True:
            raise AskError("this provider streams only: stream must be true")
        return ask


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content)
