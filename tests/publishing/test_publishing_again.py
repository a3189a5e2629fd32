"""Publishing again: what is the same is linked, what is old goes, and history stays unread."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hand_made_marts import AS_OF, add_sweep, make_marts

from pipeline.duck import Database
from pipeline.publishing import Snapshot, publish
from pipeline.publishing.history import months
from pipeline.publishing.marts import find_marts

SEPTEMBER, OCTOBER, NOVEMBER = (
    f"uptime_history/2026-{month}.parquet" for month in ("09", "10", "11")
)


@pytest.fixture
def warehouse() -> Iterator[Database]:
    database = Database.in_memory()
    make_marts(database)
    yield database
    database.close()


def published(database: Database, folder: Path, now: datetime = AS_OF, keep: int = 3) -> Snapshot:
    return publish(database, folder, market="live", now=now, keep=keep)


def is_linked(one: Snapshot, two: Snapshot, path: str) -> bool:
    return (one.path / path).samefile(two.path / path)


def manifest_of(snapshot: Snapshot) -> dict[str, Any]:
    return dict(json.loads((snapshot.path / "manifest.json").read_text()))


def snapshots_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if not path.is_symlink()}


def test_the_same_content_is_the_same_snapshot_and_no_second_folder(
    warehouse: Database, tmp_path: Path
) -> None:
    first = published(warehouse, tmp_path)
    again = published(warehouse, tmp_path, now=AS_OF + timedelta(hours=1))

    assert again.snapshot_id == first.snapshot_id
    assert (again.files_written, again.files_linked) == (0, first.files_written)
    assert snapshots_in(tmp_path) == {first.snapshot_id}
    assert manifest_of(first)["generated_at_utc"] == "2026-11-30T06:17:00Z"


def test_files_that_came_out_the_same_are_links_and_the_others_are_new(
    warehouse: Database, tmp_path: Path
) -> None:
    first = published(warehouse, tmp_path)
    warehouse.execute("update marts.data_health set status = 'warn'")
    second = published(warehouse, tmp_path)

    assert second.snapshot_id != first.snapshot_id
    assert is_linked(first, second, "provider_table.parquet")
    assert is_linked(first, second, "provider_table.csv.gz")
    assert is_linked(first, second, "models/acme/tiny:free.json")
    assert not is_linked(first, second, "data_health.parquet")
    assert second.files_written == 3  # data_health as Parquet and CSV, and the database file
    assert second.files_written + second.files_linked == first.files_written
    assert pl.read_parquet(first.path / "data_health.parquet")["status"][0] == "ok"


def test_a_month_without_new_sweeps_is_linked_without_a_look_at_its_rows(
    warehouse: Database, tmp_path: Path
) -> None:
    first = published(warehouse, tmp_path)
    # Were September read again, its file would come out empty.
    warehouse.execute("delete from marts.uptime_history where partition_date < '2026-10-01'")
    add_sweep(warehouse, date(2026, 12, 1))

    second = published(warehouse, tmp_path)

    assert is_linked(first, second, SEPTEMBER)
    assert is_linked(first, second, NOVEMBER)
    assert pl.read_parquet(second.path / SEPTEMBER).height == 2
    assert pl.read_parquet(second.path / "uptime_history" / "2026-12.parquet").height == 2
    entry = manifest_of(second)["files"][SEPTEMBER]
    assert entry == manifest_of(first)["files"][SEPTEMBER]


def test_a_sweep_that_comes_in_late_has_its_month_and_all_later_ones_written_again(
    warehouse: Database, tmp_path: Path
) -> None:
    first = published(warehouse, tmp_path)
    add_sweep(warehouse, date(2026, 10, 2))
    # Endpoints may be joined otherwise from there on, so November is read again as well.
    warehouse.execute(
        "update marts.uptime_history set endpoint_id = 'joined' where partition_date > '2026-11-01'"
    )

    second = published(warehouse, tmp_path)

    assert is_linked(first, second, SEPTEMBER)
    assert pl.read_parquet(second.path / OCTOBER).height == 4
    assert set(pl.read_parquet(second.path / NOVEMBER)["endpoint_id"]) == {"joined"}


def test_a_sweep_that_landed_otherwise_has_its_month_written_again(
    warehouse: Database, tmp_path: Path
) -> None:
    published(warehouse, tmp_path)
    warehouse.execute(
        "update marts.sweep_log set landing_sha256 = 'cd' where partition_date = '2026-11-29'"
    )
    warehouse.execute("delete from marts.uptime_history where partition_date = '2026-11-29'")

    second = published(warehouse, tmp_path)

    assert pl.read_parquet(second.path / NOVEMBER).height == 2


def test_other_code_or_other_columns_have_every_month_written_again(warehouse: Database) -> None:
    def fingerprints(code_version: str) -> list[str]:
        marts = find_marts(warehouse)
        found = months(warehouse, marts["sweep_log"], marts["uptime_history"], code_version)
        return [month.source_fingerprint for month in found]

    before = fingerprints("1.0+aa")
    other_code = fingerprints("1.0+bb")
    warehouse.execute("alter table marts.uptime_history add column region varchar")
    other_columns = fingerprints("1.0+aa")

    assert len({*before, *other_code, *other_columns}) == 9


def test_an_old_month_that_was_tampered_with_is_written_again(
    warehouse: Database, tmp_path: Path
) -> None:
    first = published(warehouse, tmp_path)
    (first.path / SEPTEMBER).chmod(0o644)
    (first.path / SEPTEMBER).write_bytes(b"cut")
    add_sweep(warehouse, date(2026, 12, 1))

    second = published(warehouse, tmp_path)

    assert pl.read_parquet(second.path / SEPTEMBER).height == 2
    assert (first.path / SEPTEMBER).read_bytes() == b"cut"


@pytest.mark.parametrize("damage", [b"{", b'{"format": 1}', b"\xff\xfe", None])
def test_a_damaged_snapshot_is_not_built_on_and_not_in_the_way(
    warehouse: Database, tmp_path: Path, damage: bytes | None
) -> None:
    first = published(warehouse, tmp_path)
    manifest = first.path / "manifest.json"
    manifest.unlink()
    if damage is not None:
        manifest.write_bytes(damage)
    add_sweep(warehouse, date(2026, 12, 1))

    second = published(warehouse, tmp_path)

    assert (second.files_linked, manifest_of(second)["snapshot_id"]) == (0, second.snapshot_id)


def test_files_of_a_snapshot_are_read_only(warehouse: Database, tmp_path: Path) -> None:
    snapshot = published(warehouse, tmp_path)

    modes = {path.stat().st_mode & 0o777 for path in snapshot.path.rglob("*") if path.is_file()}
    assert modes == {0o444}


def test_only_the_newest_snapshots_are_kept_and_nothing_else_is_touched(
    warehouse: Database, tmp_path: Path
) -> None:
    (tmp_path / "my notes").mkdir()
    ids = []
    for day in range(1, 5):
        add_sweep(warehouse, date(2026, 12, day))
        now = AS_OF + timedelta(days=day)
        ids.append(published(warehouse, tmp_path, now=now, keep=2).snapshot_id)

    assert snapshots_in(tmp_path) == {"my notes", *ids[2:]}


def test_the_current_snapshot_is_kept_whatever_its_age(warehouse: Database, tmp_path: Path) -> None:
    first = published(warehouse, tmp_path, keep=2)
    warehouse.execute("update marts.data_health set status = 'warn'")
    second = published(warehouse, tmp_path, now=AS_OF + timedelta(hours=1), keep=2)
    warehouse.execute("update marts.data_health set status = 'ok'")
    back = published(warehouse, tmp_path, now=AS_OF + timedelta(hours=2), keep=1)

    assert back.snapshot_id == first.snapshot_id
    assert (tmp_path / "current").resolve().name == first.snapshot_id
    assert snapshots_in(tmp_path) == {first.snapshot_id}
    assert second.snapshot_id != first.snapshot_id


def test_a_reader_keeps_what_it_has_open_when_the_snapshot_is_retired(
    warehouse: Database, tmp_path: Path
) -> None:
    first = published(warehouse, tmp_path, keep=1)
    reader = Database.in_memory()
    reader.attach(first.path / "tokentape.duckdb", "snapshot", read_only=True)
    with (first.path / "models.json").open() as handle:
        add_sweep(warehouse, date(2026, 12, 1))
        published(warehouse, tmp_path, now=AS_OF + timedelta(days=1), keep=1)

        assert not first.path.exists()
        assert handle.read().startswith('{"format":1')
        assert reader.value("select count(*) from snapshot.main.provider_table") == 3
    reader.close()
