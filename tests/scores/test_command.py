"""``tokentape scores``: what comes in, what is refused and said, and what lies in landing."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from command_line import Tokentape
from small_market import land_at, settings_at, small_sandbox

from app.snapshot import open_snapshot
from pipeline import steps
from pipeline.landing import CorruptLandingError
from pipeline.scores.landing import ScoreLanding
from pipeline.sql_models import load_sql_models
from pipeline.warehouse import open_warehouse

GOOD = """model_id,metric,score,source,as_of,scale_min,scale_max
meta-llama/llama-3.1-8b-instruct,pass_rate,41.5,my-eval,2026-11-01,0,100
Nobody Knows This,pass_rate,50,my-eval,2026-11-01,0,100
"""
BAD_ROW = "a/b,pass_rate,120,my-eval,2026-11-01,0,100\n"
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def landed(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("data/landing/scores/*/*/*") if path.is_file())


def test_a_sound_file_is_kept_as_it_came_and_only_once(
    tokentape: Tokentape, tmp_path: Path
) -> None:
    file = tmp_path / "mine.csv"
    file.write_text(GOOD)
    first = tokentape("scores", "import", str(file))
    assert (first.code, first.err) == (0, "")
    assert "2 scores of 2 models, 0 refused; kept as " in first.out
    assert "`tokentape publish`" in first.out
    manifest, scores = landed(tmp_path)
    assert scores.read_text() == GOOD
    assert scores.stat().st_mode & 0o222 == 0
    assert json.loads(manifest.read_text())["file_name"] == "mine.csv"

    again = tokentape("scores", "import", str(file))
    assert again.code == 0
    assert "in already since " in again.out
    assert landed(tmp_path) == [manifest, scores]


def test_refused_rows_are_named_and_the_others_come_in(
    tokentape: Tokentape, tmp_path: Path
) -> None:
    file = tmp_path / "mine.csv"
    file.write_text(GOOD + BAD_ROW)
    for _ in range(2):
        ended = tokentape("scores", "import", str(file))
        assert ended.code == 3
        assert ended.line == (
            f"tokentape: {file} line 4 (a/b): score 120, scale_min 0, scale_max 100; "
            "mend the score or its scale"
        )
    assert len(landed(tmp_path)) == 2


@pytest.mark.parametrize(
    ("name", "body", "ends"),
    [
        ("mine.csv", GOOD.splitlines()[0] + "\n" + BAD_ROW, (1, "no row can be used; nothing was")),
        ("mine.csv", "model,score\n", (1, "its header lacks model_id")),
        ("mine.json", "{", (1, "it cannot be read: body is not JSON")),
        ("mine.xlsx", "", (1, "neither .csv nor .json")),
        ("absent.csv", None, (2, "does not exist")),
    ],
)
def test_what_cannot_be_used_leaves_nothing_behind(
    tokentape: Tokentape, tmp_path: Path, name: str, body: str | None, ends: tuple[int, str]
) -> None:
    file = tmp_path / name
    if body is not None:
        file.write_text(body)
    ended = tokentape("scores", "import", str(file))
    assert ended.code == ends[0]
    assert ends[1] in ended.err.splitlines()[-1]
    assert landed(tmp_path) == []


def test_the_list_names_the_files_and_a_damaged_one(tokentape: Tokentape, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text(GOOD + BAD_ROW)
    tokentape("scores", "import", "mine.csv")
    listed = tokentape("scores", "list")
    assert listed.code == 0
    bundled, imported = listed.out.splitlines()
    assert bundled == (
        "bundled  with tokentape  bundled_scores.csv: 3 scores of tokentape-reference"
    )
    assert imported.endswith("  mine.csv: 2 scores of my-eval, 1 refused")

    _, scores = landed(tmp_path)
    scores.chmod(0o644)
    scores.write_text("other")
    listed = tokentape("scores", "list")
    assert listed.code == 3
    assert "is not what was imported (its sha256 differs)" in listed.line


def test_an_import_that_died_half_way_is_no_import(tmp_path: Path) -> None:
    landing = ScoreLanding(tmp_path)
    kept, _ = landing.keep(GOOD.encode(), file_name="a.csv", kind="csv", now=NOW)
    folder = tmp_path / "scores" / "2026-11-30" / kept.import_id
    folder.rename(folder.with_name(f"{kept.import_id}.inprogress"))
    assert landing.imports() == []
    again, is_new = landing.keep(GOOD.encode(), file_name="a.csv", kind="csv", now=NOW)
    assert (again, is_new) == (kept, True)
    assert landing.body(again) == GOOD.encode()


def test_a_manifest_that_is_none_is_said_where_nobody_takes_it(tmp_path: Path) -> None:
    landing = ScoreLanding(tmp_path)
    kept, _ = landing.keep(GOOD.encode(), file_name="a.csv", kind="csv", now=NOW)
    manifest = tmp_path / "scores" / "2026-11-30" / kept.import_id / "manifest.json"
    manifest.chmod(0o644)
    manifest.write_text("{}")
    with pytest.raises(CorruptLandingError, match="is no manifest"):
        landing.imports()


def test_imported_scores_are_published_and_a_rebuilt_warehouse_has_them(tmp_path: Path) -> None:
    models = load_sql_models()
    with small_sandbox() as sandbox:
        settings = settings_at(tmp_path, sandbox.url)
        land_at(settings, sandbox, NOW)
    body = GOOD.replace("meta-llama/llama-3.1-8b-instruct", "Llama 3.1 8B Instruct").encode()
    ScoreLanding(settings.landing_dir).keep(body, file_name="a.csv", kind="csv", now=NOW)

    def published() -> tuple[object, str]:
        steps.load_landed(settings, NOW.date(), NOW.date())
        steps.publish(settings, models, NOW)
        snapshot = open_snapshot(settings.published_dir)
        assert snapshot is not None
        scores = snapshot.model_scores("meta-llama/llama-3.1-8b-instruct")
        names = snapshot.unmatched_names()
        with open_warehouse(settings) as warehouse:
            checksum = warehouse.checksum()
        rows = scores.filter(source="my-eval").select("metric", "source_name").rows()
        return (rows, names["source_name"].to_list()), checksum

    before = published()
    assert before[0] == ([("pass_rate", "Llama 3.1 8B Instruct")], ["Nobody Knows This"])
    settings.warehouse_path.unlink()
    assert published() == before
