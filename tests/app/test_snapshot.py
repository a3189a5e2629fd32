"""The app's view of what is published: the newest whole snapshot, and nothing beyond it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import polars as pl
import pytest
from hand_made_marts import AS_OF, FREE, LLAMA, add_sweep, make_marts

from app.snapshot import Snapshot, SnapshotError, open_snapshot
from pipeline import duck
from pipeline.duck import Database
from pipeline.publishing import publish


@pytest.fixture
def warehouse() -> Iterator[Database]:
    database = Database.in_memory()
    make_marts(database)
    yield database
    database.close()


def published(database: Database, folder: Path, days: int = 0, keep: int = 1) -> str:
    now = AS_OF + timedelta(days=days)
    return publish(database, folder, market="live", now=now, keep=keep).snapshot_id


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    """The snapshot of the hand-made marts, opened as the app opens it."""
    folder = tmp_path_factory.mktemp("published")
    database = Database.in_memory()
    make_marts(database)
    published(database, folder)
    database.close()
    opened = open_snapshot(folder)
    assert opened is not None
    return opened


def test_there_is_no_snapshot_before_the_first_publication(tmp_path: Path) -> None:
    assert open_snapshot(tmp_path / "published") is None


def test_it_is_opened_once_until_a_newer_one_is_up(warehouse: Database, tmp_path: Path) -> None:
    first_id = published(warehouse, tmp_path)
    first = open_snapshot(tmp_path)
    assert first is not None
    assert open_snapshot(tmp_path) is first

    add_sweep(warehouse, date(2026, 12, 1))
    second_id = published(warehouse, tmp_path, days=1)
    second = open_snapshot(tmp_path)

    assert second is not None
    assert (first.snapshot_id, second.snapshot_id) == (first_id, second_id)
    assert (first.sweep_log().height, second.sweep_log().height) == (4, 5)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts open files in /proc")
def test_at_most_two_stay_open(warehouse: Database, tmp_path: Path) -> None:
    for day in range(1, 4):
        add_sweep(warehouse, date(2026, 12, day))
        published(warehouse, tmp_path, days=day)
        assert open_snapshot(tmp_path) is not None

    handles = [path for path in Path("/proc/self/fd").iterdir() if path.is_symlink()]
    links = [str(handle.readlink()) for handle in handles]
    assert len([link for link in links if link.startswith(str(tmp_path))]) <= 2


def test_threads_read_on_while_snapshots_come_and_go(warehouse: Database, tmp_path: Path) -> None:
    published(warehouse, tmp_path)
    is_over = threading.Event()
    problems: list[BaseException] = []
    seen: set[int] = set()

    def read() -> None:
        try:
            while not is_over.is_set():
                snapshot = open_snapshot(tmp_path)
                assert snapshot is not None
                assert snapshot.sweep_log().height == snapshot.manifest["sweeps"]["count"]
                seen.add(snapshot.sweep_log().height)
        except BaseException as problem:  # an assertion must not die with its thread
            problems.append(problem)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for day in (1, 2):
        add_sweep(warehouse, date(2026, 12, day))
        published(warehouse, tmp_path, days=day, keep=1)
    is_over.set()
    for reader in readers:
        reader.join()

    assert problems == []
    assert len(seen) > 1


def test_a_damaged_manifest_is_an_error_that_names_the_remedy(
    warehouse: Database, tmp_path: Path
) -> None:
    published(warehouse, tmp_path)
    manifest = tmp_path / "current" / "manifest.json"
    manifest.chmod(0o644)
    manifest.write_text("{")

    with pytest.raises(SnapshotError, match=r"manifest\.json.*run `tokentape publish`"):
        open_snapshot(tmp_path)


def test_a_damaged_database_file_is_an_error_that_names_the_remedy(
    warehouse: Database, tmp_path: Path
) -> None:
    published(warehouse, tmp_path)
    database_file = tmp_path / "current" / "tokentape.duckdb"
    database_file.chmod(0o644)
    database_file.write_bytes(b"not a database" * 1000)

    with pytest.raises(SnapshotError, match="run `tokentape publish`"):
        open_snapshot(tmp_path)


def test_a_snapshot_of_the_time_before_the_probes_says_how_to_renew_it(
    warehouse: Database, tmp_path: Path
) -> None:
    published(warehouse, tmp_path)
    manifest = tmp_path / "current" / "manifest.json"
    manifest.chmod(0o644)
    manifest.write_text(manifest.read_text().replace('"format": 3', '"format": 1'))

    with pytest.raises(
        SnapshotError, match=r"earlier tokentape \(format 1 of 3\); run `tokentape publish`"
    ):
        open_snapshot(tmp_path)


def test_a_link_to_nowhere_is_an_error_that_names_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "current").symlink_to("20261130T061700Z-0000000000000000")

    with pytest.raises(SnapshotError, match="run `tokentape publish`"):
        open_snapshot(tmp_path)


def test_the_manifest_and_the_files_are_those_of_the_snapshot(snapshot: Snapshot) -> None:
    assert snapshot.manifest["as_of_utc"] == "2026-11-30T06:17:00Z"
    assert snapshot.manifest["files"]["provider_table.parquet"]["rows"] == 3
    assert "source_fingerprint" not in snapshot.manifest["files"]["provider_table.parquet"]
    assert snapshot.files()["models.json"].bytes == (snapshot.path / "models.json").stat().st_size
    assert snapshot.model_file(FREE) == "models/acme/tiny:free.json"
    assert snapshot.model_file("acme/unknown") is None
    assert snapshot.model_file("../manifest") is None


def test_providers_come_best_first_with_exact_prices_and_utc_times(snapshot: Snapshot) -> None:
    table = snapshot.provider_table(LLAMA)

    assert table["provider_name"].to_list() == ["DeepInfra", "Groq"]
    assert table["input_usd_per_mtok"][0] == Decimal("0.020000000000000001")
    assert table["observed_at_utc"][0] == datetime(2026, 11, 30, 6, 17, 1, 250000, tzinfo=UTC)
    assert table.schema["observed_at_utc"] == pl.Datetime("us", "UTC")
    assert snapshot.provider_table("acme/unknown").is_empty()


def test_a_model_has_facts_history_and_changes(snapshot: Snapshot) -> None:
    facts = snapshot.model_facts(LLAMA)
    assert facts is not None
    assert (facts["author"], facts["input_modalities"]) == ("meta-llama", ["text"])
    assert snapshot.model_facts("acme/unknown") is None
    assert snapshot.price_history(LLAMA)["provider_name"].to_list() == ["DeepInfra", "Groq"]
    assert snapshot.price_history(FREE).is_empty()
    assert snapshot.price_changes(LLAMA)["new_value"].to_list() == ["0.05"]
    assert snapshot.price_changes(FREE).is_empty()


def test_a_model_has_what_probes_measured_of_it(snapshot: Snapshot) -> None:
    summary = snapshot.probe_summary(LLAMA)
    assert summary.select("target", "window_hours", "ttft_p50_ms").rows() == [
        ("DeepInfra pinned", 24, 412.0),
        ("DeepInfra pinned", 72, 412.0),
        ("Groq pinned", 24, 171.5),
        ("Groq pinned", 72, 171.5),
    ]
    history = snapshot.performance_history(LLAMA)
    assert history["started_at_utc"].dt.hour().to_list() == [3, 3, 6, 6]
    assert history["target"].to_list() == ["DeepInfra pinned", "Groq pinned"] * 2
    samples = snapshot.probe_samples(LLAMA)
    assert samples["request_id"].to_list() == ["DeepInfra", "Groq"] * 2
    assert samples["cost_listed_usd"][0] == Decimal("0.0000123")
    for rows in (snapshot.probe_summary, snapshot.performance_history, snapshot.probe_samples):
        assert rows(FREE).is_empty()


def test_the_market_has_models_changes_sweeps_and_health(snapshot: Snapshot) -> None:
    assert snapshot.market_table()["model_id"].to_list() == [FREE, LLAMA]
    assert snapshot.price_changes(limit=5).height == 1
    assert snapshot.sweep_log(limit=2)["partition_date"].to_list() == [
        date(2026, 11, 30),
        date(2026, 11, 29),
    ]
    assert snapshot.data_health()["check_name"].to_list() == ["coverage"]
    assert snapshot.quarantine_log().is_empty()
    assert snapshot.flag_log().is_empty()


@pytest.mark.parametrize(
    "text", ["' or true --", "x'; drop table model_facts; --", "$model_id", "%", "\x00"]
)
def test_what_a_visitor_types_is_never_part_of_a_query(snapshot: Snapshot, text: str) -> None:
    assert snapshot.provider_table(text).is_empty()
    assert snapshot.model_facts(text) is None
    assert snapshot.suggest_models(text) == []


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("llama-3.1-8b-instruct", LLAMA),
        ("META-LLAMA/llama-3.1-8B", LLAMA),
        (" tiny ", FREE),
        ("meta-lama/llama-3.1-8b-instuct", LLAMA),
        ("acme/tinny:free", FREE),
        ("other/llama-3.1-8b-instruct", LLAMA),
    ],
)
def test_a_mistyped_model_has_suggestions(snapshot: Snapshot, text: str, first: str) -> None:
    assert snapshot.suggest_models(text)[0] == first


def test_a_text_like_no_model_has_no_suggestion(snapshot: Snapshot) -> None:
    assert snapshot.suggest_models("zzzz") == []
    assert len(snapshot.suggest_models("m", limit=1)) == 1


def test_the_downloads_of_one_model_are_written_as_the_published_files(
    snapshot: Snapshot,
) -> None:
    header, first, second = snapshot.provider_table_csv(LLAMA).splitlines()
    assert header.startswith("endpoint_id,model_id,provider_name,tag,endpoint_ordinal,")
    assert ",standard,false,0.020000000000000001,100,,,0,,," in first
    assert second.endswith(",2,,,2026-11-30T06:17:01.25Z,")
    model = (snapshot.path / "models" / f"{LLAMA}.json").read_text()
    rows = snapshot.provider_table_json(LLAMA).strip().removeprefix("[").removesuffix("]")
    assert rows in model


@pytest.mark.parametrize(
    "sql",
    [
        "select * from read_text('/etc/hostname')",
        "copy (select 1) to '/tmp/written.csv'",
        "attach '/tmp/other.duckdb' as other",
        "set enable_external_access = true",
        "create table snapshot.main.new_table (a integer)",
        "delete from snapshot.main.model_facts",
    ],
)
def test_no_query_reaches_beyond_the_snapshot_or_changes_it(snapshot: Snapshot, sql: str) -> None:
    with pytest.raises(duck.Error):
        snapshot._database.execute(sql)
