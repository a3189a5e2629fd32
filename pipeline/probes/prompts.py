"""What is asked: the built-in prompt sets, and sets from files of one's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pipeline.probes.config import OwnPrompts, ProbeConfig, PromptSetName
from pipeline.probes.own_prompts import read_prompts
from pipeline.probes.prompt import Prompt, prompt_of, with_nonce
from pipeline.probes.transcript import Phase
from pipeline.probes.word_list import filler

__all__ = ["Prompt", "PromptSet", "prompts_of", "read_prompts", "with_nonce"]

SHORT_CHAT = "Explain the tradeoffs of quantization in 200 words."


@dataclass(frozen=True)
class PromptSet:
    """Prompts under one name.

    A sequence holds the prompts that one stream sends one after the other, with the same nonce:
    mostly one, two for a cached-prefix pair.
    """

    name: str
    phase: Phase
    sequences: tuple[tuple[Prompt, ...], ...]

    def sequence(self, n: int) -> tuple[Prompt, ...]:
        """Return the ``n``-th sequence of a run; they come round again."""
        return self.sequences[n % len(self.sequences)]


def prompts_of(config: ProbeConfig) -> tuple[PromptSet, ...]:
    """Return the sets that ``config`` names; raises ``ProbeConfigError`` for a wrong file."""
    return tuple(
        _own_set(choice, config.max_tokens)
        if isinstance(choice, OwnPrompts)
        else _built_in_set(choice, config.max_tokens)
        for choice in config.prompts
    )


def _own_set(choice: OwnPrompts, max_tokens: int | None) -> PromptSet:
    prompts = read_prompts(choice.jsonl, max_tokens)
    return PromptSet(choice.set_name, "measure", tuple((prompt,) for prompt in prompts))


def _built_in_set(name: PromptSetName, max_tokens: int | None) -> PromptSet:
    sequence = tuple(
        prompt_of(name, messages, max_tokens or own_limit)
        for messages, own_limit in _sequence_of(name)
    )
    return PromptSet(name, "cold_start" if name == "cold_start" else "measure", (sequence,))


def _sequence_of(name: PromptSetName) -> list[tuple[list[dict[str, Any]], int]]:
    """Return messages and most tokens of each prompt of a built-in set."""
    match name:
        case "short_chat":
            return [(_user(SHORT_CHAT), 300)]
        case "cold_start":
            return [(_user(SHORT_CHAT), 100)]
        case "1k_in_1k_out":
            notes = filler(950, seed=1)
            task = "Write a story of more than 1,000 words in which the things noted above meet."
            return [(_user(f"Notes:\n{notes}\n\n{task}"), 1000)]
        case "10k_in":
            notes = filler(9_950, seed=10)
            task = "Say in 100 words which things are noted most often above."
            return [(_user(f"Notes:\n{notes}\n\n{task}"), 200)]
        case "cached_prefix":
            rules = {"role": "system", "content": f"Answer from these notes:\n{filler(2_000, 2)}"}
            questions = ("Which things are red? List ten.", "Which things are old? List ten.")
            return [([rules, *_user(question)], 100) for question in questions]


def _user(text: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": text}]
