"""What stands in a snapshot: every mart in every format, exact, and nothing else."""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import logging
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path, PurePosixPath
from typing import Any

import polars as pl
import pytest
from hand_made_marts import AS_OF, FREE, LLAMA, TABLES, endpoint_of, insert, make_marts

from pipeline.duck import Database
from pipeline.publishing import PublishError, publish
from pipeline.publishing.model_json import model_path
from pipeline.sql_models import ColumnDoc, SqlModel

PRICES = {
    "0.020000000000000001": "0.020000000000000001",
    "0.000000000000000001": "0.000000000000000001",
    "12345678901234567890.5": "12345678901234567890.5",
    "100": "100",
    "0": "0",
    "-1.50": "-1.5",
    None: None,
}
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


@pytest.fixture
def warehouse() -> Iterator[Database]:
    database = Database.in_memory()
    make_marts(database)
    yield database
    database.close()


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A snapshot of the hand-made marts and some odd values, to be read only."""
    database = Database.in_memory()
    make_marts(database)
    for rank, price in enumerate(PRICES):
        endpoint = endpoint_of("acme/priced", f"P{rank}")
        insert(
            database,
            "provider_table",
            endpoint | {"input_usd_per_mtok": price, "default_rank": rank},
        )
    insert(database, "model_facts", {"model_id": "acme/priced", "model_name": "Priced"})
    for start in FORMULA_STARTS:
        odd = {"check_name": "odd", "status": "warn", "value": -4.5, "detail": f"{start}1+1"}
        insert(database, "data_health", odd)
    endpoint = endpoint_of("acme/odd", "Odd") | {"uptime_1d_pct": "nan", "uptime_5m_pct": 1e-7}
    insert(database, "provider_table", endpoint)
    insert(database, "model_facts", {"model_id": "acme/odd", "model_name": "Odd"})
    path = published(database, tmp_path_factory.mktemp("published"))
    database.close()
    return path


def published(database: Database, folder: Path, market: str = "live") -> Path:
    return publish(database, folder, market=market, now=AS_OF, keep=3).path


def read_json(path: Path) -> Any:
    return json.loads(path.read_bytes(), parse_float=Decimal)


def csv_rows(path: Path) -> list[dict[str, str]]:
    with gzip.open(path, "rt", newline="", encoding="utf-8") as handle:
        return list(csv.DictReader(handle))


def column_of(path: Path, name: str) -> list[str]:
    return [row[name] for row in csv_rows(path)]


def test_every_mart_is_there_as_parquet_csv_and_schema_beside_history_models_and_database(
    warehouse: Database, tmp_path: Path
) -> None:
    snapshot = published(warehouse, tmp_path / "published")

    found = {path.relative_to(snapshot).as_posix() for path in snapshot.rglob("*.*")}
    marts = {
        name.format(mart)
        for mart in TABLES
        for name in ("{}.parquet", "{}.csv.gz", "schema/{}.json")
    }
    assert found == marts | {
        "manifest.json",
        "models.json",
        "models/acme/tiny:free.json",
        "models/meta-llama/llama-3.1-8b-instruct.json",
        "tokentape.duckdb",
        "uptime_history/2026-09.parquet",
        "uptime_history/2026-10.parquet",
        "uptime_history/2026-11.parquet",
    }


def test_a_mart_that_is_new_to_the_code_is_published_like_the_others(
    warehouse: Database, tmp_path: Path
) -> None:
    warehouse.execute("create view marts.market_index as select 3 as size, 1.50 as usd")

    snapshot = published(warehouse, tmp_path)

    assert csv_rows(snapshot / "market_index.csv.gz") == [{"size": "3", "usd": "1.5"}]
    assert pl.read_parquet(snapshot / "market_index.parquet").rows() == [(3, Decimal("1.50"))]


def test_current_is_a_link_to_the_snapshot(snapshot: Path) -> None:
    published_dir = snapshot.parent
    assert (published_dir / "current").readlink() == Path(snapshot.name)
    assert {path.name for path in published_dir.iterdir()} == {snapshot.name, "current"}


def test_the_manifest_says_what_of_when_from_what_and_how_to_check_it(snapshot: Path) -> None:
    manifest = json.loads((snapshot / "manifest.json").read_text())
    assert manifest["format"] == 3
    assert manifest["snapshot_id"] == snapshot.name
    assert manifest["market"] == "live"
    assert manifest["as_of_utc"] == "2026-11-30T06:17:00Z"
    assert manifest["generated_at_utc"] == "2026-11-30T06:17:00Z"
    assert manifest["sweeps"]["count"] == 4
    assert manifest["sweeps"]["latest"][0] == "20261130T061700Z-00000001"
    assert "OpenRouter" in manifest["notice"]
    for path in snapshot.rglob("*.*"):
        name = path.relative_to(snapshot).as_posix()
        if name != "manifest.json":
            body = path.read_bytes()
            entry = manifest["files"].pop(name)
            assert entry["bytes"] == len(body)
            assert entry["sha256"] == hashlib.sha256(body).hexdigest()
            if name in ("provider_table.parquet", "provider_table.csv.gz"):
                assert entry["rows"] == 11
    assert manifest["files"] == {}


def test_a_demo_says_so(warehouse: Database, tmp_path: Path) -> None:
    snapshot = published(warehouse, tmp_path, market="demo")

    manifest = json.loads((snapshot / "manifest.json").read_text())
    assert manifest["market"] == "demo"
    assert manifest["notice"].startswith("Demo data")
    assert read_json(snapshot / "models.json")["market"] == "demo"


def test_a_failed_sweep_is_logged_but_nothing_is_as_of_it(
    warehouse: Database, tmp_path: Path
) -> None:
    failed = {
        "sweep_id": "20261201T061700Z-00000002",
        "partition_date": date(2026, 12, 1),
        "started_at_utc": datetime(2026, 12, 1, 6, 17, tzinfo=UTC),
        "status": "failed",
    }
    insert(warehouse, "sweep_log", failed)

    manifest = json.loads((published(warehouse, tmp_path) / "manifest.json").read_text())

    assert manifest["as_of_utc"] == "2026-11-30T06:17:00Z"
    assert manifest["sweeps"]["latest"][0] == "20261201T061700Z-00000002"


def test_a_price_is_exact_and_plain_in_every_format(snapshot: Path) -> None:
    texts = list(PRICES.values())
    exact = [None if text is None else Decimal(text) for text in texts]

    cells = column_of(snapshot / "provider_table.csv.gz", "input_usd_per_mtok")
    assert cells[1:8] == [text or "" for text in texts]
    model = snapshot / "models" / "acme" / "priced.json"
    for text in texts:
        assert f'"input_usd_per_mtok":{text or "null"},' in model.read_text()
    assert [row["input_usd_per_mtok"] for row in read_json(model)["providers"]] == exact
    frame = pl.read_parquet(snapshot / "provider_table.parquet")
    assert frame["input_usd_per_mtok"].to_list()[1:8] == exact
    assert frame.schema["input_usd_per_mtok"] == pl.Decimal(38, 18)


def test_text_in_a_csv_cannot_become_a_formula_and_numbers_stay(snapshot: Path) -> None:
    rows = csv_rows(snapshot / "data_health.csv.gz")

    assert [row["detail"] for row in rows[1:]] == sorted(f"'{start}1+1" for start in FORMULA_STARTS)
    assert {row["value"] for row in rows[1:]} == {"-4.5"}
    details = pl.read_parquet(snapshot / "data_health.parquet")["detail"]
    assert set(details[1:]) == {f"{start}1+1" for start in FORMULA_STARTS}


def test_csv_has_utc_times_lists_as_json_and_empty_cells_for_null(snapshot: Path) -> None:
    llama, groq = csv_rows(snapshot / "provider_table.csv.gz")[-2:]
    assert llama["observed_at_utc"] == "2026-11-30T06:17:01.25Z"
    assert (llama["is_free"], llama["uptime_1d_pct"], llama["uptime_5m_pct"]) == (
        "false",
        "99.9",
        "",
    )
    assert groq["provider_name"] == "Groq"
    facts = {row["model_id"]: row for row in csv_rows(snapshot / "model_facts.csv.gz")}
    assert facts[FREE]["input_modalities"] == '["text","image"]'
    assert facts[FREE]["description"] == "'=1+1"
    assert facts[FREE]["knowledge_cutoff"] == ""
    assert facts[LLAMA]["knowledge_cutoff"] == "2023-12-31"
    assert facts[LLAMA]["description"] == 'Says "hi" é\nin two lines'


def test_a_csv_carries_no_time_of_its_own(snapshot: Path) -> None:
    assert (snapshot / "provider_table.csv.gz").read_bytes()[4:8] == bytes(4)


def test_a_double_that_is_no_number_is_null_in_csv_and_json(snapshot: Path) -> None:
    row = next(
        row for row in csv_rows(snapshot / "provider_table.csv.gz") if row["model_id"] == "acme/odd"
    )
    assert (row["uptime_1d_pct"], row["uptime_5m_pct"]) == ("", "1e-07")
    row = read_json(snapshot / "models" / "acme" / "odd.json")["providers"][0]
    assert (row["uptime_1d_pct"], row["uptime_5m_pct"]) == (None, Decimal("1e-7"))


def test_a_model_file_has_facts_providers_best_first_performance_and_price_history(
    snapshot: Path,
) -> None:
    body = read_json(snapshot / "models" / f"{LLAMA}.json")
    assert list(body) == ["format", "market", "model", "providers", "performance", "price_history"]
    assert body["model"]["description"] == 'Says "hi" é\nin two lines'
    assert body["model"]["input_modalities"] == ["text"]
    assert body["model"]["knowledge_cutoff"] == "2023-12-31"
    assert [row["provider_name"] for row in body["providers"]] == ["DeepInfra", "Groq"]
    assert body["providers"][0]["observed_at_utc"] == "2026-11-30T06:17:01.25Z"
    assert [row["valid_from_utc"] for row in body["price_history"]] == ["2026-11-30T06:17:00Z"] * 2
    assert [
        (row["target"], row["window_hours"], row["ttft_p50_ms"]) for row in body["performance"]
    ] == [
        ("DeepInfra pinned", 24, 412),
        ("DeepInfra pinned", 72, 412),
        ("Groq pinned", 24, Decimal("171.5")),
        ("Groq pinned", 72, Decimal("171.5")),
    ]
    free = read_json(snapshot / "models" / f"{FREE}.json")
    assert (free["performance"], free["price_history"]) == ([], [])


def test_what_probes_measured_is_published_without_lists(snapshot: Path) -> None:
    for mart in ("probe_summary", "performance_history", "probe_samples"):
        columns = read_json(snapshot / "schema" / f"{mart}.json")["columns"]
        assert not [column for column in columns if column["type"].endswith("[]")]
        assert len(csv_rows(snapshot / f"{mart}.csv.gz")) == 4
    samples = csv_rows(snapshot / "probe_samples.csv.gz")
    assert {row["cost_listed_usd"] for row in samples} == {"0.0000123"}


def test_models_json_lists_the_market(snapshot: Path) -> None:
    body = read_json(snapshot / "models.json")

    assert [row["model_id"] for row in body["models"]] == [FREE, LLAMA]
    assert body["models"][0]["providers"] == 2


@pytest.mark.parametrize(
    ("model_id", "place"),
    [
        ("x-ai/grok-4.1:free", "models/x-ai/grok-4.1:free.json"),
        ("~acme/big-latest", "models/~acme/big-latest.json"),
        ("../evil", None),
        ("acme/..", None),
        ("acme/../../evil", None),
        ("/etc/passwd", None),
        ("acme/.hidden", None),
        ("acme", None),
        ("acme/", None),
        ("a/b/c", None),
        ("acme/x\n", None),
        ("acme/x\\..\\y", None),
        ("acme/" + "x" * 300, None),
        ("", None),
    ],
)
def test_a_model_id_names_a_file_below_models_or_none(model_id: str, place: str | None) -> None:
    assert model_path(model_id) == (place and PurePosixPath(place))


def test_a_model_id_that_is_a_way_out_of_the_folder_is_left_out_and_the_rest_published(
    warehouse: Database, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    insert(warehouse, "model_facts", {"model_id": "../../../evil", "model_name": "evil"})
    insert(warehouse, "provider_table", endpoint_of("../../../evil", "Mallory"))

    with caplog.at_level(logging.WARNING):
        snapshot = published(warehouse, tmp_path / "published")

    assert {path.name for path in snapshot.joinpath("models").rglob("*.json")} == {
        "tiny:free.json",
        "llama-3.1-8b-instruct.json",
    }
    assert not list(tmp_path.rglob("*evil*"))
    assert "'../../../evil' cannot name a file" in caplog.text


def test_the_database_file_has_every_mart_and_opens_in_duckdb_1_5(snapshot: Path) -> None:
    database = Database.in_memory()
    database.attach(snapshot / "tokentape.duckdb", "snapshot", read_only=True)
    tables = database.rows(
        "select table_name from duckdb_tables() where database_name = 'snapshot' order by all"
    )
    tags = database.value("select tags from duckdb_databases() where database_name = 'snapshot'")
    prices = database.rows(
        "select provider_name, input_usd_per_mtok from snapshot.main.provider_table "
        "where model_id = $model_id order by default_rank",
        {"model_id": LLAMA},
    )
    database.close()

    assert [row[0] for row in tables] == sorted(TABLES)
    assert tags["storage_version"].startswith("v1.5.0")
    assert prices == [("DeepInfra", Decimal("0.020000000000000001")), ("Groq", Decimal("0.05"))]


def test_the_schema_names_columns_types_and_nullability(snapshot: Path) -> None:
    schema = json.loads((snapshot / "schema" / "sweep_log.json").read_text())
    assert schema["mart"] == "sweep_log"
    assert schema["columns"][:3] == [
        {"name": "sweep_id", "type": "VARCHAR", "nullable": False},
        {"name": "partition_date", "type": "DATE", "nullable": True},
        {"name": "started_at_utc", "type": "TIMESTAMP WITH TIME ZONE", "nullable": True},
    ]


def test_the_schema_takes_words_and_not_null_from_the_contract_of_the_sql_model(
    warehouse: Database, tmp_path: Path
) -> None:
    model = SqlModel(
        schema="marts",
        name="data_health",
        path=Path("dbt_like_sql/marts/data_health.sql"),
        sql="select 1",
        title="Checks of the data.",
        grain="one row per check",
        key=("check_name",),
        units="none",
        materialized="table",
        date_column=None,
        over="sweeps",
        references=frozenset(),
        columns=(ColumnDoc("check_name", "VARCHAR", "what is checked", is_not_null=True),),
    )

    path = publish(
        warehouse, tmp_path, market="live", now=AS_OF, keep=1, models=[model]
    ).path.joinpath("schema", "data_health.json")

    schema = read_json(path)
    assert schema["title"] == "Checks of the data."
    assert (schema["grain"], schema["key"]) == ("one row per check", ["check_name"])
    assert schema["columns"][0] == {
        "name": "check_name",
        "type": "VARCHAR",
        "nullable": False,
        "description": "what is checked",
    }
    assert schema["columns"][1] == {"name": "status", "type": "VARCHAR", "nullable": True}


def test_a_sum_of_counts_is_a_whole_number_everywhere(snapshot: Path) -> None:
    # In DuckDB it is a HUGEINT, which Parquet would hold as a double.
    assert pl.read_parquet(snapshot / "market_table.parquet")["providers"].to_list() == [2, 2]
    assert column_of(snapshot / "market_table.csv.gz", "providers") == ["2", "2"]
    columns = json.loads((snapshot / "schema" / "market_table.json").read_text())["columns"]
    assert {"name": "providers", "type": "BIGINT", "nullable": True} in columns


def test_the_recent_history_is_ninety_days_and_the_months_are_all_of_it(
    warehouse: Database, tmp_path: Path
) -> None:
    # 2026-11-30 minus 90 days is 2026-09-01: the sweep of that day is out, the next one is in.
    for day, provider in ((1, "Out"), (2, "In")):
        seen = {"partition_date": date(2026, 9, day), "sweep_id": "early"}
        insert(warehouse, "uptime_history", endpoint_of(LLAMA, provider) | seen)

    snapshot = published(warehouse, tmp_path)

    recent = pl.read_parquet(snapshot / "uptime_history.parquet")
    months = pl.read_parquet(snapshot / "uptime_history" / "*.parquet")
    assert (recent.height, months.height) == (9, 10)
    assert recent["partition_date"].min() == date(2026, 9, 2)
    assert set(months["provider_name"]) == {"DeepInfra", "Groq", "In", "Out"}


def test_rows_and_bytes_do_not_depend_on_the_order_in_which_rows_came(tmp_path: Path) -> None:
    snapshots = []
    for name, order in (("one", "asc"), ("two", "desc")):
        database = Database.in_memory()
        make_marts(database)
        for mart in TABLES:
            database.execute(
                f"create or replace table marts.{mart} as "
                f"select * from marts.{mart} order by all {order}"
            )
        snapshots.append(published(database, tmp_path / name))
        database.close()

    one, two = snapshots
    assert one.name == two.name
    for path in one.rglob("*.*"):
        if path.name not in ("manifest.json", "tokentape.duckdb"):
            assert path.read_bytes() == (two / path.relative_to(one)).read_bytes(), path.name


def test_a_folder_whose_name_looks_like_a_pattern_is_only_a_folder(
    warehouse: Database, tmp_path: Path
) -> None:
    snapshot = published(warehouse, tmp_path / "it's [1]*")

    assert pl.read_parquet(snapshot / "provider_table.parquet", glob=False).height == 3


def test_marts_that_are_not_built_are_named(tmp_path: Path) -> None:
    database = Database.in_memory()
    database.execute("create schema marts")
    database.execute("create table marts.model_facts (model_id varchar)")

    with pytest.raises(PublishError, match="mart market_table is missing; build the SQL models"):
        published(database, tmp_path)
    database.close()


def test_a_warehouse_without_a_sweep_has_nothing_to_publish(
    warehouse: Database, tmp_path: Path
) -> None:
    warehouse.execute("delete from marts.sweep_log")

    with pytest.raises(PublishError, match="no sweep to publish; run `tokentape sync` first"):
        published(warehouse, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_mart_whose_name_is_no_file_name_is_refused(warehouse: Database, tmp_path: Path) -> None:
    warehouse.execute('create table marts."../x" (a integer)')

    with pytest.raises(PublishError, match="cannot name a file"):
        published(warehouse, tmp_path)
