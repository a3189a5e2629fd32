"""Models are brought up to date: only what is new, in order, or everything when it must be."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from probe_samples import sample
from raw_market import RawMarket, endpoint

from pipeline.building import BuildResult, SqlContractError, are_up_to_date, build_all
from pipeline.sql_models import load_sql_models

HEADER = """-- Sweeps counted as they come.
-- grain: one row per sweep
-- key: sweep_id
-- units: none
-- materialized: {materialized}
"""
CONTRACT = """columns:
  - {name: sweep_id, type: varchar, description: the sweep, not_null: true}
  - {name: partition_date, type: date, description: its day}
  - {name: number, type: bigint, description: sweeps up to this one}
"""
RUNNING_NUMBER = """select
    sweep_id,
    partition_date,
    1 + (select coalesce(max(number), 0) from marts.counted) as number
from raw.sweeps
where partition_date = $partition_date and sweep_id = $sweep_id
"""
OVER_RUNS = "incremental by partition_date over probe_runs"
Build = Callable[..., BuildResult]


def of_runs(text: str) -> str:
    return text.replace("sweep_id", "run_id").replace("raw.sweeps", "raw.probe_runs")


@pytest.fixture
def market() -> RawMarket:
    market = RawMarket()
    for day in (1, 3):
        market.sweep(f"2026-11-0{day}T06:17", {"a/b": [endpoint()]})
    return market


@pytest.fixture
def build(market: RawMarket, tmp_path: Path) -> Build:
    def run(
        query: str = RUNNING_NUMBER, materialized: str = "incremental by partition_date"
    ) -> BuildResult:
        path = tmp_path / "marts" / "counted.sql"
        path.parent.mkdir(exist_ok=True)
        made = of_runs if materialized == OVER_RUNS else str
        path.write_text(made(HEADER.format(materialized=materialized) + query))
        path.with_suffix(".yml").write_text(made(CONTRACT))
        (result,) = build_all(market.database, load_sql_models(tmp_path))
        return result

    return run


def numbers(market: RawMarket, step_id: str = "sweep_id") -> list[tuple[str, int]]:
    return market.database.rows(
        f"select left({step_id}, 8), number from marts.counted order by all"
    )


def test_sweeps_are_computed_in_order_of_time_and_only_once(
    market: RawMarket, build: Build
) -> None:
    assert build().steps == 2
    assert build().steps == 0
    assert numbers(market) == [("20261101", 1), ("20261103", 2)]


def test_only_the_new_sweep_is_computed(market: RawMarket, build: Build) -> None:
    build()
    market.sweep("2026-11-04T06:17", {"a/b": [endpoint()]})
    assert build().steps == 1
    assert numbers(market)[-1] == ("20261104", 3)


def test_a_late_sweep_renews_all_that_follow_it(market: RawMarket, build: Build) -> None:
    build()
    market.sweep("2026-11-02T06:17", {"a/b": [endpoint()]})
    assert build().steps == 2
    assert numbers(market) == [("20261101", 1), ("20261102", 2), ("20261103", 3)]


def test_a_changed_query_renews_everything(market: RawMarket, build: Build) -> None:
    build()
    assert build(RUNNING_NUMBER.replace("1 +", "10 +")).steps == 2
    assert numbers(market) == [("20261101", 10), ("20261103", 20)]


def test_a_model_over_probe_runs_is_computed_run_by_run(market: RawMarket, build: Build) -> None:
    for day in (1, 3):
        market.probe_run(f"2026-11-0{day}T09:00", [sample()])
    assert build(materialized=OVER_RUNS).steps == 2
    market.sweep("2026-11-04T06:17", {"a/b": [endpoint()]})
    assert build(materialized=OVER_RUNS).steps == 0
    market.probe_run("2026-11-02T09:00", [sample()])
    assert build(materialized=OVER_RUNS).steps == 2
    assert numbers(market, "run_id") == [("20261101", 1), ("20261102", 2), ("20261103", 3)]


def test_a_model_may_change_from_sweeps_to_probe_runs(market: RawMarket, build: Build) -> None:
    market.probe_run("2026-11-02T09:00", [sample()])
    build()
    build(materialized=OVER_RUNS)
    assert numbers(market, "run_id") == [("20261102", 1)]
    build()
    assert numbers(market) == [("20261101", 1), ("20261103", 2)]


SWEEPS_NOW = """select max(sweep_id) as sweep_id, max(partition_date) as partition_date,
    count(*) as number from raw.sweeps"""
QUARANTINED = "select sweep_id, partition_date, count(*) as number from raw.quarantine group by all"


def test_a_table_is_made_anew_only_when_something_came_in_that_it_is_made_from(
    market: RawMarket, build: Build
) -> None:
    # A mark that lasts for as long as the table does.
    mark = "update marts.counted set number = 99"
    build(SWEEPS_NOW, "table")
    market.database.execute(mark)
    market.probe_run("2026-11-03T09:00", [sample()])
    build(SWEEPS_NOW, "table")
    assert numbers(market) == [("20261103", 99)]
    market.sweep("2026-11-04T06:17", {"a/b": [endpoint()]})
    build(SWEEPS_NOW, "table")
    assert numbers(market) == [("20261104", 3)]


def test_what_was_kept_out_of_a_probe_run_is_seen_too(market: RawMarket, build: Build) -> None:
    build(QUARANTINED, "table")
    market.insert(
        "raw.quarantine",
        [
            {
                **dict.fromkeys(("table_name", "row_key", "rule", "reason", "record_json"), ""),
                "sweep_id": market.probe_run("2026-11-03T09:00", []),
                "partition_date": "2026-11-03",
                "observed_at_utc": "2026-11-03T09:00Z",
            }
        ],
    )
    build(QUARANTINED, "table")
    assert numbers(market) == [("20261103", 1)]


def test_models_are_behind_when_a_sweep_or_a_probe_run_came_in_that_they_read(
    market: RawMarket, build: Build, tmp_path: Path
) -> None:
    build(SWEEPS_NOW, "table")
    models = load_sql_models(tmp_path)
    assert are_up_to_date(market.database, models)
    market.probe_run("2026-11-03T09:00", [sample()])
    assert are_up_to_date(market.database, models)
    market.sweep("2026-11-04T06:17", {"a/b": [endpoint()]})
    assert not are_up_to_date(market.database, models)

    build(materialized=OVER_RUNS)
    models = load_sql_models(tmp_path)
    assert are_up_to_date(market.database, models)
    market.probe_run("2026-11-04T09:00", [sample()])
    assert not are_up_to_date(market.database, models)


def test_a_warehouse_from_before_there_were_probes_is_built_anew(
    market: RawMarket, build: Build, tmp_path: Path
) -> None:
    market.database.execute("create schema meta")
    market.database.execute(
        "create table meta.built_models (model varchar, fingerprint varchar, sweeps bigint)"
    )
    assert build().steps == 2
    assert are_up_to_date(market.database, load_sql_models(tmp_path))


def test_a_model_may_change_from_one_materialization_to_another(
    market: RawMarket, build: Build
) -> None:
    query = "select sweep_id, partition_date, 1::bigint as number from raw.sweeps"
    one_sweep = f"{query} where partition_date = $partition_date and sweep_id = $sweep_id"
    build(query, "table")
    build(query, "view")
    build(one_sweep)
    build(query, "view")
    build(one_sweep)
    build(query, "table")
    build(one_sweep)
    assert numbers(market) == [("20261101", 1), ("20261103", 1)]


def test_a_query_that_gives_other_columns_than_its_contract_is_refused(build: Build) -> None:
    with pytest.raises(SqlContractError, match=r"counted\.sql: the query and its contract differ"):
        build("select sweep_id, partition_date from raw.sweeps", "table")


def test_rows_that_repeat_the_key_are_refused_and_nothing_is_kept(
    market: RawMarket, build: Build
) -> None:
    build()
    market.sweep("2026-11-04T06:17", {"a/b": [endpoint()]})
    with pytest.raises(SqlContractError, match=r"rows repeat the key \(sweep_id\)"):
        build(RUNNING_NUMBER + " union all " + RUNNING_NUMBER)
    assert numbers(market) == [("20261101", 1), ("20261103", 2)]


def test_a_null_in_a_column_that_must_not_be_null_is_refused(build: Build) -> None:
    with pytest.raises(SqlContractError, match="1 rows have a null in one of sweep_id"):
        build(
            "select null::varchar as sweep_id, partition_date, 1::bigint as number "
            "from raw.sweeps limit 1",
            "table",
        )
