"""What a chunk of a streamed chat completion says, whichever provider wrote it.

Only what the model generated counts as text: not roles, not annotations, not padding
(``obfuscation``), not signatures or encrypted reasoning, and no empty string.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from pipeline.probes.provider_errors import ProviderError, error_in, excerpt
from pipeline.probes.usage import server_timing

# Where reasoning may stand. A chunk that carries it twice carries the same text.
_REASONING = ("reasoning", "reasoning_content")


@dataclass(frozen=True)
class Chunk:
    """A chunk: ``answer`` is content or a refusal, ``tool_call`` names and arguments.

    ``usage`` and ``x_groq_usage`` are as reported, empty where there is none. ``server_timing``
    is what the provider says of its own times, under the key where it stood.
    """

    answer: str = ""
    reasoning: str = ""
    tool_call: str = ""
    finish_reason: str | None = None
    generation_id: str | None = None
    model: str | None = None
    provider: str | None = None
    usage: dict[str, Any] = field(default_factory=dict)
    x_groq_usage: dict[str, Any] = field(default_factory=dict)
    server_timing: dict[str, Any] = field(default_factory=dict)
    error: ProviderError | None = None

    @property
    def text(self) -> str:
        """All that was generated, of any channel."""
        return self.reasoning + self.answer + self.tool_call


def read_chunk(document: dict[str, Any]) -> Chunk:
    """Read the JSON object of one chunk; of several choices only the first (index 0) counts."""
    choice = _first_choice(document)
    delta = _dict(choice.get("delta"))
    x_groq = _dict(document.get("x_groq"))
    answer, thinking = _content(delta.get("content"))
    finish_reason = _text(choice.get("finish_reason")) or None
    return Chunk(
        answer=answer + _text(delta.get("refusal")),
        reasoning=_reasoning(delta) or thinking,
        tool_call="".join(_tool_calls(delta)),
        finish_reason=finish_reason,
        generation_id=_text(document.get("id")) or None,
        model=_text(document.get("model")) or None,
        provider=_text(document.get("provider")) or None,
        usage=_dict(document.get("usage")) or _dict(choice.get("usage")),
        x_groq_usage=_dict(x_groq.get("usage")),
        server_timing=server_timing(document),
        error=error_in(document) or error_in(choice) or _other_error(x_groq, finish_reason),
    )


def _first_choice(document: dict[str, Any]) -> dict[str, Any]:
    choices = document.get("choices")
    for choice in choices if isinstance(choices, list) else ():
        if isinstance(choice, dict) and choice.get("index", 0) in (0, None):
            return choice
    return {}


def _content(content: Any) -> tuple[str, str]:
    """Return (answer, thinking) of content, which may be a list of parts."""
    if not isinstance(content, list):
        return _text(content), ""
    answer, thinking = [], []
    for part in content:
        if isinstance(part, str):
            answer.append(part)
        elif isinstance(part, dict):
            answer.append(_text(part.get("text")))
            inner = part.get("thinking")
            thinking.append("".join(_content(inner)))
    return "".join(answer), "".join(thinking)


def _reasoning(delta: dict[str, Any]) -> str:
    for key in _REASONING:
        if text := _text(delta.get(key)):
            return text
    details = delta.get("reasoning_details")
    return "".join(
        _text(detail.get("text")) or _text(detail.get("summary"))
        for detail in (details if isinstance(details, list) else ())
        if isinstance(detail, dict)
    )


def _tool_calls(delta: dict[str, Any]) -> Iterator[str]:
    calls = delta.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        function = _dict(_dict(call).get("function"))
        yield _text(function.get("name")) + _text(function.get("arguments"))


def _other_error(x_groq: dict[str, Any], finish_reason: str | None) -> ProviderError | None:
    if message := _text(x_groq.get("error")):
        return ProviderError(excerpt(message))
    if finish_reason == "error":
        return ProviderError("finish_reason error")
    return None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
