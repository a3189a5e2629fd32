"""Filler for long prompts, made of plain words: the same text in every run and every version."""

from __future__ import annotations

from random import Random

_QUALITIES = (
    "big small old new red blue green warm cold quiet loud quick slow clean dark bright "
    "dry wet soft hard light heavy round flat early late open plain sharp deep high low"
)
_THINGS = (
    "lamp door tree river stone table boat house train garden market bridge letter window "
    "cloud road bird clock paper wheel box field hill ship kitchen forest island school "
    "tower mirror basket engine ladder candle"
)
_DEEDS = (
    "moves holds finds keeps makes turns helps meets leaves follows covers carries opens "
    "closes lifts paints cleans counts draws fills guards joins marks needs passes reaches "
    "saves shows stops takes trusts watches"
)
_SENTENCE = tuple(words.split() for words in (_QUALITIES, _THINGS, _DEEDS, _QUALITIES, _THINGS))
TOKENS_PER_SENTENCE = 8  # seven words, each one token of its own, and the full stop


def filler(tokens: int, seed: int) -> str:
    """Return sentences of about ``tokens`` tokens; another seed gives another text."""
    # random() is the one method whose sequence Python guarantees for good.
    draw = Random(seed).random  # noqa: S311 - a text, not a secret
    return " ".join(_sentence(draw()) for _ in range(tokens // TOKENS_PER_SENTENCE))


def _sentence(number: float) -> str:
    words = []
    for choices in _SENTENCE:
        number *= len(choices)
        words.append(choices[int(number)])
        number %= 1
    return "The {} {} {} the {} {}.".format(*words)
