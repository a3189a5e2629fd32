"""A name means one model or none: by alias, by id, or written alike, and never by likeness."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pipeline.scores.aliases import (
    BUNDLED_ALIASES,
    Alias,
    ScoreAliasError,
    alias_key,
    load_aliases,
    read_aliases,
)
from pipeline.scores.names import KnownModel, Match, NameMatcher, normalised, without_date

LLAMA = "meta-llama/llama-3.1-8b-instruct"
HEADER = "source,source_name,model_id,variant,kind,added_by,added_at\n"
MODELS = (
    KnownModel(LLAMA, LLAMA, "meta-llama/Meta-Llama-3.1-8B-Instruct"),
    KnownModel(f"{LLAMA}:free", LLAMA, "meta-llama/Meta-Llama-3.1-8B-Instruct"),
    KnownModel("openai/gpt-4o"),
    KnownModel("openai/gpt-4o-2024-05-13"),
    KnownModel("openai/gpt-4o-2024-08-06"),
    KnownModel("anthropic/claude-3.7-sonnet", "anthropic/claude-3-7-sonnet-20250219"),
    KnownModel("acme/twin"),
    KnownModel("rival/twin"),
)


def matched(name: str, *aliases: Alias, source: str = "my-eval") -> Match:
    by_key = {alias_key(alias.source, alias.source_name): alias for alias in aliases}
    return NameMatcher(MODELS, by_key).match(source, name)


@pytest.mark.parametrize(
    ("name", "model_id", "matched_by"),
    [
        (LLAMA, LLAMA, "id"),
        (f"{LLAMA}:free", f"{LLAMA}:free", "id"),
        ("meta-llama/Meta-Llama-3.1-8B-Instruct", LLAMA, "id"),
        ("anthropic/claude-3-7-sonnet-20250219", "anthropic/claude-3.7-sonnet", "id"),
        ("Llama 3.1 8B Instruct", LLAMA, "normalised"),
        ("llama-3-1-8b-instruct", LLAMA, "normalised"),
        ("meta/llama_3.1_8b_instruct", LLAMA, "normalised"),
        ("claude-3-7-sonnet-20250219", "anthropic/claude-3.7-sonnet", "normalised"),
        # A checkpoint of one's own day is told apart from the others by it.
        ("gpt-4o-2024-08-06", "openai/gpt-4o-2024-08-06", "normalised"),
        ("GPT 4o", "openai/gpt-4o", "normalised"),
    ],
)
def test_a_name_is_matched_where_only_one_model_is_written_so(
    name: str, model_id: str, matched_by: str
) -> None:
    match = matched(name)
    assert (match.model_id, match.matched_by) == (model_id, matched_by)


@pytest.mark.parametrize("name", ["twin", "Twin", "other/twin", "gpt-4o-2024-11-20"])
def test_an_ambiguous_name_stays_unmatched_and_says_between_what(name: str) -> None:
    match = matched(name)
    assert match.model_id is None
    assert match.reason is not None
    assert match.reason.startswith("it could be any of ")


@pytest.mark.parametrize(
    "name",
    ["llama-3.1-8b", "llama-3.1-8b-instruct-turbo", "lama-3.1-8b-instruct", "gpt-4", "8b", ""],
)
def test_likeness_is_no_match(name: str) -> None:
    assert matched(name) == Match(None, reason="no model is written like this")


def test_a_variant_is_not_the_plain_model() -> None:
    assert matched("llama-3.1-8b-instruct:free").model_id == f"{LLAMA}:free"
    assert matched("gpt-4o:free").model_id is None


def test_an_alias_decides_before_anything_else() -> None:
    alias = Alias("my-eval", "TWIN", "rival/twin", "high", "variant")
    assert matched("twin", alias) == Match("rival/twin", "alias", "variant", "high")
    assert matched("twin", alias, source="other").model_id is None
    anyone = Alias("*", "twin", "acme/twin", None, "exact")
    assert matched("twin", alias, anyone).model_id == "rival/twin"
    assert matched("twin", alias, anyone, source="other").model_id == "acme/twin"


def test_an_alias_of_a_model_that_nobody_lists_is_said() -> None:
    match = matched("twin", Alias("*", "twin", "acme/gone", None, "exact"))
    assert match == Match(None, reason="its alias acme/gone was never listed")


def test_names_are_written_alike_without_vendor_case_and_separators() -> None:
    assert normalised("Meta-Llama/Llama 3.1_8B") == "llama-3-1-8b"
    assert normalised("gpt-4o-2024-08-06") == "gpt-4o-2024-08-06"
    assert without_date("gpt-4o-2024-08-06") == "gpt-4o"
    assert without_date("claude-3-5-sonnet-20241022") == "claude-3-5-sonnet"
    assert without_date("a/model-20241022:free") == "model:free"
    # 0528 and 2507 are names of checkpoints, and 20991340 is no day.
    for kept in ("deepseek-r1-0528", "qwen3-235b-2507", "model-20991340", "model-8b"):
        assert without_date(kept) == kept


def test_every_bundled_alias_points_at_what_looks_like_an_id_and_at_no_other_alias() -> None:
    aliases = read_aliases(BUNDLED_ALIASES)
    names = {alias.source_name.lower() for alias in aliases.values()}
    for alias in aliases.values():
        assert re.fullmatch(r"[a-z0-9-]+/[a-z0-9.-]+", alias.model_id)
        assert alias.model_id not in names


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("*,x,no id,,exact,me,2026-11-30\n", "line 2: 'no id' is no id of a model"),
        (",x,a/b,,exact,me,2026-11-30\n", "line 2: source or source_name is empty"),
        ("*,x,a/b,,like,me,2026-11-30\n", "line 2: kind is 'like'; write exact, variant, base"),
        ("*,x,a/b,,exact,,\n*, X ,a/c,,exact,,\n", "line 3: 'X' has an alias above"),
        ("*,x,a/b,,exact,,\n*,a/b,a/c,,exact,,\n", "'x' points at a/b, which is an alias itself"),
        ("*,a/b,c/d,,exact,,\n*,c/d,a/b,,exact,,\n", "points at c/d, which is an alias itself"),
    ],
)
def test_a_file_of_aliases_with_a_mistake_or_a_circle_says_where(
    tmp_path: Path, lines: str, said: str
) -> None:
    path = tmp_path / "score_aliases.csv"
    path.write_text(HEADER + lines)
    with pytest.raises(ScoreAliasError) as error:
        read_aliases(path)
    assert said in str(error.value)


def test_own_aliases_stand_over_the_bundled_ones(tmp_path: Path) -> None:
    path = tmp_path / "score_aliases.csv"
    assert load_aliases(path) == read_aliases(BUNDLED_ALIASES)
    path.write_text(HEADER + "*,meta-llama-3-8b-instruct,a/b,,exact,me,2026-11-30\n")
    aliases = load_aliases(path)
    assert aliases[("*", "meta-llama-3-8b-instruct")].model_id == "a/b"
    assert len(aliases) == len(read_aliases(BUNDLED_ALIASES))
