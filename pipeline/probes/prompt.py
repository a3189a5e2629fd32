"""One prompt: its messages and limits, and how it is made new for each request."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

# What a nonce and a model's chat template add to a prompt, at most.
TEMPLATE_TOKENS = 120
# Pieces of text and the bytes that one token of them covers at least, by and large.
_PIECE = re.compile(r"(?P<word>[A-Za-z]+)|(?P<other>[^\x00-\x7f]+)|(?P<single>[\n!-~])", re.ASCII)
_BYTES_PER_TOKEN = {"word": 5, "other": 2, "single": 1}


@dataclass(frozen=True)
class Prompt:
    """One request's messages, in the form of the API; ``sha256`` is of them without a nonce."""

    set_name: str
    messages: tuple[dict[str, Any], ...]
    max_tokens: int
    estimated_prompt_tokens: int
    sha256: str


def prompt_of(set_name: str, messages: Sequence[dict[str, Any]], max_tokens: int) -> Prompt:
    """Return the prompt that sends ``messages``, whose content is text or a list of text parts."""
    text = json.dumps(messages, sort_keys=True, separators=(",", ":"))
    return Prompt(
        set_name=set_name,
        messages=tuple(messages),
        max_tokens=max_tokens,
        estimated_prompt_tokens=TEMPLATE_TOKENS
        + sum(estimated_tokens(part) for message in messages for part in _texts(message)),
        sha256=hashlib.sha256(text.encode()).hexdigest(),
    )


def with_nonce(prompt: Prompt, nonce: str) -> Prompt:
    """Return ``prompt`` with ``[nonce] `` at its very start, so that no cache knows it."""
    first, *rest = prompt.messages
    content = first["content"]
    if isinstance(content, str):
        marked: Any = f"[{nonce}] {content}"
    else:
        marked = [{**content[0], "text": f"[{nonce}] {content[0]['text']}"}, *content[1:]]
    return replace(prompt, messages=({**first, "content": marked}, *rest))


def estimated_tokens(text: str) -> int:
    """Return how many tokens ``text`` has at most, by and large, whatever the tokenizer."""
    return sum(
        -(-len(piece[0].encode()) // _BYTES_PER_TOKEN[str(piece.lastgroup)])
        for piece in _PIECE.finditer(text)
    )


def _texts(message: dict[str, Any]) -> list[str]:
    content = message["content"]
    return [content] if isinstance(content, str) else [part["text"] for part in content]
