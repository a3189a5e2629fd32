"""The warehouse: one writer, whole sweeps, one market, and a digest of its content."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from raw_market import RawMarket, endpoint

from pipeline.market import MarketBatch
from pipeline.settings import Settings
from pipeline.warehouse import (
    RAW_TABLES,
    WarehouseBusyError,
    WarehouseError,
    lock_holder,
    open_warehouse,
)

MODEL = "acme/small-8b"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path, warehouse_lock_timeout_s=0.2)


def batch(market: RawMarket, sweep_id: str) -> MarketBatch:
    """Take a sweep out of a hand-made market, as contracts would hand it over."""
    frames = {
        table: market.frame(f"select * from raw.{table} where sweep_id = '{sweep_id}'")
        for table in RAW_TABLES
    }
    return MarketBatch(sweep=frames.pop("sweeps"), **frames)


@pytest.fixture
def sweeps() -> list[MarketBatch]:
    market = RawMarket()
    ids = [
        market.sweep(f"2026-11-0{day}T06:17", {MODEL: [endpoint(), endpoint("Other", "other")]})
        for day in (1, 2)
    ]
    return [batch(market, sweep_id) for sweep_id in ids]


def test_loading_a_sweep_twice_changes_nothing(
    settings: Settings, sweeps: list[MarketBatch]
) -> None:
    with open_warehouse(settings) as warehouse:
        assert warehouse.load(sweeps[0])
        once = warehouse.checksum()
        assert not warehouse.load(sweeps[0])
        assert warehouse.checksum() == once
        assert warehouse.database.value("select count(*) from raw.endpoints") == 2


def test_the_checksum_depends_on_content_not_on_the_order_of_loading(
    tmp_path: Path, sweeps: list[MarketBatch]
) -> None:
    checksums = []
    for folder, order in (("a", sweeps), ("b", sweeps[::-1]), ("c", sweeps[:1])):
        with open_warehouse(Settings(data_dir=tmp_path / folder)) as warehouse:
            for each in order:
                warehouse.load(each)
            checksums.append(warehouse.checksum())
    assert checksums[0] == checksums[1] != checksums[2]


def test_a_sweep_that_cannot_be_loaded_whole_is_not_loaded_at_all(
    settings: Settings, sweeps: list[MarketBatch]
) -> None:
    broken = MarketBatch(**{**sweeps[0].__dict__, "flags": pl.DataFrame({"no_such_column": ["x"]})})
    with open_warehouse(settings) as warehouse:
        with pytest.raises(Exception, match="no_such_column"):
            warehouse.load(broken)
        assert warehouse.loaded_sweep_ids() == set()
        assert warehouse.database.value("select count(*) from raw.endpoints") == 0
        assert warehouse.load(sweeps[0])


def test_a_sweep_of_another_market_is_refused(
    settings: Settings, sweeps: list[MarketBatch]
) -> None:
    demo = MarketBatch(
        **{**sweeps[1].__dict__, "sweep": sweeps[1].sweep.with_columns(market=pl.lit("demo"))}
    )
    with open_warehouse(settings) as warehouse:
        warehouse.load(sweeps[0])
        with pytest.raises(WarehouseError, match=r"of the demo market.*holds the live market"):
            warehouse.load(demo)


def test_a_second_writer_waits_and_is_told_who_holds_the_warehouse(settings: Settings) -> None:
    with open_warehouse(settings):
        assert "process" in (lock_holder(settings.warehouse_path) or "")
        with (
            pytest.raises(WarehouseBusyError, match=r"held by process \d+; waited 0\.2 s"),
            open_warehouse(settings),
        ):
            pass
    assert lock_holder(settings.warehouse_path) is None


def test_a_killed_writer_leaves_no_lock_behind(settings: Settings) -> None:
    script = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from pipeline.settings import Settings\n"
        "from pipeline.warehouse import open_warehouse\n"
        "with open_warehouse(Settings(data_dir=Path(sys.argv[1]))) as warehouse:\n"
        "    warehouse.database.execute('create table raw.torn (x integer)')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    killed = subprocess.run(
        [sys.executable, "-c", script, str(settings.data_dir)], check=False, timeout=60
    )
    assert killed.returncode == -9
    with open_warehouse(settings) as warehouse:
        assert warehouse.loaded_sweep_ids() == set()


def test_a_warehouse_of_a_newer_layout_is_refused(settings: Settings) -> None:
    with open_warehouse(settings) as warehouse:
        warehouse.database.execute("update meta.schema_version set version = 99")
    with (
        pytest.raises(WarehouseError, match="has layout 99, this tokentape knows up to 3"),
        open_warehouse(settings),
    ):
        pass


def test_a_damaged_file_is_named_with_the_remedy(settings: Settings) -> None:
    settings.warehouse_path.parent.mkdir(parents=True, exist_ok=True)
    settings.warehouse_path.write_bytes(b"not a database" * 1000)
    with (
        pytest.raises(WarehouseError, match=r"cannot open .*warehouse\.duckdb.*tokentape backfill"),
        open_warehouse(settings),
    ):
        pass
