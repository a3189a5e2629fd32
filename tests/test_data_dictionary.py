"""The data dictionary says what the contracts say."""

from __future__ import annotations

from pipeline.data_dictionary import PATH, data_dictionary
from pipeline.sql_models import load_sql_models


def test_the_written_dictionary_is_that_of_the_contracts() -> None:
    assert PATH.read_text() == data_dictionary(load_sql_models()), (
        "run `python -m pipeline.data_dictionary`"
    )


def test_every_mart_and_column_has_its_line() -> None:
    written = PATH.read_text()
    for model in load_sql_models():
        if model.schema == "marts":
            chapter = written.split(f"\n## {model.name}\n")[1].split("\n## ")[0]
            assert model.title in chapter
            for column in model.columns:
                assert f"| `{column.name}` | {column.type} |" in chapter
