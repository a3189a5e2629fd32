"""Prompts: the built-in sets, files of one's own, and the nonce."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pipeline.probes.config import (
    DEFAULT_CONFIG,
    PROMPT_SETS,
    OwnPrompts,
    ProbeConfig,
    ProbeConfigError,
    load_probe_config,
)
from pipeline.probes.prompt import estimated_tokens
from pipeline.probes.prompts import PromptSet, prompts_of, read_prompts, with_nonce
from pipeline.probes.word_list import TOKENS_PER_SENTENCE, filler


def config(**changes: Any) -> ProbeConfig:
    return load_probe_config(DEFAULT_CONFIG).model_copy(update=changes)


def built_in() -> dict[str, PromptSet]:
    return {prompts.name: prompts for prompts in prompts_of(config(prompts=PROMPT_SETS))}


def test_the_short_chat_is_the_articles_prompt() -> None:
    (prompt,) = built_in()["short_chat"].sequence(0)

    assert prompt.messages == (
        {"role": "user", "content": "Explain the tradeoffs of quantization in 200 words."},
    )
    assert prompt.max_tokens == 300


@pytest.mark.parametrize(
    ("name", "words", "max_tokens"),
    [
        ("short_chat", (8, 8), 300),
        ("1k_in_1k_out", (830, 900), 1000),
        ("10k_in", (8_700, 8_800), 200),
        ("cached_prefix", (1_750, 1_800), 100),
        ("cold_start", (8, 8), 100),
    ],
)
def test_each_set_has_its_length(name: str, words: tuple[int, int], max_tokens: int) -> None:
    for prompt in built_in()[name].sequence(0):
        text = " ".join(message["content"] for message in prompt.messages)
        assert words[0] <= len(text.split()) <= words[1]
        assert prompt.max_tokens == max_tokens


def test_filler_is_sentences_of_eight_tokens_and_the_same_in_every_run() -> None:
    assert filler(16, seed=1) == filler(16, seed=1)
    assert filler(16, seed=1) != filler(16, seed=2)
    sentences = filler(800, seed=1).split(". ")
    assert len(sentences) == 800 // TOKENS_PER_SENTENCE
    assert all(len(sentence.split()) == TOKENS_PER_SENTENCE - 1 for sentence in sentences)


def test_a_text_that_figures_are_compared_over_never_changes_unnoticed() -> None:
    # A changed text is another prompt, whose figures must not continue those of this one.
    assert {name: prompts.sequence(0)[0].sha256[:12] for name, prompts in built_in().items()} == {
        "short_chat": "8975cca4d1cc",
        "1k_in_1k_out": "179e214803e8",
        "10k_in": "1bb8b953e13d",
        "cached_prefix": "eb735c5ccaa1",
        "cold_start": "8975cca4d1cc",
    }


def test_a_cached_prefix_pair_differs_in_its_last_message_only() -> None:
    first, second = built_in()["cached_prefix"].sequence(5)

    assert first.messages[:-1] == second.messages[:-1]
    assert first.messages[-1] != second.messages[-1]
    assert first.sha256 != second.sha256
    prefix = with_nonce(first, "aa").messages[0]
    assert prefix == with_nonce(second, "aa").messages[0]
    assert prefix != with_nonce(second, "bb").messages[0]


def test_a_cold_start_is_a_phase_of_its_own() -> None:
    assert [prompts.phase for prompts in built_in().values()] == [*["measure"] * 4, "cold_start"]


def test_the_plans_limit_goes_before_those_of_the_prompts(tmp_path: Path) -> None:
    own = tmp_path / "own.jsonl"
    own.write_text('{"prompt": "Hello", "max_tokens": 9}')
    choice = (*PROMPT_SETS, OwnPrompts(jsonl=own))

    sets = prompts_of(config(prompts=choice, max_tokens=50))

    assert {prompt.max_tokens for prompts in sets for prompt in prompts.sequence(0)} == {50}


def test_prompts_of_ones_own_come_in_order_and_come_round_again(tmp_path: Path) -> None:
    own = tmp_path / "mine.jsonl"
    own.write_text(
        '{"prompt": "One"}\n\n'
        '{"messages": [{"role": "system", "content": "Be brief."},'
        ' {"role": "user", "content": [{"type": "text", "text": "Two"}]}], "max_tokens": 40}\r\n'
    )

    (prompts,) = prompts_of(config(prompts=(OwnPrompts(jsonl=own),)))
    (one,), (two,), (again,) = (prompts.sequence(n) for n in range(3))

    assert prompts.name == one.set_name == "mine"
    assert one.messages == ({"role": "user", "content": "One"},)
    assert one.max_tokens == 300
    assert two.messages[1] == {"role": "user", "content": [{"type": "text", "text": "Two"}]}
    assert two.max_tokens == 40
    assert again == one


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ('{"prompt": "a",}', "line 2, column 16: not JSON: "),
        ('{"promt": "a"}', "line 2: promt is no known key; did you mean prompt?"),
        ("[]", "line 2: the file is []: should be an object"),
        ('{"prompt": 5}', "line 2: prompt is 5: should be a text"),
        ("{}", "line 2: the file is {}: should hold either prompt or messages"),
        (
            '{"prompt": "a", "messages": [{"role": "user", "content": "a"}]}',
            "line 2: the file should hold either prompt or messages",
        ),
        ('{"messages": []}', "line 2: messages is []: should hold at least one"),
        ('{"messages": [{"role": "user"}]}', "line 2: messages[0].content is missing"),
        ('{"prompt": "a", "max_tokens": 0}', "line 2: max_tokens is 0: should be greater than"),
    ],
)
def test_a_wrong_line_is_named_with_its_number(tmp_path: Path, line: str, wanted: str) -> None:
    own = tmp_path / "own.jsonl"
    own.write_text(f'{{"prompt": "good"}}\n{line}\n')

    with pytest.raises(ProbeConfigError) as caught:
        read_prompts(own)

    assert str(caught.value).startswith(f"{own}: {wanted}")


def test_a_file_without_prompts_is_an_error(tmp_path: Path) -> None:
    own = tmp_path / "own.jsonl"
    own.write_text("\n\n")

    with pytest.raises(ProbeConfigError, match="holds no prompt; write lines like"):
        read_prompts(own)


def test_a_file_that_is_no_text_is_an_error(tmp_path: Path) -> None:
    own = tmp_path / "own.jsonl"
    own.write_bytes(b'{"prompt": "\xff"}')

    with pytest.raises(ProbeConfigError, match=r"is not UTF-8 \(byte 12\)"):
        read_prompts(own)


def test_a_nonce_stands_at_the_very_start_and_changes_nothing_else(tmp_path: Path) -> None:
    own = tmp_path / "own.jsonl"
    parts = [{"type": "text", "text": "Two", "cache_control": {"type": "ephemeral"}}]
    own.write_text(
        '{"prompt": "One"}\n' + json.dumps({"messages": [{"role": "user", "content": parts}]})
    )
    one, two = read_prompts(own)

    marked = with_nonce(one, "0123456789ab")

    assert marked.messages == ({"role": "user", "content": "[0123456789ab] One"},)
    assert marked.sha256 == one.sha256
    assert one.messages == ({"role": "user", "content": "One"},)
    assert with_nonce(two, "ab").messages[0]["content"] == [{**parts[0], "text": "[ab] Two"}]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("The old lamp.", 4),
        ("quantization", 3),  # 12 letters, five a token
        ("2026", 4),  # a token for each digit, as some tokenizers take them
        ("a-b\n", 4),
        ("\u91cf\u5316", 3),  # two characters of three bytes
    ],
)
def test_tokens_are_estimated_at_the_most_that_tokenizers_make_of_a_text(
    text: str, tokens: int
) -> None:
    assert estimated_tokens(text) == tokens


def test_an_estimate_has_room_for_nonce_and_chat_template() -> None:
    (prompt,) = built_in()["short_chat"].sequence(0)

    # Explain 2, the 1, tradeoffs 2, of 1, quantization 3, in 1, "200" 3, words 1, stop 1.
    assert prompt.estimated_prompt_tokens == 120 + 15
