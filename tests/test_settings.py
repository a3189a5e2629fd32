"""Settings are checked at the start; what is wrong is told without what must not be shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.api_keys import is_usable_key
from pipeline.settings import SettingsError, environment_of, load_settings

CANARY = "sk-canary-7f3a"
WITH_CANARY = (f"{CANARY} x", f"{CANARY}\nx", f"{CANARY}é", f"{CANARY}\tx")


@pytest.fixture(autouse=True)
def _no_settings_of_our_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("OPENROUTER_API_KEY", "HF_TOKEN"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("name", ["OPENROUTER_API_KEY", "TOKENTAPE_OPENROUTER_API_KEY", "HF_TOKEN"])
@pytest.mark.parametrize("key", WITH_CANARY)
def test_a_key_that_no_header_can_hold_is_refused_without_being_shown(
    monkeypatch: pytest.MonkeyPatch, name: str, key: str
) -> None:
    monkeypatch.setenv(name, key)

    with pytest.raises(SettingsError) as error:
        load_settings()

    assert str(error.value) == (
        f"{name.removeprefix('TOKENTAPE_')} is not usable: it holds blanks, line breaks or "
        "characters other than ASCII; copy it again"
    )


def test_blanks_around_a_key_are_taken_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENROUTER_API_KEY", f" {CANARY}\n")

    assert environment_of(load_settings())["OPENROUTER_API_KEY"] == CANARY


def test_blanks_alone_are_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENROUTER_API_KEY", "  ")

    assert load_settings().openrouter_api_key is None


@pytest.mark.parametrize("key", ["", "two words", "line\nbreak", "kéy", "tab\tbed", "nul\0"])
def test_a_key_that_breaks_a_header_is_not_usable(key: str) -> None:
    assert not is_usable_key(key)


def test_a_key_of_letters_digits_and_signs_is_usable() -> None:
    assert is_usable_key("sk-or-v1-0123_ABC.def/=+")
