"""What a file of scores may hold, and what is said of what it may not."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal

import pytest

from pipeline.scores.bundled import bundled_scores, known_sources
from pipeline.scores.cells import ScoreFileError, kind_of, read_cells
from pipeline.scores.reading import Scores, read_scores

TODAY = date(2026, 11, 30)
HEADER = "model_id,metric,score,source,as_of,scale_min,scale_max"
FULL = HEADER + ",higher_is_better,has_zero,variant,source_url,evidence"


def read(*lines: str, header: str = HEADER) -> Scores:
    body = "\n".join((header, *lines)).encode()
    return read_scores(body, "csv", today=TODAY, taken_sources=known_sources())


def refusal(line: str, header: str = HEADER) -> str:
    scores = read(line, header=header)
    assert scores.rows.is_empty()
    (refused,) = scores.refused
    return str(refused)


def test_a_row_of_five_cells_is_a_score() -> None:
    scores = read(
        "acme/large,pass rate,62.5,my-eval,2026-11-01",
        header="model_id,metric,score,source,as_of",
    )
    assert scores.refused == ()
    row = scores.rows.row(0, named=True)
    assert row["score"] == Decimal("62.5")
    assert row["as_of"] == date(2026, 11, 1)
    assert row["evidence"] == "user"
    assert row["higher_is_better"] is True
    assert row["has_zero"] is False  # nobody said where the scale begins
    assert row["variant"] is None


def test_a_scale_that_begins_at_0_has_a_zero_unless_the_file_says_otherwise() -> None:
    scores = read(
        "a/one,m,1,my-eval,2026-11-01,0,100,,,,,",
        "a/two,m,1,my-eval,2026-11-01,0,100,,false,,,",
        "a/three,m,1,my-eval,2026-11-01,,,,yes,,,",
        header=FULL,
    )
    assert scores.rows["has_zero"].to_list() == [True, False, True]


def test_json_is_the_same_with_its_types() -> None:
    body = json.dumps(
        [
            {
                "model_id": "a/one",
                "metric": "m",
                "score": 0.1,
                "source": "my-eval",
                "as_of": "2026-11-01",
                "higher_is_better": False,
                "variant": None,
            }
        ]
    ).encode()
    row = read_scores(body, "json", today=TODAY).rows.row(0, named=True)
    assert row["score"] == Decimal("0.1")
    assert row["higher_is_better"] is False


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (",m,1,my-eval,2026-11-01,,", "line 2 (no model): model_id is empty; name the model"),
        ("a/b,,1,my-eval,2026-11-01,,", "line 2 (a/b): metric is empty; say in metric"),
        ("a/b,m,,my-eval,2026-11-01,,", "score is empty; give the number, or leave the row out"),
        ("a/b,m,high,my-eval,2026-11-01,,", "score: 'high' is no number; write it like 62.5"),
        ("a/b,m,nan,my-eval,2026-11-01,,", "score: 'nan' is no number"),
        ("a/b,m,1e30,my-eval,2026-11-01,,", "score: 1e30 is too large"),
        ("a/b,m,0.1234567,my-eval,2026-11-01,,", "more than 6 decimals; round it"),
        ("a/b,m,1,My Eval,2026-11-01,,", "source 'My Eval'; name it in short"),
        ("a/b,m,1,artificial-analysis,2026-11-01,,", "is kept by tokentape itself; give the"),
        ("a/b,m,1,my-eval,,,", "as_of is empty; say in as_of"),
        ("a/b,m,1,my-eval,1.11.2026,,", "as_of: '1.11.2026' is no day; write it like 2026-11-30"),
        ("a/b,m,1,my-eval,2026-12-01,,", "as_of 2026-12-01; mend as_of"),
        ("a/b,m,120,my-eval,2026-11-01,0,100", "score 120, scale_min 0, scale_max 100; mend"),
        ("a/b,m,-1,my-eval,2026-11-01,0,100", "score -1, scale_min 0, scale_max 100; mend"),
        ("a/b,m,1,my-eval,2026-11-01,100,0", "scale_min 100, scale_max 0; exchange the two"),
    ],
)
def test_a_refused_row_is_named_with_reason_and_remedy(line: str, said: str) -> None:
    assert said in refusal(line)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("a/b,Elo,1200,my-eval,2026-11-01,,,,true,,,", "twice an Elo rating is not twice as good"),
        ("a/b,m,5,my-eval,2026-11-01,1,10,,true,,,", "a scale that does not begin at 0 has none"),
        ("a/b,m,5,my-eval,2026-11-01,,,maybe,,,,", "higher_is_better: 'maybe' is neither true nor"),
        ("a/b,m,5,my-eval,2026-11-01,,,,,,javascript:1,", "write it with http:// or https://"),
        ("a/b,m,5,my-eval,2026-11-01,,,,,,,hearsay", "evidence 'hearsay'; write one of direct,"),
    ],
)
def test_a_claim_that_cannot_hold_is_refused(line: str, said: str) -> None:
    assert said in refusal(line, FULL)


def test_one_bad_row_takes_no_other_along_and_every_reason_is_told() -> None:
    scores = read(
        "a/one,m,1,my-eval,2026-11-01,,",
        "a/two,m,high,my-eval,yesterday,,",
        "a/three,m,3,my-eval,2026-11-01,,",
        "a/one,m,2,my-eval,2026-11-02,,",
    )
    assert scores.rows["source_name"].to_list() == ["a/one", "a/three"]
    assert [refused.place for refused in scores.refused] == ["line 3", "line 5"]
    assert "score: 'high'" in scores.refused[0].reason
    assert "as_of: 'yesterday'" in scores.refused[0].reason
    assert "same model, metric, variant and source; leave one" in scores.refused[1].reason


@pytest.mark.parametrize(
    ("body", "kind", "said"),
    [
        (b"", "csv", "its header lacks model_id, metric, score, source, as_of"),
        (b"model_id,metric,score,source\n", "csv", "its header lacks as_of"),
        (f"{HEADER},scroe\n".encode(), "csv", "its header has 'scroe'; known: model_id"),
        (f"{HEADER},metric\n".encode(), "csv", "its header has metric twice"),
        (f"{HEADER}\n".encode(), "csv", "it holds no score"),
        (f"{HEADER}\na,b\n".encode(), "csv", "line 2 has 2 cells, the header 7"),
        (b"\xff\xfe", "csv", "it is not UTF-8"),
        (b"{}", "json", "it is no list of objects"),
        (b"[1", "json", "it cannot be read: body is not JSON"),
        (b"[{}]", "json", "entry 1 lacks model_id"),
    ],
)
def test_a_file_that_is_none_says_why(body: bytes, kind: str, said: str) -> None:
    with pytest.raises(ScoreFileError, match=r"^[^\n]+$") as error:
        read_cells(body, "csv" if kind == "csv" else "json")
    assert said in str(error.value)


def test_a_name_without_a_known_ending_is_refused() -> None:
    assert kind_of("Scores.CSV") == "csv"
    with pytest.raises(ScoreFileError, match=r"neither \.csv nor \.json"):
        kind_of("scores.xlsx")


def test_the_bundled_scores_are_sound_and_each_has_a_source_with_licence_and_citation() -> None:
    bundled = bundled_scores()
    assert bundled.refused == ()
    assert dict(bundled.rows.select("metric", "score").rows()) == {
        "coding": 52,
        "reasoning": 55,
        "general": 62,
    }
    for source in bundled.rows["source"]:
        assert known_sources()[source]["licence"]
        assert known_sources()[source]["citation"]
