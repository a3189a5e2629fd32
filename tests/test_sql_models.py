"""SQL models are found, understood and put in order, and a wrong one is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.sql_models import SCHEMAS, SqlModelError, load_sql_models

HEADER = """-- What it holds.
-- grain: one row per sweep
-- key: sweep_id
-- units: none
-- materialized: view
"""
CONTRACT = "columns:\n  - {name: sweep_id, type: varchar, description: the sweep}\n"


def write(folder: Path, name: str, query: str, *, header: str = HEADER) -> Path:
    path = folder / f"{name}.sql"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(header + query)
    path.with_suffix(".yml").write_text(CONTRACT)
    return path


def test_models_come_after_what_they_read_from(tmp_path: Path) -> None:
    write(tmp_path, "marts/a_last", "select sweep_id from intermediate.m_middle")
    write(tmp_path, "intermediate/m_middle", "select sweep_id from staging.z_first")
    write(tmp_path, "staging/z_first", "select sweep_id from raw.sweeps")
    names = [model.qualified_name for model in load_sql_models(tmp_path)]
    assert names == ["staging.z_first", "intermediate.m_middle", "marts.a_last"]


def test_a_header_is_understood(tmp_path: Path) -> None:
    header = """-- One sentence,
-- and another.
-- grain: one row per endpoint and sweep
-- key: endpoint_id, sweep_id
-- units: USD per million tokens
-- materialized: incremental by partition_date
"""
    write(
        tmp_path,
        "marts/m",
        "with mine as (select * from marts.m) select sweep_id from raw.sweeps, mine",
        header=header,
    )
    (model,) = load_sql_models(tmp_path)
    assert model.title == "One sentence, and another."
    assert model.key == ("endpoint_id", "sweep_id")
    assert (model.materialized, model.date_column) == ("incremental", "partition_date")
    assert model.references == {"marts.m", "raw.sweeps"}
    assert [(column.name, column.type) for column in model.columns] == [("sweep_id", "VARCHAR")]


@pytest.mark.parametrize(
    ("line", "over", "step_id"),
    [
        ("incremental by partition_date", "sweeps", "sweep_id"),
        ("incremental by partition_date over sweeps", "sweeps", "sweep_id"),
        ("incremental by partition_date over probe_runs", "probe_runs", "run_id"),
    ],
)
def test_an_incremental_model_says_what_it_is_computed_over(
    tmp_path: Path, line: str, over: str, step_id: str
) -> None:
    header = HEADER.replace("view", line)
    write(tmp_path, "marts/m", "select sweep_id from raw.sweeps", header=header)
    (model,) = load_sql_models(tmp_path)
    assert (model.materialized, model.over, model.step_id) == ("incremental", over, step_id)


def test_a_circle_is_named(tmp_path: Path) -> None:
    write(tmp_path, "marts/a", "select sweep_id from marts.b")
    write(tmp_path, "marts/b", "select sweep_id from marts.a")
    with pytest.raises(SqlModelError, match=r"in a circle: marts\.\w -> marts\.\w -> marts\.\w"):
        load_sql_models(tmp_path)


def test_an_unknown_table_is_named_with_its_file(tmp_path: Path) -> None:
    write(tmp_path, "marts/a", "select sweep_id from staging.nowhere")
    with pytest.raises(SqlModelError, match=r"a\.sql: reads from staging\.nowhere, which is"):
        load_sql_models(tmp_path)


def test_two_models_of_one_name_are_refused(tmp_path: Path) -> None:
    write(tmp_path, "marts/same", "select sweep_id from raw.sweeps")
    write(tmp_path, "staging/same", "select sweep_id from raw.sweeps")
    with pytest.raises(SqlModelError, match="the name same is taken by"):
        load_sql_models(tmp_path)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        pytest.param("select from where", "line 6:", id="no SQL"),
        pytest.param("select 1; select 2", "exactly one SELECT", id="two statements"),
        pytest.param("drop table raw.sweeps", "exactly one SELECT", id="no SELECT"),
        pytest.param("select sweep_id from sweeps", "has no schema", id="loose table"),
    ],
)
def test_a_file_that_is_not_one_select_is_refused(tmp_path: Path, query: str, message: str) -> None:
    write(tmp_path, "marts/a", query)
    with pytest.raises(SqlModelError, match=message):
        load_sql_models(tmp_path)


@pytest.mark.parametrize("line", ["grain", "key", "units", "materialized"])
def test_a_header_that_lacks_a_line_is_refused(tmp_path: Path, line: str) -> None:
    header = "".join(
        each for each in HEADER.splitlines(keepends=True) if not each.startswith(f"-- {line}:")
    )
    write(tmp_path, "marts/a", "select sweep_id from raw.sweeps", header=header)
    with pytest.raises(SqlModelError, match=f"lacks the line `-- {line}: ...`"):
        load_sql_models(tmp_path)


@pytest.mark.parametrize("line", ["incremental", "incremental by partition_date over days"])
def test_an_unknown_materialization_is_refused(tmp_path: Path, line: str) -> None:
    write(
        tmp_path,
        "marts/a",
        "select sweep_id from raw.sweeps",
        header=HEADER.replace("view", line),
    )
    with pytest.raises(SqlModelError, match="write view, table, or incremental by"):
        load_sql_models(tmp_path)


def test_a_model_without_a_contract_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "marts/a", "select sweep_id from raw.sweeps").with_suffix(".yml").unlink()
    with pytest.raises(SqlModelError, match=r"a\.yml: the contract is missing"):
        load_sql_models(tmp_path)


def test_the_projects_own_models_are_sound() -> None:
    models = load_sql_models()
    assert {model.schema for model in models} == set(SCHEMAS)
    for model in models:
        assert model.title, model.path
        assert set(model.key) <= {column.name for column in model.columns}, model.path
        assert all(column.description.strip("?") for column in model.columns), model.path
