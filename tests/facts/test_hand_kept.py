"""The file of facts kept by hand: what comes with the project is sound, mistakes are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.facts.hand_kept import HandKeptError, read_hand_kept

HEAD = "about,subject,field,value,source_url,as_of\n"
SOUND = "author,acme,developer,Acme,https://acme.test/about,2026-12-01\n"


def test_the_file_that_comes_with_the_project_keeps_its_contract() -> None:
    facts = read_hand_kept()

    meta = facts.filter(about="author", subject="meta-llama", field="origin_country")
    assert meta["value"].to_list() == ["US"]
    assert facts.filter(field="watermark_statement").is_empty()


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("author,acme,developer,Acme,,2026-12-01", "source_missing"),
        ("author,acme,origin_country,USA,https://a.test,2026-12-01", "country_unknown"),
        ("author,acme,colour,red,https://a.test,2026-12-01", "field_unknown"),
        ("author,acme,watermark_statement,none,https://a.test,2026-12-01", "only_of_a_model"),
        ("model,a/b,transparency_url,javascript:x,https://a.test,2026-12-01", "link_refused"),
        ("author,acme,developer,Acme Two,https://a.test,2026-12-01", "duplicate"),
        ("model,a/b,params_total_b,eight,https://a.test,2026-12-01", "not a number of billions"),
        ("model,a/b,params_total_b,-8,https://a.test,2026-12-01", "not a number of billions"),
        ("author,acme,developer,Acme,https://a.test,yesterday", "not a day like 2026-12-01"),
        ("author,acme,developer", "6 values are wanted"),
    ],
)
def test_a_mistake_is_told_with_its_line(tmp_path: Path, line: str, problem: str) -> None:
    path = tmp_path / "facts.csv"
    path.write_text(HEAD + SOUND + line + "\n")

    with pytest.raises(HandKeptError, match=rf"facts\.csv: line 3: .*{problem}"):
        read_hand_kept(path)


def test_another_head_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "facts.csv"
    path.write_text("subject,field\n")

    with pytest.raises(HandKeptError, match="line 1: the head must be about,subject,field"):
        read_hand_kept(path)
